/** The latest messages to an agent, and whether it received them. */
import { useEffect, useMemo } from 'preact/hooks';
import type { Answer, Member, Message } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { listenToHints } from '../live/link.ts';
import { plainText } from '../parts/plain-text.ts';
import { ProblemLine } from '../parts/problem.tsx';
import { ago } from '../parts/time.tsx';
import { useLoad } from '../state/load.ts';
import type { Room } from '../state/room.ts';
import { hrefOf } from '../state/route.ts';
import { oneAtATime } from '../state/throttle.ts';

type Receipt = Answer<'listReceipts'>['recipients'][number];

interface Delivered {
  message: Message;
  receipt: Receipt;
  /** Whether the agent replied to it. */
  answered: boolean;
}

const SEARCHED = 100;
const LIMIT = 6;

/** What does not change any more, by message: that the agent received it, or that it was not for it. */
type Known = Map<string, Receipt | undefined>;

/** Whether a message may be for the agent, whose role may have been another one. Messages to everyone have no receipts. */
const isAddressed = (message: Message, { id, name }: Member): boolean =>
  message.from.id !== id && message.to.some((target) => target === `@${name}` || /^(role|owner):/.test(target));

async function receiptOf(message: Message, member: Member, known: Known): Promise<Receipt | undefined> {
  if (known.has(message.id)) return known.get(message.id);
  const { recipients } = await call('listReceipts', { params: { board: member.board, seq: message.seq } });
  const receipt = recipients.find((one) => one.member.id === member.id);
  if (receipt?.state !== 'pending') known.set(message.id, receipt);
  return receipt;
}

async function loadDelivered(member: Member, known: Known): Promise<Delivered[]> {
  const params = { board: member.board };
  const { messages } = await call('listMessages', { params, query: { newest: true, limit: SEARCHED } });
  const found: Delivered[] = [];
  for (const message of messages.toReversed()) {
    if (found.length === LIMIT) break;
    if (!isAddressed(message, member)) continue;
    const receipt = await receiptOf(message, member, known);
    const answered = messages.some(({ from, reply_to }) => from.id === member.id && reply_to === message.id);
    if (receipt) found.push({ message, receipt, answered });
  }
  return found;
}

function receiptText({ receipt, answered }: Delivered): { tone: string; text: string } {
  if (answered) return { tone: 'ok', text: 'answered' };
  if (receipt.state !== 'pending') return { tone: 'ok', text: 'received' };
  if (receipt.queued) return { tone: '', text: 'in its program’s queue until the turn ends' };
  return { tone: '', text: receipt.presence === 'no_session' ? 'waits for a session' : 'waits' };
}

export function RecentMessages({ member, room }: { member: Member; room: Room }) {
  const { id } = member;
  const known = useMemo((): Known => new Map(), [id]);
  const { value: delivered, error, reload } = useLoad(() => loadDelivered(member, known), [id]);
  useEffect(() => {
    const again = oneAtATime(reload);
    const stops = [
      room.subscribeThrottled(({ message }) => message, again),
      // The read position of an own agent moved, so it received something.
      listenToHints(({ event, data }) => {
        if (event === 'read' && data.member_id === id) void again();
      }),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }, [room, id]);
  return (
    <section class="part" aria-labelledby="handed">
      <h3 id="handed">Last messages to it</h3>
      <ProblemLine error={error} onRetry={reload} />
      {delivered?.length === 0 && <p class="q2">None of the last {SEARCHED} messages was addressed to it.</p>}
      <ul>
        {delivered?.map((one) => {
          const { tone, text } = receiptText(one);
          const { message } = one;
          return (
            <li class="hand" key={message.id}>
              <a href={hrefOf({ screen: 'board', board: room.name, tab: 'talk', message: message.seq })}>
                <span class="cut">{plainText(message.body)}</span>
                <span class="q sm">
                  {message.from.name}, {ago(message.at)}
                </span>
              </a>
              <span class={`st ${tone}`}>{text}</span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
