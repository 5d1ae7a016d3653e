/** What both ways of following have in common: reading new messages, and telling of reconnects. */
import type { Output } from '../../../../cli/output.ts';
import { interruptWith } from '../../../../cli/signals.ts';
import type { CallInput, Client } from '../../../../client/client.ts';
import { ClientError } from '../../../../client/errors.ts';
import { untilAnswered } from '../../../../client/streams.ts';
import type { Message } from '../../../../contract/types.ts';
import type { Filters } from './filters.ts';

export interface ReaderOptions {
  board: string;
  /** The last message already shown. */
  after: number;
  filters: Filters;
  show(message: Message): void;
}

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

/** What failed: the stream, or a read of what it told of. */
type Part = 'stream' | 'read';

/** What is followed: says once that the connection is made again, and what came meanwhile once it stands. */
export class Connection {
  readonly #client: Client;
  readonly #out: Output;
  readonly #signal: AbortSignal;
  #lost: Part | undefined;
  #missed = 0;

  constructor(client: Client, out: Output, signal: AbortSignal) {
    this.#client = client;
    this.#out = out;
    this.#signal = signal;
  }

  lost(part: Part): void {
    if (this.#lost) return;
    this.#out.note('Reconnecting…');
    this.#lost = part;
    this.#missed = 0;
  }

  came(count: number): void {
    this.#missed += count;
  }

  /** @param part told only where this was lost first. */
  back(part: Part): void {
    if (this.#lost !== part) return;
    this.#out.note(`Connected again, ${this.#missed} missed.`);
    this.#lost = undefined;
  }

  /** Reads as often as it takes until the server is back. */
  read<Name extends 'listMessages' | 'getBoard'>(name: Name, input: CallInput<Name>) {
    const signal = this.#signal;
    return untilAnswered(this.#client, { signal, onReconnect: () => this.lost('read') }, () =>
      this.#client.call(name, { ...input, maxAttempts: 1, timeoutMs: 0, signal }),
    );
  }
}

/** Reads what is new with the reader's own fields; one read serves all events it covers. */
export class Reader {
  private last: number;
  private readonly options: ReaderOptions;
  private readonly connection: Connection;

  constructor(options: ReaderOptions, connection: Connection) {
    this.options = options;
    this.connection = connection;
    this.last = options.after;
  }

  /** Nothing up to here is shown any more. */
  skip(seq: number): void {
    this.last = Math.max(this.last, seq);
  }

  async upTo(seq: number): Promise<void> {
    const { board, filters, show } = this.options;
    while (this.last < seq) {
      const query = { ...filters, after: this.last, limit: 200 };
      const { data } = await this.connection.read('listMessages', { params: { board }, query });
      for (const message of data.messages) show(message);
      this.connection.came(data.messages.length);
      const newest = data.messages.at(-1)?.seq ?? 0;
      // Without a further page everything up to this event was looked at, shown or filtered out.
      this.last = data.next_after ?? Math.max(seq, newest);
    }
    this.connection.back('read');
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
