/** A text's words without its marks, for a line: light, because pages without any rendered text need it too. */

/** The first words of a Markdown text in one line. */
export const plainText = (text: string): string =>
  text
    .slice(0, 1_000)
    .replaceAll(/^ {0,3}(```|~~~)[^\n]*$/gm, ' ')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/^\s{0,3}(#{1,6}\s+|>\s?|[-*+]\s+|\d+[.)]\s+)/gm, '')
    .replaceAll(/\*\*|__|~~|`+/g, '')
    .replaceAll(/(^|[\s(])[*_](?=\S)/g, '$1')
    .replaceAll(/(\S)[*_](?=[\s.,;:!?)]|$)/g, '$1')
    .replaceAll(/\\([\\`*_{}[\]()#+.!~>-])/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim();
