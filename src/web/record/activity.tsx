/** Events per day over the last 30 days, for everyone or one member, as a chart or table. */
import { useState } from 'preact/hooks';
import { formatCount, formatNumber } from '../parts/number.ts';
import { Select } from '../parts/select.tsx';
import { now } from '../state/clock.ts';
import { countByDay, type Day, membersByActivity } from './days.ts';
import type { Counts } from './protocol.ts';

const dayName = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long' });
const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long' });
const STEP = 28;
const BAR = 20;
const HEIGHT = 110;
/** With more members than this, a select replaces the buttons. */
const MAX_BUTTONS = 5;

const none: Counts = { days: {}, actors: {}, types: {}, files: {} };

/** @param counted null: not yet; its place is kept, so that the log below it does not move */
export function Activity({ counts: counted }: { counts: Counts | null }) {
  const counts = counted ?? none;
  const [member, setMember] = useState<string | null>(null);
  const [asTable, setAsTable] = useState(false);
  const days = countByDay(counts, member, now.value);
  const sum = days.reduce((all, { agents, people }) => all + agents + people, 0);
  const busiestDay = days.reduce((best, day) => (total(day) >= total(best) ? day : best));
  const who = member === null ? '' : ` of ${counts.actors[member]?.name}`;
  const sentence =
    sum === 0
      ? `No events${who} in the last 30 days`
      : `Events a day${who}, 30 days, ${formatNumber(sum)} in all, most on ${weekday.format(busiestDay.at)}: ${formatNumber(total(busiestDay))}`;
  return (
    <figure class={counted ? 'act' : 'act unread'}>
      <figcaption class="row w">
        <h3>Events a day</h3>
        <span class="q2 lg">
          <i class="ba" />
          agents <i class="bp" />
          people
        </span>
        <span class="sp" />
        <Members counts={counts} member={member} onChange={setMember} />
      </figcaption>
      {asTable ? <Table days={days} /> : <Bars days={days} label={sentence} />}
      <div class="row q2 sm">
        {!asTable && <span>{dayName.format(days[0]!.at)}</span>}
        <span class="sp center">
          {sum > 0 && `${dayName.format(busiestDay.at)}: ${formatNumber(total(busiestDay))}, the most`}
        </span>
        {!asTable && <span>today</span>}
      </div>
      <button type="button" class="b bare act-as" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
        {asTable ? 'Show the picture' : 'Show as a table'}
      </button>
    </figure>
  );
}

const total = ({ agents, people }: Day): number => agents + people;

function Members(props: { counts: Counts; member: string | null; onChange: (member: string | null) => void }) {
  const { counts, member, onChange } = props;
  const members = membersByActivity(counts);
  if (members.length > MAX_BUTTONS)
    return (
      <Select
        label="Events of"
        value={member ?? ''}
        options={[['', 'Everyone'], ...members.map((id) => [id, counts.actors[id]?.name ?? ''] as const)]}
        onChange={(id) => onChange(id || null)}
      />
    );
  return (
    <fieldset class="seg">
      <legend class="vh">Events of</legend>
      <button type="button" aria-pressed={member === null} onClick={() => onChange(null)}>
        All
      </button>
      {members.map((id) => (
        <button
          key={id}
          type="button"
          class={counts.actors[id]?.kind === 'agent' ? 'mono' : undefined}
          aria-pressed={member === id}
          onClick={() => onChange(id)}
        >
          {counts.actors[id]?.name}
        </button>
      ))}
    </fieldset>
  );
}

function Bars({ days, label }: { days: Day[]; label: string }) {
  const top = Math.max(1, ...days.map(total));
  const height = (count: number): number => (count === 0 ? 0 : Math.max(2, (count / top) * (HEIGHT - 4)));
  return (
    <svg
      viewBox={`0 0 ${days.length * STEP - (STEP - BAR)} 112`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {days.map((day, index) => {
        const people = height(day.people);
        const agents = height(day.agents);
        return (
          <g key={day.at}>
            <rect class="bp" x={index * STEP} y={HEIGHT - people} width={BAR} height={people} rx="1" />
            <rect
              class="ba"
              x={index * STEP}
              y={HEIGHT - people - agents - (people > 0 && agents > 0 ? 2 : 0)}
              width={BAR}
              height={agents}
              rx="1"
            />
          </g>
        );
      })}
      <path class="axis" d={`M0 111H${days.length * STEP}`} />
    </svg>
  );
}

const Table = ({ days }: { days: Day[] }) => (
  <table class="log act-table">
    <thead>
      <tr>
        <th>Day</th>
        <th class="num">Agents</th>
        <th class="num">People</th>
        <th class="num">Events</th>
      </tr>
    </thead>
    <tbody>
      {days
        .filter((day) => total(day) > 0)
        .toReversed()
        .map((day) => (
          <tr key={day.at}>
            <td>{weekday.format(day.at)}</td>
            <td class="num">{formatNumber(day.agents)}</td>
            <td class="num">{formatNumber(day.people)}</td>
            <td class="num">{formatNumber(total(day))}</td>
          </tr>
        ))}
      {days.every((day) => total(day) === 0) && (
        <tr>
          <td colSpan={4}>{formatCount(0, 'event')}</td>
        </tr>
      )}
    </tbody>
  </table>
);
