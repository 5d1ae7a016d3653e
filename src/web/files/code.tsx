/** Code with line numbers and syntax colours. */
import { useMemo } from 'preact/hooks';
import type { Piece } from '../parts/syntax.ts';
import { MAX_ROWS, splitLines } from './diff-rows.ts';
import { highlightLines } from './highlight.ts';
import { Line } from './line.tsx';

/** The lines of a text as coloured pieces; null: there are too many. */
function linesOf(text: string, name: string): Piece[][] | null {
  const lines = splitLines(text);
  return lines.length > MAX_ROWS ? null : highlightLines(lines, name);
}

/** @param first the number of the first line */
export default function Code({ text, name, first = 1 }: { text: string; name: string; first?: number }) {
  const lines = useMemo(() => linesOf(text, name), [text, name]);
  return (
    <div class="dwrap">
      <table class="diff code-lines" aria-label={name || undefined}>
        <colgroup>
          <col class="cn" />
          <col />
        </colgroup>
        <tbody>
          {(lines ?? [[{ text, colour: undefined }]]).map((pieces, index) => (
            <tr key={index}>
              <td class="no">{lines && index + first}</td>
              <td class="dl">
                <Line pieces={pieces} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
