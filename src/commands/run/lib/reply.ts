/** Posts a program's output as a reply to its newest message, exactly once. */
import type { Session } from '../../../cli/session/open-session.ts';
import { ClientError } from '../../../client/errors.ts';
import { errors } from '../../../contract/errors.ts';
import { MAX_BODY } from '../../../contract/text.ts';
import { truncated } from '../../board/lib/post/body.ts';
import { KEPT, type Outcome } from './child.ts';

/** The newest message of a bundle. Bodies cannot look like the tags that are read here: their brackets are escaped. */
export function newestOf(bundle: string): { board: string; seq: number } | null {
  const messages = [...bundle.matchAll(/^<service-message board="([a-z0-9-]+)"[^>\n]*? seq="(\d+)"/gm)];
  const found = messages.map(([, board, seq]) => ({ board: board!, seq: Number(seq) }));
  return found.toSorted((a, b) => b.seq - a.seq)[0] ?? null;
}

/** Refusals that a person can end: by restoring the board, by making room. */
const PASSING = new Set(['board_archived', 'storage_full']);

/** Whether the same request may be answered later. */
export const isPassing = (error: unknown): boolean =>
  error instanceof ClientError && (error.transient || PASSING.has(error.code));

/** Posts what a program answered, and keeps it while that cannot be done, so that the program need not run again for it. */
export class Answers {
  readonly #session: Session;
  readonly #note: (text: string) => void;
  readonly #signal: AbortSignal;
  readonly #kept = new Map<string, string>();
  /** What was said last. */
  #told = '';

  /** @param signal aborted, it ends what is being posted */
  constructor(session: Session, note: (text: string) => void, signal: AbortSignal) {
    this.#session = session;
    this.#note = note;
    this.#signal = signal;
  }

  has(handoff: string): boolean {
    return this.#kept.has(handoff);
  }

  /** @param text without it, what is kept of this handoff */
  async post(handoff: string, bundle: string, text = this.#kept.get(handoff) ?? ''): Promise<Outcome> {
    this.#kept.set(handoff, text);
    try {
      await this.#replyWith(bundle, text);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const refusal = error instanceof ClientError ? error : null;
      // A server that is away for long is no failure of the program, after some of which it would be given nothing more.
      const passing = isPassing(error);
      const kept = passing ? ', and is kept until it can be' : '';
      const reason = `The reply could not be posted${kept}: ${error.message} ${refusal?.hint ?? ''}`.trimEnd();
      this.#noteOnce(`${handoff} ${refusal?.code}`, reason);
      if (passing) return { kind: 'later' };
      // What the server refuses it refuses at each try, unless the token is replaced; the program has done its part.
      if (!refusal || !Object.hasOwn(errors, refusal.code) || refusal.code === 'unauthorized')
        return { kind: 'failed', reason, told: true };
    }
    this.#kept.delete(handoff);
    return { kind: 'done', output: text };
  }

  /** It is tried again each minute for as long as it lasts. */
  #noteOnce(what: string, reason: string): void {
    if (what !== this.#told) this.#note(reason);
    this.#told = what;
  }

  /** Posts it before the bundle counts as received. One that another try has posted already is a success. */
  async #replyWith(bundle: string, text: string): Promise<void> {
    const { client } = this.#session;
    const signal = this.#signal;
    const beyond = { lines: 0, characters: 0, more: text.length >= KEPT };
    const body = truncated(text.replace(/\n$/, ''), 'head', MAX_BODY, beyond);
    const newest = newestOf(bundle);
    if (!newest || body.trim() === '') return;
    const { board, seq } = newest;
    const { data } = await client.call('getMessageBySeq', { params: { board, seq }, signal });
    const call = {
      params: { board },
      body: { body, reply_to: data.message.id },
      idempotencyKey: `run-${data.message.id}`,
      signal,
    };
    try {
      const { data: posted } = await client.call('postMessage', call);
      if (posted.held)
        this.#note(
          `The reply is held: agents have posted ${posted.agent_run ?? 'many'} messages in a row there. A person may let them go on.`,
        );
    } catch (error) {
      if (!(error instanceof ClientError) || error.code !== 'idempotency_conflict') throw error;
    }
  }
}
