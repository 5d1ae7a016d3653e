/** Markdown to plain text without a parser, so that screens that render no Markdown stay small. */

/** The first 1,000 characters of a Markdown text without its markup, in one line. */
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
