/** The Everything screen: events of all boards of the person, newest first, live. */
import './everything.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../parts/icon.tsx';
import { formatNumber, plural } from '../parts/number.ts';
import { ProblemLine } from '../parts/problem.tsx';
import { Select, toOption } from '../parts/select.tsx';
import { formatDay, Time } from '../parts/time.tsx';
import { Glyph } from '../parts/who.tsx';
import { describeEvent, kinds } from '../record/words.ts';
import { moveFocus, useKeys } from '../state/keys.ts';
import { needs } from '../state/needs.ts';
import { hrefOf } from '../state/route.ts';
import { agentOf, type Filters, matchesFilters, tasksOf } from './filters.ts';
import type { Names } from './names.ts';
import { type Entry, Stream } from './stream.ts';

/** How many entries are shown at first, and added by each "Older". */
const PAGE = 60;
/** While a filter leaves fewer entries, older ones are loaded without being asked for, at most this often. */
const FEW = 20;
const AUTOMATIC_LOADS = 10;
const nothing: Filters = { agent: '', task: '', kind: '', needsYou: false };

export default function Everything() {
  const [stream, setStream] = useState<Stream | null>(null);
  useEffect(() => {
    const own = new Stream();
    setStream(own);
    return () => own.stop();
  }, []);
  return (
    <main class="page every" id="main">
      <div class="col wide">
        <h1>Everything</h1>
        {stream && <Entries stream={stream} />}
      </div>
    </main>
  );
}

function Entries({ stream }: { stream: Stream }) {
  const [filters, setFilters] = useState(nothing);
  const [limit, setShown] = useState(PAGE);
  const [loadsLeft, setLoadsLeft] = useState(AUTOMATIC_LOADS);
  const list = useRef<HTMLDivElement>(null);
  const all = stream.entries.value;
  const found = all.filter((entry) => matchesFilters(entry, filters, needs.value));
  const reading = stream.loading.value;
  const onChange = (change: Partial<Filters>): void => {
    setFilters({ ...filters, ...change });
    setShown(PAGE);
    setLoadsLeft(AUTOMATIC_LOADS);
  };
  const showOlder = async (): Promise<void> => {
    if (reading) return;
    setShown(limit + PAGE);
    setLoadsLeft(AUTOMATIC_LOADS);
    if (found.length < limit + PAGE) await stream.loadOlder();
  };
  const loadsMore = found.length < FEW && stream.hasMore.value && stream.error.value === null && loadsLeft > 0;
  useEffect(() => {
    if (reading || !loadsMore) return;
    setLoadsLeft(loadsLeft - 1);
    void stream.loadOlder();
  }, [reading, loadsMore, loadsLeft]);

  const move = (step: 1 | -1): unknown => moveFocus(list.current, 'a.evr', step);
  useKeys('Everything', [
    { keys: 'j', label: 'Next entry', run: () => move(1) },
    { keys: 'k', label: 'Entry before', run: () => move(-1) },
  ]);

  const days: { day: string; entries: Entry[] }[] = [];
  for (const entry of found.slice(0, limit)) {
    const day = formatDay(entry.event.at);
    if (days.at(-1)?.day === day) days.at(-1)!.entries.push(entry);
    else days.push({ day, entries: [entry] });
  }
  const looking = reading || loadsMore;
  const none = !looking && found.length === 0;
  const nothingYet = stream.hasMore.value ? 'Nothing of this kind so far.' : 'Nothing of this kind.';
  return (
    <>
      <FilterBar all={all} filters={filters} set={onChange} />
      <ProblemLine error={stream.error.value} onRetry={() => stream.retry()} />
      {none && <p class="q2">{all.length === 0 ? 'Nothing has happened on your boards yet.' : nothingYet}</p>}
      <div ref={list} aria-busy={reading}>
        {days.map(({ day, entries }) => (
          <section key={day} aria-label={day}>
            <h2 class="ev-day">{day}</h2>
            <ul class="list">
              {entries.map((entry) => (
                <Line key={`${entry.board} ${entry.event.seq}`} entry={entry} names={stream.names} />
              ))}
            </ul>
          </section>
        ))}
      </div>
      {(stream.hasMore.value || found.length > limit) && (found.length > 0 || !looking) && (
        <button type="button" class="b ev-more" aria-disabled={reading} onClick={() => void showOlder()}>
          Older
        </button>
      )}
    </>
  );
}

function FilterBar(props: { all: Entry[]; filters: Filters; set: (change: Partial<Filters>) => void }) {
  const { all, filters, set } = props;
  const agents = [...new Set(all.flatMap((entry) => agentOf(entry) ?? []))].toSorted();
  const tasks = [...new Set(all.flatMap(tasksOf))].toSorted();
  const waiting = needs.value.filter(({ kind }) => kind === 'ask').length;
  return (
    <div class="row w ev-bar">
      <button
        type="button"
        class={filters.needsYou ? 'b on' : 'b'}
        aria-pressed={filters.needsYou}
        onClick={() => set({ needsYou: !filters.needsYou })}
      >
        Needs you {waiting > 0 && <span class="you">{plural(waiting, 'question')}</span>}
      </button>
      <Select
        label="Kind"
        value={filters.kind}
        options={[['', 'All kinds'], ...kinds.flatMap(([name]) => (name === 'Reactions' ? [] : [toOption(name)]))]}
        onChange={(kind) => set({ kind })}
      />
      <Select
        label="Agent"
        value={filters.agent}
        options={[['', 'Everyone'], ...agents.map((agent) => [agent, `${agent.replace(' ', ', ')}’s`] as const)]}
        onChange={(agent) => set({ agent })}
      />
      {(tasks.length > 0 || filters.task !== '') && (
        <Select
          label="Task"
          value={filters.task}
          options={[['', 'All tasks'], ...tasks.map(toOption)]}
          onChange={(task) => set({ task })}
        />
      )}
      <a class="b bare" href="/inbox">
        Answer what needs you
      </a>
    </div>
  );
}

function Line({ entry: { board, event }, names }: { entry: Entry; names: Names }) {
  const { actor, at, seq, type } = event;
  const words = describeEvent(event, board, names.on(board));
  const isMessage = type === 'message.posted';
  const href = words.link?.href ?? hrefOf({ screen: 'board', board, tab: 'record', event: seq });
  const waits = needs.value.some(({ id }) => id === event.data?.['message_id']);
  return (
    <li>
      <a class={waits ? 'sr evr hot' : 'sr evr'} href={href}>
        {actor.kind === 'system' ? (
          <span class="kic">
            <Icon name="board" />
          </span>
        ) : (
          <Glyph who={{ name: actor.name ?? '?', kind: actor.kind, owner: actor.owner }} size={28} />
        )}
        <span class="sp">
          <span class="row w sm q2 facts">
            <b class={actor.kind === 'agent' ? 'mono' : undefined}>{actor.name ?? 'the server'}</b>
            <span>
              {words.verb}
              {!isMessage && words.link && ` ${words.link.text}`}
            </span>
            <Time at={at} />
            {waits && <span class="you">needs you</span>}
          </span>
          {words.rest && <span class="sn">{isMessage ? words.rest.slice(1, -1) : words.rest}</span>}
        </span>
        <span class="q2 sm ev-where">
          {board} #{formatNumber(seq)}
        </span>
      </a>
    </li>
  );
}
