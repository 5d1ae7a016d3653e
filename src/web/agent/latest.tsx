/** The latest messages by an agent, on all boards that the viewer shares with it. */
import { useEffect, useState } from 'preact/hooks';
import type { Member, Message } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { Markdown } from '../parts/markdown.tsx';
import { ProblemLine } from '../parts/problem.tsx';
import { Time } from '../parts/time.tsx';
import { boards } from '../state/boards.ts';
import { useLoad } from '../state/load.ts';
import type { Room } from '../state/room.ts';
import { hrefOf } from '../state/route.ts';

const LIMIT = 8;
/** How many boards are queried in parallel. */
const CONCURRENCY = 4;

/** Loads an agent's messages on a board. On other boards it has another seat, matched by name and owner. */
async function readFrom(board: string, { name, owner, board: home }: Member): Promise<Message[]> {
  const params = { board };
  if (board !== home) {
    const { members } = await call('listMembers', { params, query: { kind: 'agent' } });
    if (!members.some((member) => member.name === name && member.owner === owner)) return [];
  }
  const { messages } = await call('listMessages', {
    params,
    query: { from: name, newest: true, limit: LIMIT },
  });
  return messages;
}

async function readLatest(member: Member, names: string[]): Promise<Message[]> {
  const found: Message[] = [];
  const waiting = [...names];
  const work = async (): Promise<void> => {
    for (let board = waiting.shift(); board !== undefined; board = waiting.shift())
      found.push(...(await readFrom(board, member)));
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return found;
}

/** The newest of these messages, each once. */
const newest = (messages: readonly Message[]): Message[] =>
  [...new Map(messages.map((message) => [message.id, message])).values()]
    .sort((a, b) => (a.at < b.at ? 1 : -1))
    .slice(0, LIMIT);

export function LatestByAgent({ member, room }: { member: Member; room: Room }) {
  const shared = (boards.value ?? []).filter(({ on_board }) => on_board).map(({ name }) => name);
  const names = shared.includes(member.board) ? shared : [member.board, ...shared];
  const { value, error, reload } = useLoad(() => readLatest(member, names), [member.id, names.join()]);
  /** Those that came since, newest first. */
  const [news, setNews] = useState<readonly Message[]>([]);
  useEffect(() => {
    setNews([]);
    return room.subscribe(({ message }) => {
      if (message?.from.id === member.id) setNews((last) => [message, ...last].slice(0, LIMIT));
    });
  }, [room, member.id]);
  const messages = value && newest([...news, ...value]);
  return (
    <section class="part" aria-labelledby="latest">
      <h3 id="latest">What it wrote last</h3>
      <ProblemLine error={error} onRetry={reload} />
      {messages?.length === 0 && <p class="q2">Nothing yet.</p>}
      <ul>
        {messages?.map(({ id, board, seq, at, to, body }) => (
          <li class="wrote" key={id}>
            <span class="q2 sm">
              <a href={hrefOf({ screen: 'board', board, tab: 'talk', message: seq })}>
                {board}, <Time at={at} relative />
              </a>
              {to[0] !== 'all' && `, to ${to.join(', ')}`}
            </span>
            <Markdown text={body} />
          </li>
        ))}
      </ul>
    </section>
  );
}
