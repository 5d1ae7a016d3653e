/**
 * News for the person: boards that others added them to, and people who used their invites.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Answer } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { listenToHints, listenToReturn } from '../live/link.ts';
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
 * Ids of news dismissed in this browser. The server lists an addition until the person reads on the board, an arrival
 * for a week.
 */
const readDismissed = (): string[] => (readStorage('noted-news') ?? '').split(' ').filter(Boolean);
const MAX_DISMISSED = 200;

/** Contains the event number, because somebody who left may be added again. */
const additionId = ({ board, added }: Addition): string => `${board.id}:${added.seq}`;

/** Not for guests, who cannot invite people. */
export function News() {
  const [inbox, setFound] = useState<Inbox | null>(null);
  const [loading, setLoading] = useState(true);
  const section = useRef<HTMLDivElement>(null);
  const additions = (inbox?.board_adds ?? []).filter((addition) => !readDismissed().includes(additionId(addition)));
  const arrivals = (inbox?.arrivals ?? []).filter(({ invite_id }) => !readDismissed().includes(invite_id));
  const latestAdditions = useRef(additions);
  latestAdditions.current = additions;
  useEffect(() => {
    const read = (): void =>
      void call('getOnboardingInbox')
        .then(setFound, () => {})
        .finally(() => setLoading(false));
    read();
    const stopReturns = listenToReturn(read);
    const stop = listenToHints(({ event, data }) => {
      if (
        event === 'boards' ||
        (event === 'unread' && latestAdditions.current.some(({ board }) => board.id === data.board_id))
      )
        read();
    });
    return () => {
      stop();
      stopReturns();
    };
  }, []);
  const dismiss = (id: string): void => {
    writeStorage('noted-news', [...readDismissed(), id].slice(-MAX_DISMISSED).join(' '));
    setFound(inbox && { ...inbox });
    // The button with the focus disappears.
    section.current?.focus();
  };
  return (
    <div ref={section} tabIndex={-1} class="news" aria-busy={loading}>
      {additions.length + arrivals.length > 0 && (
        <section class="part" aria-labelledby="news">
          <h2 id="news">News</h2>
          <ul class="nlist">
            {additions.map((addition) => (
              <Added key={addition.board.id} {...addition} onDismiss={() => dismiss(additionId(addition))} />
            ))}
            {arrivals.map((arrival) => (
              <Newcomer key={arrival.invite_id} {...arrival} onDismiss={() => dismiss(arrival.invite_id)} />
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

function Added({ board, added, join_prompt, onDismiss }: Addition & { onDismiss: () => void }) {
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
      <button type="button" class="b" onClick={onDismiss}>
        Noted<span class="vh"> {board.title ?? board.name}</span>
      </button>
    </li>
  );
}

function Newcomer({ handle, at, boards, onDismiss }: Arrival & { onDismiss: () => void }) {
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
      <button type="button" class="b" onClick={onDismiss}>
        Noted<span class="vh"> {handle}</span>
      </button>
    </li>
  );
}
