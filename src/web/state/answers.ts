/** Answers sent from this tab: one at a time per ask. */
import { signal } from '@preact/signals';
import type { Message } from '../../contract/types.ts';
import { withdrawnText } from '../../contract/values.ts';
import { hasConnection } from '../live/link.ts';
import { announce } from '../parts/announce.tsx';
import { attempt, write } from './attempts.ts';
import { openAsks, postAnswer, readNeeds } from './needs.ts';

/** An answer: the number of an option from 1, or a text. */
interface AnswerChoice {
  option?: number | undefined;
  body?: string | undefined;
}

type AnswerAttempt = AnswerChoice &
  ({ state: 'sending' } | { state: 'failed'; error: unknown } | { state: 'sent'; message: Message; posted: Message });

/** The latest attempt to answer each ask, by the ask's id. */
export const answerAttempts = signal<ReadonlyMap<string, AnswerAttempt>>(new Map());

/** Answered asks whose answer the person is changing. A key press alone must not change an answer. */
const changing = signal<ReadonlySet<string>>(new Set());

/** Unlocks or locks the answer of an ask. */
export function setChanging(id: string, on: boolean): void {
  const next = new Set(changing.peek());
  if (on) next.add(id);
  else next.delete(id);
  changing.value = next;
}

/** Whether the ask is answered and the person has not chosen to change the answer. */
export const isAnswerLocked = ({ id, ask }: Message): boolean =>
  (ask?.state === 'answered' || answerAttempts.value.get(id)?.state === 'sent') && !changing.value.has(id);

/** Whether an ask that waited for the person no longer does, though no answer was sent from here. */
export const isClosedElsewhere = ({ id }: Message): boolean =>
  !openAsks.value?.some((ask) => ask.id === id) && (answerAttempts.value.get(id)?.state ?? 'failed') === 'failed';

const setAttempt = (id: string, value: AnswerAttempt): void => {
  answerAttempts.value = new Map(answerAttempts.peek()).set(id, value);
};

/** Sends an answer and announces it. Returns null on an error or while another answer is being sent. */
export async function sendAnswer(message: Message, choice: AnswerChoice): Promise<Message | null> {
  const { id } = message;
  if (answerAttempts.peek().get(id)?.state === 'sending') return null;
  setAttempt(id, { ...choice, state: 'sending' });
  try {
    const name = JSON.stringify([choice.option, choice.body]);
    const posted = await attempt(`answer ${id}`, name, (key) => postAnswer(message, { ...choice, key }));
    setAttempt(id, { ...choice, state: 'sent', message, posted });
    setChanging(id, false);
    announce(`Answered ${message.ask?.options[(choice.option ?? 0) - 1] ?? 'in words'}`);
    return posted;
  } catch (error) {
    setAttempt(id, { ...choice, state: 'failed', error });
    void readNeeds();
    return null;
  }
}

/** Takes back a question of the person's own. */
export const withdrawAsk = ({ board, id }: Message) =>
  write('postMessage', {
    params: { board },
    body: { body: withdrawnText, reply_to: id, answer: { withdrawn: true } },
  });

/** Answers with an option by number, for a key press. False if it does not exist or the page may be out of date. */
export function pickOption(message: Message, number: number): boolean {
  const { ask } = message;
  if (!ask?.can_answer || number > ask.options.length || isAnswerLocked(message) || !hasConnection()) return false;
  void sendAnswer(message, { option: number });
  return true;
}

/** The number of the latest chosen option, from this tab or the server. */
export function chosenOption({ id, ask }: Message): number | null {
  const own = answerAttempts.value.get(id);
  if (own?.state === 'sent' && own.posted.seq > (ask?.answer_seq ?? 0)) return own.option ?? null;
  return ask?.answer_option ?? null;
}
