/** Messages of a board as they are posted, none skipped and none twice, over as many connections as it takes. */
import { boardStream } from '../client/board-stream.ts';
import type { Client } from '../client/client.ts';
import type { Message } from '../contract/types.ts';
import type { Output } from './output.ts';
import { interruptWith } from './signals.ts';

export interface Filters {
  from?: string | undefined;
  role?: string | undefined;
  to_me?: boolean | undefined;
  roots?: boolean | undefined;
  has?: string | undefined;
  task?: string | undefined;
}

export interface FollowOptions {
  client: Client;
  board: string;
  /** The last message already shown. */
  after: number;
  filters: Filters;
  out: Output;
  show(message: Message): void;
}

/** Runs until it is interrupted, which ends it quietly. */
export async function follow(options: FollowOptions): Promise<void> {
  const { client, board, out } = options;
  const stop = new AbortController();
  interruptWith(() => stop.abort());
  const reader = new Reader(options);
  let told = false;
  const frames = boardStream(client, {
    board,
    after: options.after,
    signal: stop.signal,
    onReconnect: () => {
      if (!told) out.note('Reconnecting…');
      told = true;
      reader.missed = 0;
    },
    onConnected: () => {},
  });
  for await (const frame of frames) {
    if (frame.event === 'event' && frame.data.type === 'message.posted' && !frame.data.data_withheld)
      await reader.upTo(frame.id);
    if (frame.event === 'ready' && told) {
      out.note(`Connected again, ${reader.missed} missed.`);
      told = false;
    }
  }
}

/** Reads what is new with the reader's own fields; one read serves all events it covers. */
class Reader {
  missed = 0;
  private last: number;
  private readonly options: FollowOptions;

  constructor(options: FollowOptions) {
    this.options = options;
    this.last = options.after;
  }

  async upTo(seq: number): Promise<void> {
    const { client, board, filters, show } = this.options;
    while (this.last < seq) {
      const query = { ...filters, after: this.last, limit: 200 };
      const { data } = await client.call('listMessages', { params: { board }, query });
      for (const message of data.messages) show(message);
      this.missed += data.messages.length;
      const newest = data.messages.at(-1)?.seq ?? 0;
      // Without a further page everything up to this event was looked at, shown or filtered out.
      this.last = data.next_after ?? Math.max(seq, newest);
    }
  }
}
