/** What an agent program says that it used, read from what it prints. */
import { createHash } from 'node:crypto';
import { runtime } from '../../../cli/runtime.ts';
import type { Session } from '../../../cli/session/open-session.ts';
import type { ClientError } from '../../../client/errors.ts';
import { newIdempotencyKey } from '../../../client/idempotency.ts';
import { DAY } from '../../../contract/durations.ts';
import type { Body } from '../../../contract/types.ts';
import type { UsageFields } from '../../../harness/profile.ts';
import { isRecord, noteFile } from '../../../local/private-file.ts';
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

interface Report {
  body: Body<'reportUsage'>;
  idempotencyKey: string;
  /** Since when it may have arrived, and by which token. The server knows it again by that one only, and for a day. */
  tried?: { at: number; by: string };
}

/** By the member id of the agent. */
const file = noteFile<Record<string, Report[]>>('usage.json', {}, isRecord);

/** Tells the server what each run used. What cannot be told now is kept, and told after the next run of the agent. */
export class UsageReports {
  readonly #session: Session;
  readonly #memberId: string;
  readonly #note: (text: string) => void;
  readonly #signal: AbortSignal;
  readonly #token: string;
  readonly #untold: Report[];
  /** The keys of all that it has had. */
  readonly #known: Set<string>;
  /** What was said since something was reported: it is tried again each minute for as long as it lasts. */
  readonly #said = new Set<string>();

  /** @param signal aborted, it ends what is being told. @throws Failure `config_corrupt`, `credentials_unsafe` */
  constructor(session: Session, memberId: string, note: (text: string) => void, signal: AbortSignal) {
    this.#session = session;
    this.#memberId = memberId;
    this.#note = note;
    this.#signal = signal;
    this.#token = createHash('sha256').update(session.token).digest('base64url');
    this.#untold = file.read(runtime().folders)[memberId] ?? [];
    this.#known = new Set(this.#untold.map(({ idempotencyKey }) => idempotencyKey));
  }

  async add(used: Used): Promise<void> {
    const idempotencyKey = newIdempotencyKey();
    this.#untold.push({ body: { turns: 1, ...used }, idempotencyKey });
    this.#known.add(idempotencyKey);
    await this.#keep();
    await this.tell();
  }

  /** Problems are noted, and end nothing. */
  async tell(): Promise<void> {
    if (this.#untold.length === 0) return;
    await this.#tellAll();
    await this.#keep();
  }

  async #tellAll(): Promise<void> {
    const { client } = this.#session;
    const signal = this.#signal;
    for (let next = this.#untold[0]; next; next = this.#untold[0]) {
      const { tried, ...report } = next;
      const now = { at: Date.now(), by: this.#token };
      try {
        // It would count twice.
        const forgotten = tried && (tried.by !== now.by || tried.at + DAY <= now.at);
        if (!forgotten) await client.call('reportUsage', { ...report, timeoutMs: 10_000, signal });
        this.#said.clear();
      } catch (error) {
        if (signal.aborted || (error as ClientError).delivery === 'unclear') next.tried ??= now;
        if (signal.aborted) return;
        this.#say('could not be reported', error);
        // Its seat may have another token later.
        if (isPassing(error) || (error as ClientError).code === 'unauthorized') return;
      }
      this.#untold.shift();
    }
  }

  /** What another runner of the agent has kept meanwhile stays. */
  #keep(): Promise<void> {
    return file
      .change(runtime().folders, ({ [this.#memberId]: kept = [], ...others }) => {
        const left = [...kept.filter(({ idempotencyKey: key }) => !this.#known.has(key)), ...this.#untold];
        return left.length === 0 ? others : { ...others, [this.#memberId]: left };
      })
      .catch((error: unknown) => this.#say('is not kept here', error));
  }

  #say(what: string, error: unknown): void {
    const text = `What the program used ${what}: ${error instanceof Error ? error.message : String(error)}`;
    if (!this.#said.has(text)) this.#note(text);
    this.#said.add(text);
  }
}
