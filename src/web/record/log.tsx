/** The list of events, newest first, with filters. The event in the address is open. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { waitWhenLimited } from '../../client/rate-limit.ts';
import { sleep } from '../../client/time.ts';
import type { Answer, BoardEvent } from '../../contract/types.ts';
import { call, listAll } from '../api/client.ts';
import { errorText } from '../api/errors.ts';
import { Icon } from '../parts/icon.tsx';
import { formatNumber } from '../parts/number.ts';
import { ProblemLine } from '../parts/problem.tsx';
import { Select, toOption } from '../parts/select.tsx';
import { toastError } from '../parts/toast.tsx';
import { moveFocus, useKeys } from '../state/keys.ts';
import type { Room } from '../state/room.ts';
import { type BoardPlace, navigate } from '../state/route.ts';
import { Throttle } from '../state/throttle.ts';
import { EventRow } from './event-row.tsx';
import { actorKey } from './protocol.ts';
import type { Verdict } from './use-verdict.ts';
import { kinds } from './words.ts';

const PAGE = 50;
/** How many newer events are kept besides those that the person asked for. */
const KEPT = 150;
/**
 * The server cannot filter by actor, nor by a kind whose types are not known yet; this many pages are searched before the
 * person has to ask for more.
 */
const MAX_PAGES = 10;

type Page = Answer<'listEvents'>;

interface EventRange {
  events: BoardEvent[];
  /** Older events are before this number; null: there are none. */
  before: number | null;
  /** Whether it starts at the newest event. */
  newest: boolean;
  /** How many events are kept when newer ones come. */
  kept: number;
}

/** Adds events, newest first. What comes all day does not pile up. */
function withNewest(list: EventRange, fresh: readonly BoardEvent[]): EventRange {
  if (!list.newest) return list;
  const newest = list.events[0]?.seq ?? 0;
  const all = [...fresh.filter(({ seq }) => seq > newest), ...list.events];
  const events = all.slice(0, list.kept);
  return { ...list, events, before: events.length < all.length ? events.at(-1)!.seq : list.before };
}

export function Log({ here, room, verdict }: { here: BoardPlace; room: Room; verdict: Verdict }) {
  const [kind, setKind] = useState('');
  const [actor, setActor] = useState('');
  const [list, setList] = useState<EventRange | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [reading, setReading] = useState(false);
  const body = useRef<HTMLTableSectionElement>(null);
  const { counts, checked } = verdict;
  const wanted = kinds.find(([name]) => name === kind)?.[1];
  // Unknown until the record was read once for its check.
  const types = wanted && counts ? Object.keys(counts.types).filter((type) => wanted.test(type)) : undefined;
  const none = types?.length === 0;
  const matches = (event: BoardEvent): boolean =>
    (!wanted || wanted.test(event.type)) && (actor === '' || actorKey(event.actor) === actor);

  /** A newer load makes older ones obsolete. */
  const latestRead = useRef(0);
  /** Events that came and are not in the list yet, newest first. */
  const fresh = useRef<BoardEvent[]>([]);
  /** Those that what is being loaded may lack, newest first; null: nothing is. */
  const arrived = useRef<BoardEvent[] | null>(null);
  const read = async (from: EventRange | null, before: number | undefined): Promise<void> => {
    const own = ++latestRead.current;
    arrived.current = from ? [...fresh.current] : [];
    setReading(true);
    setError(null);
    try {
      const events = [...(from?.events ?? [])];
      let next: number | null | undefined = none ? null : before;
      let found = 0;
      for (let n = 0; n < MAX_PAGES && found < PAGE && next !== null; n++) {
        const query = {
          newest: true,
          limit: actor === '' && (!wanted || types) ? PAGE : 200,
          before: next,
          type: types?.slice(0, 20).join(','),
        };
        const page: Page = await call('listEvents', { params: { board: room.name }, query });
        if (latestRead.current !== own) return;
        const fitting = page.events.toReversed().filter(matches);
        events.push(...fitting);
        found += fitting.length;
        next = page.prev_before;
      }
      const newest = from?.newest ?? before === undefined;
      const newer = newest ? (arrived.current ?? []).filter(({ seq }) => seq > (events[0]?.seq ?? 0)) : [];
      setList({ events: [...newer, ...events], before: next ?? null, newest, kept: events.length + KEPT });
    } catch (problem) {
      if (latestRead.current === own) setError(problem);
    } finally {
      if (latestRead.current === own) {
        arrived.current = null;
        setReading(false);
      }
    }
  };

  const readOlder = async (from: EventRange): Promise<void> => {
    if (!reading) await read(from, from.before ?? undefined);
  };

  const { event: open } = here;
  const around = open === undefined ? undefined : open + PAGE / 2;
  const filter = `${kind} ${actor} ${none}`;
  const readFor = useRef(filter);
  useEffect(() => {
    const filtered = readFor.current !== filter;
    if (!filtered && list && (open === undefined || list.events.some(({ seq }) => seq === open))) return;
    readFor.current = filter;
    // What another filter lets through may all be newer than the open event.
    void read(null, !filtered && around !== undefined && around <= (room.head.peek() ?? 0) ? around : undefined);
  }, [filter, open]);

  useEffect(() => {
    const throttle = new Throttle(() => {
      const events = fresh.current.splice(0);
      setList((last) => last && withNewest(last, events));
    });
    const stop = room.subscribe(({ event }) => {
      if (!matches(event)) return;
      arrived.current?.unshift(event);
      fresh.current.unshift(event);
      throttle.schedule();
    });
    return () => {
      stop();
      throttle.cancel();
      fresh.current = [];
    };
  }, [room, kind, actor]);

  useEffect(() => {
    if (open !== undefined) body.current?.querySelector(`[data-seq="${open}"]`)?.scrollIntoView({ block: 'center' });
  }, [open, list === null]);

  const missing = open !== undefined && open > (room.head.value ?? open);
  const move = (step: 1 | -1): unknown => moveFocus(body.current, 'a.seq', step);
  const close = (): unknown =>
    open === undefined ? false : navigate({ screen: 'board', board: room.name, tab: 'record' }, { replace: true });
  useKeys(
    'Record',
    [
      { keys: 'j', label: 'Next event', run: () => move(1) },
      { keys: 'k', label: 'Event before', run: () => move(-1) },
      { keys: 'Escape', label: 'Close the event', run: close },
    ],
    [open],
  );

  const actors = Object.entries(counts?.actors ?? {}).toSorted(([, a], [, b]) => (a.name < b.name ? -1 : 1));
  return (
    <section aria-label="Events">
      <div class="row w log-bar">
        <Select
          label="Kind of event"
          value={kind}
          options={[['', 'All kinds'], ...kinds.map(([name]) => toOption(name))]}
          onChange={setKind}
        />
        <Select
          label="By whom"
          value={actor}
          options={[['', 'Anyone'], ...actors.map(([id, { name }]) => [id, name] as const)]}
          onChange={setActor}
        />
        <span class="sp" />
        {list && !list.newest ? (
          <button type="button" class="b bare" onClick={() => void read(null, undefined)}>
            Show the newest
          </button>
        ) : (
          <span class="q2">newest first</span>
        )}
        <Export board={room.name} />
      </div>
      <ProblemLine error={error} onRetry={() => read(list, list?.before ?? undefined)} />
      {missing && <p class="q2">There is no event #{formatNumber(open)}; these are the newest.</p>}
      <table class="log" aria-busy={reading}>
        <caption class="vh">Events of {room.name}, newest first</caption>
        <thead>
          <tr>
            <th class="num">#</th>
            <th>When</th>
            <th>Who</th>
            <th>What</th>
            <th class="hx">Hash</th>
            <th>
              <span class="vh">Verified</span>
            </th>
          </tr>
        </thead>
        <tbody ref={body}>
          {list?.events.map((event) => (
            <EventRow
              key={event.seq}
              event={event}
              room={room}
              names={{
                member: (id) => counts?.actors[id]?.name ?? 'somebody',
                file: (id) => counts?.files[id],
              }}
              checked={checked}
              open={event.seq === open}
            />
          ))}
        </tbody>
      </table>
      {list?.events.length === 0 && !reading && (
        <p class="q2 log-none">No event of this kind{list.before === null ? '.' : ' so far.'}</p>
      )}
      {list && list.before !== null && (
        <button type="button" class="b log-more" aria-disabled={reading} onClick={() => void readOlder(list)}>
          Older events
        </button>
      )}
    </section>
  );
}

/** Downloads the record as JSON lines, in the format of `service audit export`. */
function Export({ board }: { board: string }) {
  const [busy, setBusy] = useState(false);
  const save = async (): Promise<void> => {
    if (busy) return;
    setBusy(true);
    try {
      const lines: string[] = [];
      const request = waitWhenLimited((seconds) => sleep(seconds * 1000));
      for await (const page of listAll('listEvents', { params: { board }, query: { limit: 200 } }, request))
        lines.push(...page.events.map((event) => `${JSON.stringify(event)}\n`));
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob(lines, { type: 'application/x-ndjson' }));
      link.download = `${board}.ndjson`;
      link.click();
      // Revoked late, so that the browser has certainly read the blob.
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    } catch (error) {
      toastError(`Not exported. ${errorText(error)}`);
    } finally {
      setBusy(false);
    }
  };
  return (
    <button type="button" class="b" aria-disabled={busy} onClick={() => void save()}>
      <Icon name="get" />
      Export
    </button>
  );
}
