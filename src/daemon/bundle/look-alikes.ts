/** Maps characters that look alike to the same character (the "skeleton" of UTS #39). */

/**
 * Code points that look like a lowercase Latin letter or one of our punctuation characters, from Unicode's confusables
 * (UTS #39) and the small capitals. Compatibility forms are not listed; `otherForms` covers them.
 */
const codePoints: Record<string, string> = {
  '-': '5f 2d7 6d4 7fa 2010 2012 2013 2014 2043 2212 2238 2796 2a29 2a2a 2cbb 2e1a',
  '/': '1735 2041 2044 2215 2571 27cb 29f6 29f8 2cc7 3033 30ce 31d3 4e3f 1d23a',
  ':': '2d0 2f8 589 5c3 703 704 16ec 1803 1809 205a 2236 a4fd a789',
  '<': 'ab 2c2 1438 16b2 2039 226a 226e 227a 22d6 276c 276e 2329 27e8 27ea 3008 300a fe64 ff1c 1d236',
  a: '251 3b1 430 15c5 1d00 2376 237a a4ee ab7a 102a0 16f40',
  b: '180 183 185 253 299 3b2 431 432 44c 463 48d 13fc 15af 15f7 a4d0 a7b5 ab9f 10282 102a1 10301',
  c: 'a2 23c 3c2 441 4ab 1d04 20a1 2ca5 a4da abaf 102a2 10302 1043d 1051c 118e9 118f2 1f74c',
  d: 'f0 111 18c 256 257 501 146f 15de 15ea 1d05 20ab a4d2 a4d3 ab70 abb7',
  e: '33 247 3b5 435 4bd 4bf 1d07 212e 22ff 2d39 a4f0 ab32 ab7c 10286 118c6 118ce',
  f: '192 3dd 584 15b4 1d6e 1e9d a4dd a730 a799 ab35 10287 102a5 10525 118c2 1d213',
  g: '18d 1e5 260 261 262 50d 581 13fb 1d83 a4d6 ab90',
  h: '127 266 29c 43d 45b 4a3 4bb 4c8 4ca 570 13fa 157c 2c68 2c8f a4e7 a695 ab8b ab92 102cf',
  i: `21 31 6c 7c 131 142 19a 1c0 268 269 26a 26b 26d 29f 3b9 456 4cf 5c0 5d5 5df 627 661 673 6f1 7ca 14aa 16c1
    1d7b 1d7c 2223 2373 2378 23fd 2502 2c93 2cd1 2d4f a4e1 a4f2 a647 ab75 abae 1028a 10309 10320 10443 10526
    118c3 118d2 16f16 16f28 1d22a 1e8c7`,
  j: '249 29d 3f3 458 148d 1d0a a4d9 ab7b',
  k: '199 3ba 43a 49b 49f 16d5 1d0b 20ad 2c6a 2c95 a4d7 a741 abb6 10518',
  m: '3bc 3fb 43c 4ce 15f0 16d6 1d0d 2c99 a4df ab87 102b0 10311',
  n: '19e 272 273 274 3b7 578 57c 1d70 2c9b a4e0 1018e 10513',
  o: `30 f8 275 3b8 3bf 3c3 43e 473 4e9 585 5e1 647 665 6be 6c1 6d5 6f5 6ff 7c0 966 9e6 a66 ae6 b20 b66 be6 c66
    ce6 d20 d66 e50 ed0 1010 101d 1040 10ff 12d0 1d0f 1d11 2296 229d 236c 2c9f 2d31 2d41 2d54 3007 a4f3 a74b
    ab3d ab3e ab74 ab8e abbb 10292 102ab 1042c 104ea 10516 114d0 118c8 118d5 118d7 118e0 1d21a 1f714`,
  p: '1a5 3c1 440 146d 1d18 1d7d 2374 2ca3 a4d1 abb2 10295',
  q: '2a0 51b 563 566 2d55 a7af',
  r: '24d 27c 27d 280 433 493 1587 1d26 1d72 2c85 a4e3 ab47 ab48 ab71 ab81 aba2 104dc 16f35 1d216',
  s: '24 35 1bd 282 455 57f 1d74 a4e2 a731 aba5 abaa 10296 10448 118c1 16f3a',
  t: '167 1ad 288 3c4 442 4ad 1d1b 1d75 20ae 22a4 2361 27d9 2c66 2ca7 a4d4 ab72 10297 102b1 10315 16f0a 1f768',
  u: '289 28b 3c5 57d 1200 144c 1d1c 1d7e 222a 22c3 a4f4 a79f ab4e ab52 ab9c 104f6 118d8 16f42',
  v: '3bd 475 5d8 667 6f7 142f 1d20 2228 22c1 2d38 a4e6 a6df aba9 10197 1051d 11706 118c0 16f08 1d20d 1f708',
  w: '26f 461 47d 51d 561 1d21 20a9 a4ea a761 ab83 aba4 114c5 1170a 1170e 1170f 118e6 118ef',
  x: `d7 3c7 445 4b3 1541 157d 166d 166e 16b7 2573 292b 292c 2a2f 2a30 2cad 2d5d a4eb ab53 10196 10290 102b4
    10317 10322 10527 118ec`,
  y: 'a5 1b4 24f 263 28f 3b3 443 4af 4b1 10e7 1d8c 1eff 2ca9 a4ec ab5a ab79 ab8d 102b2 118c4 118dc 16f43',
  z: '1b6 225 290 3b6 1d22 1d76 a4dc ab93 102f5 118c9 118e5',
};

/** Ranges with other forms of Latin letters and punctuation: accented, wide, small, superscript, circled, styled. */
const otherForms = [
  ...['aa-233', '2b0-2e3', '1d2c-1dbb', '1e00-1ef9', '2071-217f', '249c-24e9', '2c7c-2c7d', 'fb00-fb06'],
  ...['fe13-fe64', 'ff0d-ff5a', '1ccd6-1ccef', '1d400-1d6a3', '1f110-1f190'],
];

const characterOf = (hex: string): string => String.fromCodePoint(Number.parseInt(hex, 16));

/** The skeletons of characters that differ from them; computed once, because normalizing is slow. */
const skeletons = new Map<string, string>();
for (const [sign, points] of Object.entries(codePoints))
  for (const hex of points.split(/\s+/)) add(characterOf(hex), sign);
for (let n = 0; n < 26; n++) {
  const letter = String.fromCharCode(0x61 + n);
  // Circled, squared and regional indicator letters are in alphabetical order.
  for (const first of [0x1f150, 0x1f170, 0x1f1e6]) add(String.fromCodePoint(first + n), letter);
  add(letter, letter);
}
let hasOtherForms = false;

/** Most texts are read without them: it takes longer than the rest. */
function addOtherForms(): void {
  hasOtherForms = true;
  for (const range of otherForms) {
    const [first = 0, last = 0] = range.split('-').map((hex) => Number.parseInt(hex, 16));
    for (let point = first; point <= last; point++) {
      const form = String.fromCodePoint(point);
      const plain = form
        .normalize('NFKD')
        .replaceAll(/[\p{M}()]/gu, '')
        .toLowerCase();
      if (plain !== form && /^[!-~]+$/.test(plain)) add(form, skeleton(plain));
    }
  }
}

function add(character: string, sign: string): void {
  for (const each of [character, character.toUpperCase()]) if (!skeletons.has(each)) skeletons.set(each, sign);
}

const brackets = new Set(
  ['<', ...(codePoints['<'] ?? '').split(' ').map(characterOf)].map((each) => each.codePointAt(0)),
);

/** Whether a code point looks like `<`. */
export const isBracket = (point: number): boolean => brackets.has(point);

/** The text with each character replaced by the one that it looks like. */
export function skeleton(text: string): string {
  let read = '';
  for (const character of text) {
    if (character > '\x7f' && !hasOtherForms) addOtherForms();
    read += skeletons.get(character) ?? character;
  }
  return read;
}
