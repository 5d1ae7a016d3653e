/** Markdown to plain text without a parser, so that screens that render no Markdown stay small. */

/** Stands around the number of a piece of code until the markup around it is gone. No message contains it. */
const CODE = '\0';

/** Pairs of stars around an option, a hidden file or a path, which have a space, quote or bracket before them. */
const BOLD_NAME =
  /(?<![^\s(["'“‘])\*\*([-.][^*]*[^-\s/,(\\*]|\/[^\s*]*[^-\s/,(\\*]|[^\s,;:!?/*][^\s*]*\/)\*\*(?=\p{P}{0,3}(?:\s|$))/gu;

/** Pairs of double signs, unless what is beside them is as in a glob, a cron line or a name such as `__init__.py`. */
const BOLD =
  /(?<![^\W_]|\\)\*\*(?![-\s.,;:!?/])(.{1,300}?)(?<![-\s/,(\\])\*\*(?![^\W_])|(?<![\w\\])__(?![-\s.,;:!?/])((?:(?!__).){1,300}?)(?<![\s\\])__(?=\p{P}{0,3}(?:\s|$))|~~(?=\S)(.{1,300}?)(?<=\S)~~/gsu;
/** Pairs of single signs, with the same exceptions. */
const EMPHASIS = /(?<![^\s(["'“‘])([*_])(?![-\s.,;:!?/*_])(.{1,300}?)(?<![-\s/,(\\])\1(?=\p{P}{0,3}(?:\s|$))/gsu;

/** The beginning of a Markdown text as plain text; `…` says that it goes on. */
export function excerpt(text: string, length: number): string {
  const plain = plainText(text);
  return plain.length > length ? `${plain.slice(0, length)}…` : plain;
}

/** The first 1,000 characters of a Markdown text without its markup, in one line. */
export function plainText(text: string): string {
  const codes: string[] = [];
  const keep = (code: string): string => `${CODE}${codes.push(code) - 1}${CODE}`;
  return text
    .slice(0, 1_000)
    .replaceAll(
      /^ {0,3}(```|~~~)[^`\n]*$([\s\S]*?)(^ {0,3}\1[^\n]*$|(?![\s\S]))/gm,
      (_, _mark, code) => ` ${keep(code)} `,
    )
    .replaceAll(/(?<!`)(`+)(?!`)(.*?[^`])\1(?!`)/gs, (_, _mark, code) => keep(code))
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/^\s{0,3}(#{1,6}\s+|>\s?|[-*+]\s+|\d+[.)]\s+)/gm, '')
    .replaceAll(/`+/g, '')
    .replaceAll(BOLD_NAME, '$1')
    .replaceAll(BOLD, '$1$2$3')
    .replaceAll(EMPHASIS, '$2')
    .replaceAll(/\\([\\`*_{}[\]()#+.!~>-])/g, '$1')
    .split(CODE)
    .map((part, index) => (index % 2 === 0 ? part : (codes[Number(part)] ?? '')))
    .join('')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
