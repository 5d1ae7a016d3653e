/** Answering and withdrawing asks in the conversation: once, with the same key as long as the outcome is unknown. */
import { signal } from '@preact/signals';
import type { Message } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { hasCode, sentenceOf } from '../api/errors.ts';
import { announce } from '../parts/announce.tsx';
import { toast } from '../parts/toast.tsx';
import { now } from '../state/clock.ts';
import { answer } from '../state/needs.ts';

const keys = new Map<string, string>();
/** Ids of asks that an answer is on its way to. */
export const sending = signal<ReadonlySet<string>>(new Set());
/** Why an answer was refused, by the ask's id. */
export const refusals = signal<ReadonlyMap<string, unknown>>(new Map());
/** Ids of answered asks whose options can be chosen again. */
export const changing = signal<ReadonlySet<string>>(new Set());

const without = <T>(set: ReadonlySet<T>, one: T): ReadonlySet<T> => new Set([...set].filter((each) => each !== one));

/** Lets the person choose again. */
export function change(id: string): void {
  changing.value = new Set(changing.peek()).add(id);
}

/** The state of an ask now: the time after which it goes on by itself passes without an event. */
export function stateOf({ ask }: Message): 'open' | 'answered' | 'withdrawn' | 'went_with' | undefined {
  if (ask?.state === 'open' && ask.going_at !== null && Date.parse(ask.going_at) <= now.value) return 'went_with';
  return ask?.state;
}

/** Whether an option can be chosen now. */
export function isAnswerable(message: Message): boolean {
  const state = stateOf(message);
  if (!message.ask?.can_answer || state === 'withdrawn') return false;
  return state !== 'answered' || changing.value.has(message.id);
}

async function once(message: Message, what: string, send: (key: string) => Promise<unknown>): Promise<boolean> {
  const { id } = message;
  if (sending.peek().has(id)) return false;
  const name = `${id} ${what}`;
  const key = keys.get(name) ?? crypto.randomUUID();
  keys.set(name, key);
  sending.value = new Set(sending.peek()).add(id);
  try {
    await send(key);
    keys.delete(name);
    refusals.value = new Map([...refusals.peek()].filter(([ask]) => ask !== id));
    changing.value = without(changing.peek(), id);
    return true;
  } catch (error) {
    if (!hasCode(error, 'outcome_unknown', 'server_unreachable', 'request_timeout')) keys.delete(name);
    refusals.value = new Map(refusals.peek()).set(id, error);
    announce(sentenceOf(error), { urgent: true });
    return false;
  } finally {
    sending.value = without(sending.peek(), id);
  }
}

/** Answers with an option, counted from one. */
export async function choose(message: Message, option: number): Promise<void> {
  const words = message.ask?.options[option - 1];
  if (words === undefined || !isAnswerable(message)) return;
  if (!(await once(message, String(option), (key) => answer(message, { option, key })))) return;
  announce(`Answered ${words}`);
  toast(`Answered “${words}”.`, { label: 'Change', run: () => change(message.id) });
}

/** Takes the question back. */
export async function withdraw(message: Message): Promise<void> {
  if (!message.ask?.can_withdraw) return;
  const done = await once(message, 'withdrawn', (idempotencyKey) =>
    call('postMessage', {
      params: { board: message.board },
      idempotencyKey,
      body: { body: 'Withdrawn.', reply_to: message.id, answer: { withdrawn: true } },
    }),
  );
  if (done) announce('Withdrawn');
}
