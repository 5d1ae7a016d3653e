/** Answers that this tab sends: one at a time for each ask, under the same key as long as the outcome is unknown. */
import { signal } from '@preact/signals';
import type { Message } from '../../contract/types.ts';
import { isUnsettled } from '../api/errors.ts';
import { link } from '../live/link.ts';
import { announce } from '../parts/announce.tsx';
import { answer, readNeeds } from './needs.ts';

/** An answer: the number of an option, or words. */
interface Choice {
  option?: number | undefined;
  body?: string | undefined;
}

type Answering = Choice &
  ({ state: 'sending' } | { state: 'failed'; error: unknown } | { state: 'sent'; posted: Message });

/** The latest answer to each ask by the ask's id. */
export const answering = signal<ReadonlyMap<string, Answering>>(new Map());

/** Answered asks whose options may be chosen anew: an answer is not changed by a stray key. */
const changing = signal<ReadonlySet<string>>(new Set());

/** Lets the person choose anew, or no longer. */
export function setChanging(id: string, on: boolean): void {
  const next = new Set(changing.peek());
  if (on) next.add(id);
  else next.delete(id);
  changing.value = next;
}

/** Whether the ask has an answer that stands until the person says that they change it. */
export const isSettled = ({ id, ask }: Message): boolean =>
  (ask?.state === 'answered' || answering.value.get(id)?.state === 'sent') && !changing.value.has(id);

const set = (id: string, value: Answering): void => {
  answering.value = new Map(answering.peek()).set(id, value);
};

const keys = new Map<string, string>();

/** Sends an answer and says so; null while another one is on its way and where it was refused. */
export async function sendAnswer(message: Message, choice: Choice): Promise<Message | null> {
  const { id } = message;
  if (answering.peek().get(id)?.state === 'sending') return null;
  const attempt = JSON.stringify([id, choice.option, choice.body]);
  const key = keys.get(attempt) ?? crypto.randomUUID();
  keys.set(attempt, key);
  set(id, { ...choice, state: 'sending' });
  try {
    const posted = await answer(message, { ...choice, key });
    keys.delete(attempt);
    set(id, { ...choice, state: 'sent', posted });
    setChanging(id, false);
    announce(`Answered ${message.ask?.options[(choice.option ?? 0) - 1] ?? 'in words'}`);
    return posted;
  } catch (error) {
    if (!isUnsettled(error)) keys.delete(attempt);
    set(id, { ...choice, state: 'failed', error });
    void readNeeds();
    return null;
  }
}

/** Answers with the option of this number as its key does; false where there is none or the page may be out of date. */
export function pickOption(message: Message, number: number): boolean {
  const { ask } = message;
  if (!ask?.can_answer || number > ask.options.length || isSettled(message)) return false;
  const { state } = link.peek();
  if (state === 'offline' || state === 'reconnecting') return false;
  void sendAnswer(message, { option: number });
  return true;
}

/** The number of the option that was answered last, by this tab or anyone. */
export function chosenOption({ id, ask }: Message): number | null {
  const own = answering.value.get(id);
  if (own?.state === 'sent' && own.posted.seq > (ask?.answer_seq ?? 0)) return own.option ?? null;
  return ask?.answer_option ?? null;
}
