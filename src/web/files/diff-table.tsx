/** A diff as a table: side by side, or unified where the width is too small. */
import { Fragment } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { formatCount } from '../parts/number.ts';
import type { Piece } from '../parts/syntax.ts';
import { type Comparison, compare, groupRows, MAX_ROWS, type Row, type Side, splitLines } from './diff-rows.ts';
import { highlightLines } from './highlight.ts';
import { Line } from './line.tsx';

/** Below the first width the diff is unified; below the second it has no line numbers. */
const SIDE_BY_SIDE_PX = 720;
const LINE_NUMBERS_PX = 480;

interface TableProps {
  before: string;
  after: string;
  name: string;
  heads: [string, string];
  /** What comparing them found, where it is known: it can take seconds. */
  compared?: Comparison | null;
}

export default function DiffTable({ before, after, name, heads, compared }: TableProps) {
  const found = useMemo(() => (compared === undefined ? compare(before, after) : compared), [before, after, compared]);
  const [left, right] = useMemo(
    () => [highlightLines(splitLines(before), name), highlightLines(splitLines(after), name)],
    [before, after, name],
  );
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const [width, setWidth] = useState(SIDE_BY_SIDE_PX);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => setWidth(entry?.contentRect.width ?? SIDE_BY_SIDE_PX));
    watch.observe(box.current!);
    return () => watch.disconnect();
  }, []);
  const narrow = width < SIDE_BY_SIDE_PX;
  const hideNumbers = width < LINE_NUMBERS_PX;
  const columns = hideNumbers ? 1 : narrow ? 3 : 4;
  return (
    <div ref={box} class="dwrap" data-diff>
      {!found && <p class="dnone">Too much of them differs to compare them line by line.</p>}
      {found && found.added + found.removed === 0 && <p class="dnone">No difference.</p>}
      {found && found.added + found.removed > 0 && (
        <table class={narrow ? 'diff unified' : 'diff'}>
          <caption class="vh">
            Changes from {heads[0]} to {heads[1]}
          </caption>
          <colgroup>
            {!hideNumbers && <col class="cn" />}
            {narrow && !hideNumbers && <col class="cn" />}
            {!narrow && <col />}
            {!narrow && <col class="cn" />}
            <col />
          </colgroup>
          <thead>
            <tr>
              {narrow ? (
                <th colSpan={columns}>
                  {heads[0]} → {heads[1]}
                </th>
              ) : (
                heads.map((head) => (
                  <th key={head} colSpan={2} scope="colgroup">
                    {head}
                  </th>
                ))
              )}
            </tr>
          </thead>
          <tbody>
            {groupRows(found.rows).map(({ folded, from, rows }) =>
              folded && !open.has(from) ? (
                <tr key={from}>
                  <td class="fold" colSpan={columns}>
                    <button
                      type="button"
                      disabled={rows.length > MAX_ROWS}
                      onClick={() => setOpen(new Set(open).add(from))}
                    >
                      {formatCount(rows.length, 'line')} did not change
                    </button>
                  </td>
                </tr>
              ) : narrow ? (
                <Unified key={from} rows={rows} left={left} right={right} bare={hideNumbers} />
              ) : (
                rows.map((row) => (
                  <SideBySide key={`${row.before?.line}-${row.after?.line}`} row={row} left={left} right={right} />
                ))
              ),
            )}
          </tbody>
        </table>
      )}
    </div>
  );
}

/** One side of a row. Screen readers get "added" or "removed" first. */
function Cell({ side, lines, change }: { side: Side | null; lines: Piece[][]; change: 'added' | 'removed' | null }) {
  if (!side) return <td class="dl pad" />;
  return (
    <td class={change ? `dl ${change === 'added' ? 'add' : 'del'}` : 'dl'}>
      {change && <span class="vh">{change} </span>}
      <span class="sg" aria-hidden="true">
        {change === 'added' ? '+' : change ? '−' : ''}
      </span>
      <Line pieces={lines[side.line - 1] ?? []} words={side.words} />
    </td>
  );
}

const SideBySide = ({ row, left, right }: { row: Row; left: Piece[][]; right: Piece[][] }) => (
  <tr class={row.changed ? 'changed' : undefined}>
    <td class="no">{row.before?.line}</td>
    <Cell side={row.before} lines={left} change={row.changed ? 'removed' : null} />
    <td class="no">{row.after?.line}</td>
    <Cell side={row.after} lines={right} change={row.changed ? 'added' : null} />
  </tr>
);

/** In each run of changed rows, removed lines come before added ones. */
function Unified(props: { rows: Row[]; left: Piece[][]; right: Piece[][]; bare: boolean }) {
  const { rows, left, right, bare } = props;
  const runs: Row[][] = [];
  for (const row of rows) {
    const last = runs.at(-1);
    if (last?.[0]?.changed === row.changed) last.push(row);
    else runs.push([row]);
  }
  return (
    <>
      {runs.map((run, index) => (
        <Fragment key={index}>
          {(run[0]?.changed ? run.filter(({ before }) => before) : []).map(({ before }) => (
            <tr class="changed" key={`-${before?.line}`}>
              {!bare && <td class="no">{before?.line}</td>}
              {!bare && <td class="no" />}
              <Cell side={before} lines={left} change="removed" />
            </tr>
          ))}
          {run
            .filter(({ after }) => after)
            .map(({ before, after, changed }) => (
              <tr class={changed ? 'changed' : undefined} key={`+${after?.line}`}>
                {!bare && <td class="no">{changed ? '' : before?.line}</td>}
                {!bare && <td class="no">{after?.line}</td>}
                <Cell side={after} lines={right} change={changed ? 'added' : null} />
              </tr>
            ))}
        </Fragment>
      ))}
    </>
  );
}
