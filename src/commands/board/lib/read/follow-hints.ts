/** Follows several boards by hints that a board has grown, and reads what is new. */
import type { Output } from '../../../../cli/output.ts';
import type { Client } from '../../../../client/client.ts';
import { ClientError } from '../../../../client/errors.ts';
import { type HintFrame, hintStream } from '../../../../client/hint-stream.ts';
import type { Message } from '../../../../contract/types.ts';
import { Connection, Reader, unlessNobody, untilInterrupted } from './catch-up.ts';
import type { Filters } from './filters.ts';

export type Head = Extract<HintFrame, { event: 'head' }>['data'];

interface HintFollowOptions {
  client: Client;
  /** Left out: every board, also those that the person comes onto later. */
  boards?: string[];
  filters: Filters;
  out: Output;
  /** The last message of each board, by its id, that is shown already, once the boards are known. */
  begin(heads: Head[]): Promise<Map<string, number>>;
  show(message: Message): void;
  /** What follows when a board can no longer be read; by default the others go on. */
  lost?(boardId: string): Promise<void>;
}

/** Runs until it is interrupted, which ends it quietly. Every connection tells all ends anew, so nothing is missed. */
export const followHints = (options: HintFollowOptions): Promise<void> =>
  untilInterrupted(async (signal) => {
    const { client, boards, out } = options;
    const connection = new Connection(client, out, signal);
    const readers = new Readers(options, connection);
    let opening: Head[] | null = [];
    const frames = hintStream(client, {
      events: ['head'],
      ...(boards ? { boards } : {}),
      signal,
      onReconnect: () => connection.lost('stream'),
    });
    for await (const { event, data } of frames) {
      if (event === 'head' && opening) opening.push(data);
      else if (event === 'head') await readers.upTo(data);
      // With a member it tells of one of the person's seats; the person may still read the board.
      else if (event === 'board_unavailable' && !data.member_id) await readers.forget(data.board_id);
      else if (event === 'ready') {
        if (opening) await readers.begin(opening);
        opening = null;
        connection.back('stream');
      }
    }
  });

class Readers {
  readonly #options: HintFollowOptions;
  readonly #connection: Connection;
  readonly #readers = new Map<string, Reader>();

  constructor(options: HintFollowOptions, connection: Connection) {
    this.#options = options;
    this.#connection = connection;
  }

  async begin(heads: Head[]): Promise<void> {
    const shown = await this.#options.begin(heads);
    for (const head of heads) this.#add(head, shown.get(head.board_id) ?? head.seq);
    for (const head of heads) await this.upTo(head);
  }

  async upTo(head: Head): Promise<void> {
    const { board_id: id, seq } = head;
    try {
      const reader = this.#readers.get(id) ?? (await this.#arrived(head));
      await unlessNobody(undefined, () => reader.upTo(seq));
      reader.skip(seq);
    } catch (error) {
      if (!boardIsGone(error)) throw error;
      await this.forget(id);
    }
  }

  async forget(boardId: string): Promise<void> {
    this.#readers.delete(boardId);
    await this.#options.lost?.(boardId);
  }

  /** A board that its person came onto meanwhile is shown from that moment on: everything before counts as read. */
  async #arrived(head: Head): Promise<Reader> {
    const { data } = await this.#connection.read('getBoard', { params: { board: head.board } });
    return this.#add(head, data.read_up_to ?? data.head_seq);
  }

  #add({ board, board_id: id }: Head, after: number): Reader {
    const { filters, show } = this.#options;
    const reader = new Reader({ board, filters, show, after }, this.#connection);
    this.#readers.set(id, reader);
    return reader;
  }
}

/** Lost between a hint and the read that follows it. */
export const boardIsGone = (error: unknown): boolean =>
  error instanceof ClientError && (error.code === 'board_not_found' || error.code === 'not_on_board');
