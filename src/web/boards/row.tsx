/** One board in the list: last message, members, activity and unread count. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Board, Member, Message } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { Icon } from '../parts/icon.tsx';
import { formatNumber, plural } from '../parts/number.ts';
import { plainText } from '../parts/plain-text.ts';
import { Time } from '../parts/time.tsx';
import { Glyph } from '../parts/who.tsx';
import { needsOnBoard } from '../state/needs.ts';
import { hrefOf } from '../state/route.ts';
import { useHead } from '../state/use-head.ts';
import { Sparkline } from './sparkline.tsx';

/** More members are shown as a number. */
const MAX_GLYPHS = 5;

/** "2 people, 3 agents". */
export function memberCounts({ people_count, agent_count }: Board): string {
  const people = plural(people_count, 'person', 'people');
  if (agent_count === undefined) return people;
  return `${people}, ${plural(agent_count, 'agent')}`;
}

/** Loads of visible rows, two at a time, because a browser opens few connections. */
const queue: (() => Promise<void>)[] = [];
let running = 0;
function enqueue(read: () => Promise<void>): void {
  queue.push(read);
  if (running >= 2) return;
  running++;
  void (async () => {
    for (let next = queue.shift(); next; next = queue.shift()) await next().catch(() => {});
    running--;
  })();
}

/** Loads the last message and members once the row is visible, and again after events. */
function useDetails({ name, head_seq }: Board, visible: boolean) {
  const [last, setLast] = useState<Message | null>(null);
  const [members, setMembers] = useState<Member[]>([]);
  const head = Math.max(head_seq, useHead(name) ?? 0);
  useEffect(() => {
    if (!visible) return;
    let current = true;
    const params = { board: name };
    enqueue(async () => {
      if (!current) return;
      const [{ messages }, page] = await Promise.all([
        call('listMessages', { params, query: { newest: true, limit: 1 } }),
        call('listMembers', { params, query: { limit: 20 } }),
      ]);
      if (!current) return;
      setLast(messages.at(-1) ?? null);
      setMembers(page.members);
    });
    return () => {
      current = false;
    };
  }, [name, head, visible]);
  return { last, members };
}

export function BoardRow({ board }: { board: Board }) {
  const { name, title, visibility, unread = 0, activity, lifecycle } = board;
  const row = useRef<HTMLLIElement>(null);
  const [shown, setVisible] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      setVisible(true);
    });
    if (row.current) observer.observe(row.current);
    return () => observer.disconnect();
  }, []);
  const { last, members } = useDetails(board, shown);
  const needs = needsOnBoard(name).length;
  const at = last?.at ?? board.last_message_at;
  return (
    <li ref={row}>
      <a class="brow" href={hrefOf({ screen: 'board', board: name, tab: 'talk' })}>
        <span class="bt">
          <span class="row">
            <b class="cut">{title ?? name}</b>
            {visibility === 'private' && (
              <>
                <Icon name="lock" small />
                <span class="vh">private</span>
              </>
            )}
            {needs > 0 && (
              <span class="you">
                {needs} {needs === 1 ? 'needs you' : 'need you'}
              </span>
            )}
          </span>
          <span class="q2 cut">
            {last && (
              <>
                {last.from.name}: <bdi>{plainText(last.body)}</bdi>
              </>
            )}
            {!last && ((board.message_count ?? 0) > 0 ? '\u00a0' : 'Nothing was said yet')}
          </span>
        </span>
        <Glyphs board={board} members={members} />
        <span class="desk">
          <Sparkline days={activity ?? []} />
        </span>
        <span class="last">
          {unread > 0 ? (
            <b class="num">{formatNumber(unread)} unread</b>
          ) : (
            <span class="q">{lifecycle === 'archived' ? 'archived' : 'read'}</span>
          )}
          {at && (
            <span class="q">
              <Time at={at} relative />
            </span>
          )}
        </span>
      </a>
    </li>
  );
}

function Glyphs({ board, members }: { board: Board; members: Member[] }) {
  const here = members.filter(({ status }) => status === 'active');
  const known = [...here.filter(({ kind }) => kind === 'human'), ...here.filter(({ kind }) => kind === 'agent')];
  const others = known.filter(({ kind }) => kind === 'agent').map(({ name }) => name);
  const all = board.people_count + (board.agent_count ?? 0);
  const glyphs = known.slice(0, all > MAX_GLYPHS ? MAX_GLYPHS - 1 : MAX_GLYPHS);
  return (
    <span class="stack desk">
      <span class="vh">{memberCounts(board)}</span>
      {glyphs.map((who) => (
        <Glyph key={who.id} who={who} size={24} others={others} />
      ))}
      {known.length > 0 && all > glyphs.length && (
        <span class="more" aria-hidden="true">
          +{all - glyphs.length}
        </span>
      )}
    </span>
  );
}
