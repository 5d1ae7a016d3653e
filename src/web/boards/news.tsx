/**
 * What happened to the person without being asked: boards that others added them to, and people who came by their
 * invites.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Answer } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { listen } from '../live/link.ts';
import { Icon } from '../parts/icon.tsx';
import { Time } from '../parts/time.tsx';
import { copy } from '../parts/toast.tsx';
import { Glyph } from '../parts/who.tsx';
import { hrefOf } from '../state/route.ts';
import { readStorage, writeStorage } from '../state/storage.ts';

type Inbox = Answer<'getOnboardingInbox'>;
type Addition = Inbox['board_adds'][number];
type Arrival = Inbox['arrivals'][number];

/**
 * What was noted in this browser. The server tells an addition until something later is read there, an arrival for a
 * week.
 */
const noted = (): string[] => (readStorage('noted-news') ?? '').split(' ').filter(Boolean);
const MOST_NOTED = 200;

/** Somebody who left may be added again. */
const nameOf = ({ board, added }: Addition): string => `${board.id}:${added.seq}`;

/** Not for guests: nobody comes by a guest, and they see a new board as it appears. */
export function News() {
  const [found, setFound] = useState<Inbox | null>(null);
  const place = useRef<HTMLDivElement>(null);
  const additions = (found?.board_adds ?? []).filter((addition) => !noted().includes(nameOf(addition)));
  const arrivals = (found?.arrivals ?? []).filter(({ invite_id }) => !noted().includes(invite_id));
  const shown = useRef(additions);
  shown.current = additions;
  useEffect(() => {
    const read = (): void => void call('getOnboardingInbox').then(setFound, () => {});
    read();
    return listen((message) => {
      if (message.type !== 'hint') return;
      const { event, data } = message.frame;
      if (event === 'boards' || (event === 'unread' && shown.current.some(({ board }) => board.id === data.board_id)))
        read();
    });
  }, []);
  const note = (id: string): void => {
    writeStorage('noted-news', [...noted(), id].slice(-MOST_NOTED).join(' '));
    setFound(found && { ...found });
    // The button that had the focus is gone.
    place.current?.focus();
  };
  return (
    <div ref={place} tabIndex={-1} class="news">
      {additions.length + arrivals.length > 0 && (
        <section class="part" aria-labelledby="news">
          <h2 id="news">News</h2>
          <ul class="nlist">
            {additions.map((addition) => (
              <Added key={addition.board.id} {...addition} note={() => note(nameOf(addition))} />
            ))}
            {arrivals.map((arrival) => (
              <Newcomer key={arrival.invite_id} {...arrival} note={() => note(arrival.invite_id)} />
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

function Added({ board, added, join_prompt, note }: Addition & { note: () => void }) {
  const { name, kind, owner } = added.by;
  const who = { name: name ?? 'Somebody', kind: kind === 'agent' ? ('agent' as const) : ('human' as const), owner };
  return (
    <li class="nrow">
      <Glyph who={who} size={28} />
      <span class="sp">
        <span class="q2 sm nm">
          <b class={kind === 'agent' ? 'mono' : undefined}>{who.name}</b>
          {owner && `, ${owner}’s agent`}, <Time at={added.at} words />
        </span>
        <a class="qq" href={hrefOf({ screen: 'board', board: board.name, tab: 'talk' })}>
          Added you to {board.title ?? board.name}
        </a>
      </span>
      <button type="button" class="b" onClick={() => void copy(join_prompt, 'the line for an agent')}>
        <Icon name="copy" />
        Bring an agent
      </button>
      <button type="button" class="b" onClick={note}>
        Noted<span class="vh"> {board.title ?? board.name}</span>
      </button>
    </li>
  );
}

function Newcomer({ handle, at, boards, note }: Arrival & { note: () => void }) {
  const places = boards.map(({ board, agents }) => {
    const names = agents.map(({ name }) => name).join(', ');
    return `${names} on ${board.title ?? board.name}`;
  });
  return (
    <li class="nrow">
      <Glyph who={{ name: handle, kind: 'human', owner: null }} size={28} />
      <span class="sp">
        <span class="q2 sm nm">
          <b>{handle}</b>, <Time at={at} words />
        </span>
        <span class="qq">Came by your invite{places.length > 0 && `, with ${places.join(' and ')}`}</span>
      </span>
      <button type="button" class="b" onClick={note}>
        Noted<span class="vh"> {handle}</span>
      </button>
    </li>
  );
}
