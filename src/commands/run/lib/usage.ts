/** What an agent program says that it used, read from what it prints. */
import type { Session } from '../../../cli/session/open-session.ts';
import { newIdempotencyKey } from '../../../client/idempotency.ts';
import type { Body } from '../../../contract/types.ts';
import type { UsageFields } from '../../../harness/profile.ts';
import { FieldFinder } from './field-finder.ts';
import { isPassing } from './reply.ts';

/** What is not told is left out. */
export type Used = Omit<Body<'reportUsage'>, 'turns'>;

const names = ['input_tokens', 'output_tokens', 'cost_usd'] as const satisfies (keyof Used)[];

export class UsageReader {
  readonly #finders: [name: keyof Used, finders: FieldFinder<number>[]][];
  readonly #ofConversation: readonly string[];

  constructor({ of_conversation: ofConversation = [], ...fields }: UsageFields = {}) {
    this.#finders = names.map((name) => [name, (fields[name] ?? []).map(FieldFinder.ofAmount)]);
    this.#ofConversation = ofConversation;
  }

  /** The next part of the output, in any pieces. */
  read(part: string): void {
    for (const [, finders] of this.#finders) for (const finder of finders) finder.read(part);
  }

  /**
   * What this run used, and what is to be known before the next one in its conversation.
   * @param before what was known before this one. A smaller count than that began anew, as in a version that counts runs.
   */
  used(before: Used = {}): { used: Used; total: Used } {
    const used: Used = {};
    const total: Used = { ...before };
    for (const [name, finders] of this.#finders) {
      const told = finders.flatMap((finder) => finder.value() ?? []);
      if (told.length === 0) continue;
      const sum = told.reduce((a, b) => a + b, 0);
      if (!this.#ofConversation.includes(name)) used[name] = sum;
      else {
        const earlier = before[name] ?? 0;
        used[name] = sum < earlier ? sum : sum - earlier;
        total[name] = sum;
      }
    }
    return { used, total };
  }
}

/** Tells the server what each run used. What cannot be told now is told after the next run. */
export class UsageReports {
  readonly #session: Session;
  readonly #note: (text: string) => void;
  readonly #signal: AbortSignal;
  readonly #untold: { body: Body<'reportUsage'>; idempotencyKey: string }[] = [];

  /** @param signal aborted, it ends what is being told */
  constructor(session: Session, note: (text: string) => void, signal: AbortSignal) {
    this.#session = session;
    this.#note = note;
    this.#signal = signal;
  }

  add(used: Used): Promise<void> {
    this.#untold.push({ body: { turns: 1, ...used }, idempotencyKey: newIdempotencyKey() });
    return this.tell();
  }

  /** Problems are noted, and end nothing. */
  async tell(): Promise<void> {
    const { client } = this.#session;
    const signal = this.#signal;
    for (let next = this.#untold[0]; next; next = this.#untold[0]) {
      try {
        await client.call('reportUsage', { ...next, timeoutMs: 10_000, signal });
      } catch (error) {
        if (signal.aborted) return;
        this.#note(
          `What the program used could not be reported: ${error instanceof Error ? error.message : String(error)}`,
        );
        if (isPassing(error)) return;
      }
      this.#untold.shift();
    }
  }
}
