/** Who received a message. Loaded on request, and again as they get it. */
import { useEffect, useRef } from 'preact/hooks';
import type { Answer } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { listenToHints } from '../live/link.ts';
import { ProblemLine } from '../parts/problem.tsx';
import { joinNames } from '../parts/who.tsx';
import { useLoad } from '../state/load.ts';
import { oneAtATime } from '../state/throttle.ts';
import { useHead } from '../state/use-head.ts';
import { useTalk } from './context.ts';

type ReceiptList = Answer<'listReceipts'>;

function describeReceipts({ recipients, to_everyone, available }: ReceiptList, me: string): string {
  if (to_everyone) return 'To everyone; who read it is not kept';
  if (!available) return 'Not known: the message was imported';
  const namesIn = (...states: string[]): string =>
    joinNames(
      recipients
        .filter(({ state }) => states.includes(state))
        .map(({ member }) => (member.name === me ? 'you' : member.name)),
    );
  const pending = recipients.filter(({ state, held }) => state === 'pending' && !held);
  const held = recipients.filter((recipient) => recipient.held).map(({ member }) => member.name);
  const away = pending.filter(({ presence }) => presence === 'no_session').map(({ member }) => member.name);
  const awaited = pending.map(({ member }) => member.name).filter((name) => !away.includes(name));
  const parts = [
    ['read by', namesIn('read')],
    ['received by', namesIn('received')],
    ['waiting for', joinNames(awaited)],
    ['held, does not wake', joinNames(held)],
  ].flatMap(([verb, names]) => (names ? [`${verb} ${names}`] : []));
  if (away.length > 0)
    parts.push(`${joinNames(away)} ${away.length === 1 ? 'gets it when it is back' : 'get it when they are back'}`);
  return parts.length > 0 ? parts.join(' · ') : 'Nobody: no one it was for is on the board';
}

export function Receipts({ seq }: { seq: number }) {
  const { room, receipts: asked } = useTalk();
  /** What does not change any more, once everybody has it. */
  const settled = useRef<ReceiptList | null>(null);
  const read = async (): Promise<ReceiptList> => {
    const list = settled.current ?? (await call('listReceipts', { params: { board: room.name, seq } }));
    if (list.recipients.every(({ state }) => state !== 'pending')) settled.current = list;
    return list;
  };
  const { value, error, reload } = useLoad(read, [seq], [asked.value, useHead(room.name)]);
  useEffect(() => {
    const again = oneAtATime(reload);
    // No event of the board tells that an own agent got something.
    return listenToHints(({ event, data }) => {
      if (event === 'read' && data.board === room.name) void again();
    });
  }, [room, seq]);
  return (
    <>
      <span class="rc" role="status">
        {value && describeReceipts(value, room.me.value)}
      </span>
      <ProblemLine error={error} onRetry={reload} />
    </>
  );
}
