/** Tells the operator of what the server could not do, which its clients are told to ask about. */
import type { Logger } from 'pino';
import type { Refusal } from '../../contract/errors.ts';
import type { Clock } from '../db/clock.ts';

/** One line of a kind in so many milliseconds. */
const EVERY_MS = 10_000;

/** Logs a refusal with its cause; `about` names its request. */
export type TellRefused = (refusal: Refusal, about: object) => void;

/** Limits the lines of each kind; each says how many were left out since the one before. */
export function tellRefusals(log: Logger, clock: Clock): TellRefused {
  const kinds = new Map<string, { until: number; others: number }>();
  return (refusal, about) => {
    const { code, status, cause } = refusal;
    if (refusal.expected) return;
    const kind = `${code} ${cause instanceof Error ? cause.name : refusal.message}`;
    const last = kinds.get(kind);
    const now = clock.now();
    if (last && now < last.until) return void last.others++;
    kinds.set(kind, { until: now + EVERY_MS, others: 0 });
    const others = last?.others ? { others: last.others } : {};
    log.warn({ ...about, status, code, reason: reasonOf(cause ?? refusal), ...others }, 'refused');
  };
}

/** The messages of an error and of all that led to it. Not its other fields: those of the database's errors may quote rows. */
function reasonOf(error: unknown): string {
  const messages: string[] = [];
  for (let each = error; each instanceof Error; each = each.cause)
    messages.push(each instanceof AggregateError ? each.errors.map(reasonOf).join('; ') : each.message);
  return messages.filter((message) => message !== '').join(': ');
}
