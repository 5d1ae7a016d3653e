/** Rules for titles and names: one line without invisible characters, and no name that looks like another. */

/** A regular expression character class for these scripts. */
const scripts = (names: string): string => names.replaceAll(/ ?(\w+)/g, '\\p{scx=$1}');

/** All characters that can be rendered as nothing, including bidirectional controls, tags and annotation marks. */
const invisible = /[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

let needed: RegExp | null = null;

/** Made at the first use, which takes 10 ms. */
function makeNeeded(): RegExp {
  /** A letter or mark of a script that is written with joiners. */
  const cursive = `[[\\p{L}\\p{M}]&&[${scripts('Arab Syrc Nkoo Adlm Rohg Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh')}]]`;
  const places = [
    `(?<=${cursive})[\\u200c\\u200d](?=${cursive})`,
    '(?<=\\p{Extended_Pictographic}[\\p{Emoji_Modifier}\\ufe0f]?)\\u200d(?=\\p{Extended_Pictographic})',
    '(?<=[\\p{Emoji}--[0-9#*]])[\\ufe0e\\ufe0f]',
    '(?<=[0-9#*])\\ufe0f(?=\\u20e3)',
  ];
  return new RegExp(places.join('|'), 'vy');
}

/**
 * Whether the text needs the invisible character at a position: a joiner between letters of a script that has them or
 * within an emoji, or a variation selector of an emoji.
 */
export function needsInvisible(text: string, at: number): boolean {
  if (!/[\p{Join_Control}\p{Variation_Selector}]/u.test(text.charAt(at))) return false;
  needed ??= makeNeeded();
  needed.lastIndex = at;
  return needed.test(text);
}

/** A text without the invisible characters that it does not need. */
export const withoutInvisible = (text: string): string =>
  text.replaceAll(invisible, (character, at: number) => (needsInvisible(text, at) ? character : ''));

/** Why a text is not a valid title, as a phrase that follows the field's name; null if it is valid. */
export function titleProblem(text: string): string | null {
  if (/[\p{Cc}\u2028\u2029]/u.test(text)) return 'must be one line without control characters';
  return withoutInvisible(text) === text ? null : 'must have no invisible characters; type it instead of pasting it';
}

const recommended =
  'Arab Armn Beng Deva Ethi Geor Gujr Guru Hebr Khmr Knda Laoo Mlym Mymr Orya Sinh Taml Telu Thaa Thai Tibt';

/** The scripts that may stand together in a word: "moderately restrictive" of Unicode's UTS #39. */
const mixtures = [
  ...['Latn Hani Hira Kana', 'Latn Hani Bopo', 'Latn Hani Hang', 'Cyrl', 'Grek'],
  ...recommended.split(' ').map((script) => `Latn ${script}`),
];

let letters: { known: RegExp; foreign: RegExp[] } | null = null;

/**
 * The letters of all these scripts, and for each mixture those of all other scripts; letters of scripts not listed here
 * combine with none of them. Making it takes 8 ms.
 */
function mixing() {
  letters ??= {
    known: new RegExp(`[[\\p{L}\\p{Nl}]&&[${scripts(mixtures.join(' '))}]]`, 'v'),
    foreign: mixtures.map((names) => new RegExp(`[[\\p{L}\\p{Nl}]--[${scripts(names)}\\p{scx=Zyyy}]]`, 'v')),
  };
  return letters;
}

/** Why a text is not a valid name: in addition to titles, it must not contain blank symbols such as the empty Braille pattern. */
export function nameProblem(text: string): string | null {
  const words = text.split(/[^\p{L}\p{M}\p{N}'’._-]+/u);
  const { known, foreign } = mixing();
  const mixed = words.some((word) => known.test(word) && foreign.every((others) => others.test(word)));
  return (
    titleProblem(text.replaceAll(/[\u2800\u{1d159}]/gu, '\u200b')) ??
    (mixed ? 'must not mix alphabets within a word' : null)
  );
}
