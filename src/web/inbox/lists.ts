/**
 * The other lists of the inbox: the person's own asks, what was answered today, invites created by agents.
 */
import { signal } from '@preact/signals';
import type { Answer, Approval, Message } from '../../contract/types.ts';
import { call, readAll } from '../api/client.ts';
import { session } from '../api/session.ts';
import { excerpt } from '../parts/plain-text.ts';
import { isSameDay } from '../parts/time.tsx';
import { answerAttempts } from '../state/answers.ts';
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

function toAnswered(message: Message, answer: Message): Answered {
  const who = answer.sender === 'self' ? 'you' : answer.from.name;
  return { message, words: `${who} said: ${answer.answer?.option_text ?? excerpt(answer.body, 80)}`, at: answer.at };
}

async function loadAnswered(message: Message): Promise<Answered[]> {
  const answer = await loadAnswer(message);
  return answer ? [toAnswered(message, answer)] : [];
}

/** Answers that this tab sent to questions from before a time. */
const sentTo = (before: string): Answered[] =>
  [...answerAttempts.peek().values()].flatMap((sent) =>
    sent.state === 'sent' && sent.message.at < before ? [toAnswered(sent.message, sent.posted)] : [],
  );

const wentWith = (message: Message): Answered[] =>
  message.ask?.going_at ? [{ message, words: `went with: ${message.ask.going_with}`, at: message.ask.going_at }] : [];

/** How many answers are read at once. */
const AT_ONCE = 10;

/** The answers of a day to questions of one board, read from the last answer on until they are older. */
async function answeredOn(day: string, asks: Message[]): Promise<Answered[]> {
  const found: Answered[] = [];
  const latest = asks.toSorted((a, b) => (b.ask?.answer_seq ?? 0) - (a.ask?.answer_seq ?? 0));
  // Most boards have none of today, which the last one tells.
  for (let at = 0, to = 1; at < latest.length; at = to, to += AT_ONCE) {
    const read = (await Promise.all(latest.slice(at, to).map(loadAnswered))).flat();
    found.push(...read.filter((item) => isSameDay(item.at, day)));
    if (read.some((item) => !isSameDay(item.at, day))) break;
  }
  return found;
}

/** Loads the lists. Ignores errors: loading the needs fails too then, and shows the error. */
export const readLists = oneAtATime(() => read().catch(() => {}));

async function read(): Promise<void> {
  const can_answer = true;
  const [own, done, gone] = await Promise.all([
    call('listAsks', { query: { from_me: true, limit: 50 } }),
    call('listAsks', { query: { can_answer, state: 'answered', limit: 200 } }),
    call('listAsks', { query: { can_answer, state: 'went_with', limit: 200 } }),
  ]);
  ownAsks.value = own.asks;
  const now = new Date().toISOString();
  const byBoard = Object.values(Object.groupBy(done.asks, ({ board }) => board)) as Message[][];
  const said = await Promise.all(byBoard.map((asks) => answeredOn(now, asks)));
  // The list begins with those that were asked last.
  const older = sentTo(done.next_after === null ? '' : done.asks.at(-1)!.at);
  answered.value = [...said.flat(), ...older, ...gone.asks.flatMap(wentWith)]
    .filter(({ at }) => isSameDay(at, now))
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
