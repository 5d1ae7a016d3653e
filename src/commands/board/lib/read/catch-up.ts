/** What both ways of following have in common: reading new messages, and telling of reconnects. */
import type { Output } from '../../../../cli/output.ts';
import { interruptWith } from '../../../../cli/signals.ts';
import type { Client } from '../../../../client/client.ts';
import { ClientError } from '../../../../client/errors.ts';
import type { Message } from '../../../../contract/types.ts';
import type { Filters } from './filters.ts';

export interface ReaderOptions {
  client: Client;
  board: string;
  /** The last message already shown. */
  after: number;
  filters: Filters;
  show(message: Message): void;
}

/** How to read while following: as often as it takes until the server is back, as the stream is opened again. */
export const patient = { maxAttempts: Number.POSITIVE_INFINITY, timeoutMs: 0 };

/** Follows until it is interrupted, which ends it quietly. */
export async function untilInterrupted(run: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const { signal } = stop;
  interruptWith(() => stop.abort());
  try {
    await run(signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Says once that the connection is made again, and what came meanwhile once it stands. */
export function reconnecting(out: Output, reader: { missed: number }) {
  let told = false;
  return {
    lost(): void {
      if (!told) out.note('Reconnecting…');
      told = true;
      reader.missed = 0;
    },
    back(): void {
      if (told) out.note(`Connected again, ${reader.missed} missed.`);
      told = false;
    },
  };
}

/** Reads what is new with the reader's own fields; one read serves all events it covers. */
export class Reader {
  missed = 0;
  private last: number;
  private readonly options: ReaderOptions;
  private readonly signal: AbortSignal;

  constructor(options: ReaderOptions, signal: AbortSignal) {
    this.options = options;
    this.signal = signal;
    this.last = options.after;
  }

  /** Nothing up to here is shown any more. */
  skip(seq: number): void {
    this.last = Math.max(this.last, seq);
  }

  async upTo(seq: number): Promise<void> {
    const { client, board, filters, show } = this.options;
    while (this.last < seq) {
      const query = { ...filters, after: this.last, limit: 200 };
      const input = { params: { board }, query, ...patient, signal: this.signal };
      const { data } = await client.call('listMessages', input);
      for (const message of data.messages) show(message);
      this.missed += data.messages.length;
      const newest = data.messages.at(-1)?.seq ?? 0;
      // Without a further page everything up to this event was looked at, shown or filtered out.
      this.last = data.next_after ?? Math.max(seq, newest);
    }
  }
}

/** `none` where a board has nobody of the name, or of the role, that is looked for: only of one board is that an error. */
export async function unlessNobody<T>(none: T, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const code = error instanceof ClientError ? error.code : '';
    if (code === 'member_not_found' || code === 'role_not_found') return none;
    throw error;
  }
}
