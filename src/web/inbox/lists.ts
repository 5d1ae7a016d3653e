/**
 * The other lists of the inbox: the person's own asks, what was answered today, invites created by agents.
 */
import { signal } from '@preact/signals';
import type { Answer, Approval, Message } from '../../contract/types.ts';
import { call, readAll } from '../api/client.ts';
import { session } from '../api/session.ts';
import { excerpt } from '../parts/plain-text.ts';
import { isSameDay } from '../parts/time.tsx';
import { oneAtATime } from '../state/throttle.ts';

interface Answered {
  message: Message;
  /** "you said: 60 s". */
  words: string;
  at: string;
}

type InviteNotice = Answer<'listInviteNotices'>['notices'][number];

/** Open asks by the person. */
export const ownAsks = signal<Message[]>([]);
/** Asks to the person that were answered, or whose default applied, today; latest first. */
export const answered = signal<Answered[]>([]);
/** Requests of the person's agents that the person decided today. */
export const decided = signal<Approval[]>([]);
/** Active invites created by the person's agents. */
export const invites = signal<InviteNotice[]>([]);

/** A cache of answers by ask id and event number; a message never changes. */
const answers = new Map<string, Message>();

async function loadAnswer({ id, board, ask }: Message): Promise<Message | null> {
  const seq = ask?.answer_seq;
  if (!seq) return null;
  const name = `${id} ${seq}`;
  const known = answers.get(name);
  if (known) return known;
  const { message } = await call('getMessageBySeq', { params: { board, seq } });
  answers.set(name, message);
  return message;
}

async function toAnswered(message: Message): Promise<Answered | null> {
  const { ask } = message;
  if (ask?.state === 'went_with' && ask.going_at)
    return { message, words: `went with: ${ask.going_with}`, at: ask.going_at };
  const answer = await loadAnswer(message);
  if (!answer) return null;
  const who = answer.sender === 'self' ? 'you' : answer.from.name;
  return { message, words: `${who} said: ${answer.answer?.option_text ?? excerpt(answer.body, 80)}`, at: answer.at };
}

/** Loads the lists. Ignores errors: loading the needs fails too then, and shows the error. */
export const readLists = oneAtATime(() => read().catch(() => {}));

async function read(): Promise<void> {
  const can_answer = true;
  const [own, done, gone] = await Promise.all([
    call('listAsks', { query: { from_me: true, limit: 50 } }),
    call('listAsks', { query: { can_answer, state: 'answered', limit: 20 } }),
    call('listAsks', { query: { can_answer, state: 'went_with', limit: 20 } }),
  ]);
  ownAsks.value = own.asks;
  const all = await Promise.all([...done.asks, ...gone.asks].map(toAnswered));
  const now = new Date().toISOString();
  answered.value = all
    .filter((item): item is Answered => item !== null && isSameDay(item.at, now))
    .toSorted((a, b) => (a.at < b.at ? 1 : -1));
  if (session.peek()?.person.server_role === 'guest') return;
  const notices = await readAll('listInviteNotices', 'notices', { query: { limit: 100 } });
  invites.value = notices.filter(({ state }) => state === 'active');
}

/** Loads the requests that were decided today. Ignores errors too. */
export const readDecided = oneAtATime(() => readApprovals().catch(() => {}));

async function readApprovals(): Promise<void> {
  if (session.peek()?.person.server_role === 'guest') return;
  const now = new Date().toISOString();
  const { approvals } = await call('listApprovals', { query: { state: 'decided', limit: 100 } });
  decided.value = approvals.filter(
    ({ state, decision, decided_at: at }) =>
      at && isSameDay(at, now) && (state === 'declined' || (state === 'executed' && decision !== 'allowance')),
  );
}
