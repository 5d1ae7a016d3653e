/** Code as lines of coloured pieces. Loaded only where a file is shown. */
import { highlight, type Piece } from '../parts/syntax.ts';

/** Longer texts stay without colours. */
const MOST = 200_000;

/** Lines of a file in pieces; without colours when the ending of its name says no language. */
export function colouredLines(lines: string[], name: string): Piece[][] {
  const text = lines.join('\n');
  const pieces = text.length > MOST ? null : highlight(text, name.split('.').at(-1)?.toLowerCase() ?? '');
  if (!pieces) return lines.map((line) => [{ text: line, colour: undefined }]);
  const found: Piece[][] = [[]];
  for (const { text: part, colour } of pieces)
    part.split('\n').forEach((line, index) => {
      if (index > 0) found.push([]);
      if (line !== '') found.at(-1)!.push({ text: line, colour });
    });
  return found;
}
