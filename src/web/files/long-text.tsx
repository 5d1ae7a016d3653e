/** A text that is too long to be shown at once, such as a log: part by part, without syntax colours. */
import { useMemo, useState } from 'preact/hooks';
import { decodeText, readBytes } from '../api/bytes.ts';
import { lazy } from '../parts/lazy.ts';
import { formatNumber } from '../parts/number.ts';
import { ProblemLine } from '../parts/problem.tsx';
import { useLoad } from '../state/load.ts';

const Code = lazy(() => import('./code.tsx'));

const LINES = 1_000;
/** Of a part, so that a file of one line does not stall the page. */
const CHARACTERS = 200_000;

interface Part {
  text: string;
  /** The number of its first line. */
  first: number;
}

/** Cuts a text into parts. A line that is longer than a part goes on in the next one. */
function partsOf(text: string): Part[] {
  const parts: Part[] = [];
  let first = 1;
  for (let start = 0; start < text.length; ) {
    let end = start;
    let lines = 0;
    while (lines < LINES && end < text.length) {
      const next = text.indexOf('\n', end) + 1 || text.length;
      if (next - start > CHARACTERS) {
        if (end === start) {
          end = start + CHARACTERS;
          // No character that takes two units is cut.
          if (text.codePointAt(end - 1)! > 0xffff) end--;
        }
        break;
      }
      end = next;
      lines++;
    }
    parts.push({ text: text.slice(start, end), first });
    first += lines;
    start = end;
  }
  return parts;
}

export default function LongText(props: { board: string; file: string; version: number }) {
  const { board, file, version } = props;
  const { value, error, reload } = useLoad(
    async () => decodeText(await readBytes({ board, file, version })),
    [board, file, version],
  );
  const parts = useMemo(() => (value === null ? [] : partsOf(value)), [value]);
  const [at, setAt] = useState(0);
  if (error !== null) return <ProblemLine error={error} onRetry={reload} />;
  const part = parts[at];
  if (!part) return <div aria-busy="true" />;
  const go = (label: string, to: number) => (
    <button type="button" class="b" disabled={to < 0 || to >= parts.length || to === at} onClick={() => setAt(to)}>
      {label}
    </button>
  );
  return (
    <>
      <div class="row w">
        {go('First part', 0)}
        {go('Earlier', at - 1)}
        {go('Later', at + 1)}
        {go('Last part', parts.length - 1)}
        <span class="q2" role="status">
          Part {formatNumber(at + 1)} of {formatNumber(parts.length)}, from line {formatNumber(part.first)}
        </span>
      </div>
      <Code text={part.text} name="" first={part.first} />
    </>
  );
}
