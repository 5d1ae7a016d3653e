/** What titles and names may be: one line in which everything is seen, and no name that could be read as another. */

/** What stands within a class of characters for those of these scripts. */
const scripts = (names: string): string => names.replaceAll(/ ?(\w+)/g, '\\p{scx=$1}');

/** A letter or mark of a script that is written with joiners. */
const cursive = `[[\\p{L}\\p{M}]&&[${scripts('Arab Syrc Nkoo Adlm Rohg Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh')}]]`;

/** What is not seen and has a use: joiners between such letters and within an emoji, and how an emoji is shown. */
const useful = [
  `(?<=${cursive})[\\u200c\\u200d](?=${cursive})`,
  '(?<=\\p{Extended_Pictographic}[\\p{Emoji_Modifier}\\ufe0f]?)\\u200d(?=\\p{Extended_Pictographic})',
  '(?<=[\\p{Emoji}--[0-9#*]])[\\ufe0e\\ufe0f]',
  '(?<=[0-9#*])\\ufe0f(?=\\u20e3)',
].join('|');

/** All that Unicode lets a program show as nothing, bidirectional controls and tags among it, and marks of annotations. */
const invisible = new RegExp(`[\\p{Default_Ignorable_Code_Point}\\ufff9-\\ufffb](?<!${useful})`, 'gv');

/** A text without its invisible characters. */
export const withoutInvisible = (text: string): string => text.replaceAll(invisible, '');

/** Why a text can be no title, in words that follow the name of its field. */
export function titleProblem(text: string): string | null {
  if (/[\p{Cc}\u2028\u2029]/u.test(text)) return 'must be one line without control characters';
  return text.search(invisible) < 0 ? null : 'must have no invisible characters; type it instead of pasting it';
}

const recommended =
  'Arab Armn Beng Deva Ethi Geor Gujr Guru Hebr Khmr Knda Laoo Mlym Mymr Orya Sinh Taml Telu Thaa Thai Tibt';

/** The scripts that may stand together in a word: "moderately restrictive" of Unicode's UTS #39. */
const mixtures = [
  ...['Latn Hani Hira Kana', 'Latn Hani Bopo', 'Latn Hani Hang', 'Cyrl', 'Grek'],
  ...recommended.split(' ').map((script) => `Latn ${script}`),
];

/** For each of them the letters of all other scripts, and those of no script here, which are written with none of these. */
const foreign = mixtures.map((names) => new RegExp(`[[\\p{L}\\p{Nl}]--[${scripts(names)}\\p{scx=Zyyy}]]`, 'v'));
const known = new RegExp(`[[\\p{L}\\p{Nl}]&&[${scripts(mixtures.join(' '))}]]`, 'v');

/** Why a text can be nobody's name: besides, it has no signs that are blank, such as the empty one of Braille. */
export function nameProblem(text: string): string | null {
  const words = text.split(/[^\p{L}\p{M}\p{N}'’._-]+/u);
  const mixed = words.some((word) => known.test(word) && foreign.every((letters) => letters.test(word)));
  return (
    titleProblem(text.replaceAll(/[\u2800\u{1d159}]/gu, '\u200b')) ??
    (mixed ? 'must not mix alphabets within a word' : null)
  );
}
