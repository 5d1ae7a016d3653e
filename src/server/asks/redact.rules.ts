/** Takes secrets out of asks, as out of every text. */
import { type Redacted, redact } from '../text/redaction.ts';
import { type AskRequest, type RedactedAsk, textProblem } from './asks.rules.ts';

type Counts = Redacted['counts'];

/** An ask without secrets, and how many there were of each kind. */
export function redactAsk(ask: AskRequest): { ask: RedactedAsk; counts: Counts } {
  const options = ask.options?.map((option) => redact(option));
  const goingWith = ask.going_with === undefined ? undefined : redact(ask.going_with);
  return {
    ask: {
      ...ask,
      problem: textProblem(ask),
      ...(options ? { options: options.map((option) => option.text) } : {}),
      ...(goingWith ? { going_with: goingWith.text } : {}),
    },
    counts: [...(options ?? []).flatMap((option) => option.counts), ...(goingWith?.counts ?? [])],
  };
}

/** Counts of several texts as those of one, by kind. */
export function sumCounts(counts: Counts): Counts {
  const sums = new Map<string, number>();
  for (const { kind, count } of counts) sums.set(kind, (sums.get(kind) ?? 0) + count);
  return [...sums].map(([kind, count]) => ({ kind, count })).sort((a, b) => (a.kind < b.kind ? -1 : 1));
}
