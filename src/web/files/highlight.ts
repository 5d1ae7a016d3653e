/** Syntax highlighting for whole files, line by line. */
import { highlight, type Piece } from '../parts/syntax.ts';

/** Longer texts stay uncoloured. In characters. */
const MAX_LENGTH = 200_000;

/** Splits lines into coloured pieces. The file extension selects the language; unknown ones stay uncoloured. */
export function highlightLines(lines: string[], name: string): Piece[][] {
  const text = lines.join('\n');
  const pieces = text.length > MAX_LENGTH ? null : highlight(text, name.split('.').at(-1)?.toLowerCase() ?? '');
  if (!pieces) return lines.map((line) => [{ text: line, colour: undefined }]);
  const found: Piece[][] = [[]];
  for (const { text: part, colour } of pieces)
    part.split('\n').forEach((line, index) => {
      if (index > 0) found.push([]);
      if (line !== '') found.at(-1)!.push({ text: line, colour });
    });
  return found;
}
