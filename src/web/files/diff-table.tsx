/** A comparison as a table: side by side where there is room, else one under the other. */
import { Fragment } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { formatCount } from '../parts/number.ts';
import type { Piece } from '../parts/syntax.ts';
import { compare, linesOf, type Row, type Side, stretches } from './diff-rows.ts';
import { colouredLines } from './highlight.ts';
import { Line } from './line.tsx';

/** Narrower than this, the versions stand one under the other; and narrower than that, without numbers of lines. */
const ROOM = 720;
const NUMBERS = 480;

interface TableProps {
  before: string;
  after: string;
  name: string;
  heads: [string, string];
}

export default function DiffTable({ before, after, name, heads }: TableProps) {
  const found = useMemo(() => compare(before, after), [before, after]);
  const [left, right] = useMemo(
    () => [colouredLines(linesOf(before), name), colouredLines(linesOf(after), name)],
    [before, after, name],
  );
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const [width, setWidth] = useState(ROOM);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => setWidth(entry?.contentRect.width ?? ROOM));
    watch.observe(box.current!);
    return () => watch.disconnect();
  }, []);
  const narrow = width < ROOM;
  const bare = width < NUMBERS;
  const columns = bare ? 1 : narrow ? 3 : 4;
  return (
    <div ref={box} class="dwrap" data-diff>
      {!found && <p class="dnone">They have too little in common to be compared line by line.</p>}
      {found && found.added + found.removed === 0 && <p class="dnone">No difference.</p>}
      {found && found.added + found.removed > 0 && (
        <table class={narrow ? 'diff unified' : 'diff'}>
          <caption class="vh">
            Changes from {heads[0]} to {heads[1]}
          </caption>
          <colgroup>
            {!bare && <col class="cn" />}
            {narrow && !bare && <col class="cn" />}
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
            {stretches(found.rows).map(({ folded, from, rows }) =>
              folded && !open.has(from) ? (
                <tr key={from}>
                  <td class="fold" colSpan={columns}>
                    <button type="button" onClick={() => setOpen(new Set(open).add(from))}>
                      {formatCount(rows.length, 'line')} did not change
                    </button>
                  </td>
                </tr>
              ) : narrow ? (
                <Unified key={from} rows={rows} left={left} right={right} bare={bare} />
              ) : (
                rows.map((row) => (
                  <Beside key={`${row.before?.line}-${row.after?.line}`} row={row} left={left} right={right} />
                ))
              ),
            )}
          </tbody>
        </table>
      )}
    </div>
  );
}

/** One side of a row. What it is comes first for readers of the screen. */
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

const Beside = ({ row, left, right }: { row: Row; left: Piece[][]; right: Piece[][] }) => (
  <tr class={row.changed ? 'changed' : undefined}>
    <td class="no">{row.before?.line}</td>
    <Cell side={row.before} lines={left} change={row.changed ? 'removed' : null} />
    <td class="no">{row.after?.line}</td>
    <Cell side={row.after} lines={right} change={row.changed ? 'added' : null} />
  </tr>
);

/** What went stands before what came in each run of changed rows. */
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
