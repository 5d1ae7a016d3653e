/** Code with line numbers and syntax colours. */
import { useMemo } from 'preact/hooks';
import { splitLines } from './diff-rows.ts';
import { highlightLines } from './highlight.ts';
import { Line } from './line.tsx';

export default function Code({ text, name }: { text: string; name: string }) {
  const lines = useMemo(() => highlightLines(splitLines(text), name), [text, name]);
  return (
    <div class="dwrap">
      <table class="diff code-lines" aria-label={name}>
        <colgroup>
          <col class="cn" />
          <col />
        </colgroup>
        <tbody>
          {lines.map((pieces, index) => (
            <tr key={index}>
              <td class="no">{index + 1}</td>
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
