/** The cumulative flow plot: tasks open, in progress, blocked and done over the last 30 days. */
import { useEffect, useState } from 'preact/hooks';
import { now } from '../state/clock.ts';
import type { Room } from '../state/room.ts';
import { type BlockedPeriod, countTasks, DAYS, endsOfDays, loadBlockedPeriods, type TaskCounts } from './flow.ts';
import type { TaskBoard } from './task-board.ts';
import type { TaskLog } from './task-log.ts';

const WIDTH = 600;
const HEIGHT = 96;
/** From the bottom up, with the colour of each. */
const bands = [
  { name: 'done', words: 'done', tone: 'f1' },
  { name: 'blocked', words: 'blocked', tone: 'f2' },
  { name: 'in_progress', words: 'in progress', tone: 'f3' },
  { name: 'open', words: 'open', tone: 'f4' },
] as const;

const dayName = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long' });

/** The polygon of each band: the upper edge from left to right, then the lower edge back. */
function outlines(moments: TaskCounts[]): string[] {
  const most = Math.max(4, ...moments.map((moment) => bands.reduce((sum, { name }) => sum + moment[name], 0)));
  const x = (index: number): number => Math.round((index / (moments.length - 1)) * WIDTH);
  const y = (count: number): number => Math.round(HEIGHT - (count / most) * HEIGHT);
  let below = moments.map(() => 0);
  return bands.map(({ name }) => {
    const above = moments.map((moment, index) => below[index]! + moment[name]);
    const points = [
      ...above.map((count, index) => `${x(index)},${y(count)}`),
      ...below.map((count, index) => `${x(index)},${y(count)}`).toReversed(),
    ];
    below = above;
    return points.join(' ');
  });
}

export function FlowPlot({ room, board, log }: { room: Room; board: TaskBoard; log: TaskLog }) {
  const [blocks, setBlocks] = useState<BlockedPeriod[]>([]);
  const [asTable, setAsTable] = useState(false);
  const events = log.events.value;
  const days = endsOfDays(now.value);
  const first = days[0]!;
  useEffect(() => {
    // On an error the plot shows no blocked tasks before today.
    loadBlockedPeriods(room.name, first).then(setBlocks, () => {});
  }, [room.name]);
  if (!events) return null;
  const moments = countTasks(events, blocks, days, board.tasks.value?.values() ?? []);
  const last = moments.at(-1)!;
  const sentence = `Tasks by state over ${DAYS} days: ${last.done} done in that time; today ${last.blocked} blocked, ${last.in_progress} in progress, ${last.open} open`;
  return (
    <figure class="flow">
      <figcaption class="row w">
        <h3>Last {DAYS} days</h3>
        <span class="q2 lg">
          {bands.toReversed().map(({ tone, words }) => (
            <span key={tone}>
              <i class={tone} />
              {words}
            </span>
          ))}
        </span>
        <span class="sp" />
        <button type="button" class="b bare" aria-expanded={asTable} onClick={() => setAsTable(!asTable)}>
          {asTable ? 'Hide the table' : 'As a table'}
        </button>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={sentence}>
        {outlines(moments).map((points, index) => (
          <polygon key={bands[index]!.name} class={bands[index]!.tone} points={points} />
        ))}
      </svg>
      <div class="row q sm">
        <span>{dayName.format(first)}</span>
        <span class="sp" />
        <span>today</span>
      </div>
      {asTable && <FlowTable moments={moments} />}
    </figure>
  );
}

const FlowTable = ({ moments }: { moments: TaskCounts[] }) => (
  <table class="flow-table">
    <caption class="vh">Tasks by day</caption>
    <thead>
      <tr>
        <th scope="col">Day</th>
        {bands.toReversed().map(({ words }) => (
          <th scope="col" key={words}>
            {words}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {moments.toReversed().map((moment, index) => (
        <tr key={moment.at}>
          <th scope="row">{index === 0 ? 'today' : dayName.format(moment.at - 1)}</th>
          {bands.toReversed().map(({ name }) => (
            <td key={name}>{moment[name]}</td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
);
