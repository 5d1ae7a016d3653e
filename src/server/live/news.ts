/** One read of what is new on a board, and its frames: serialised once for each kind of reader. */

import type { StoredPolicy } from '../../contract/policy.ts';
import type { Reader } from '../access/board-access.ts';
import type { BoardRow } from '../boards/boards.store.ts';
import type { ReadTx } from '../db/tx.ts';
import { type MessageWithContext, messagesWithSeqs } from '../messages/messages.store.ts';
import type { EventRow } from '../record/events.store.ts';
import { type Audiences, eventView, isWithheld } from '../views/event.ts';
import { loadMessages, relation, showMessages } from '../views/message.ts';
import { frame } from './frames.ts';

interface Frames {
  full: string;
  withheld: string | null;
}

interface Read {
  board: BoardRow;
  policy: StoredPolicy;
  events: readonly EventRow[];
  audiences: Audiences;
  /** Messages rendered per kind of reader, by number. */
  messages: Map<string, Map<number, string>>;
}

export class News {
  readonly board: BoardRow;
  readonly events: readonly EventRow[];
  readonly #read: Read;
  readonly #frames = new Map<number, Frames>();
  readonly #joined = new Map<string, Buffer>();

  constructor(read: Read) {
    this.#read = read;
    this.board = read.board;
    this.events = read.events;
  }

  get first(): number | null {
    return this.events[0]?.seq ?? null;
  }

  get last(): number | null {
    return this.events.at(-1)?.seq ?? null;
  }

  /** The frames after a number as this reader gets them; the same bytes for all readers of one kind. */
  framesAfter(seq: number, reader: Reader, withMessages: boolean): Buffer {
    const kind = withMessages ? messageKind(reader) : '';
    const shared = reader.readsAll && reader.showsHarness;
    const key = `${seq}|${kind}|${shared ? '' : reader.memberId}`;
    let bytes = this.#joined.get(key);
    if (!bytes) {
      const events = this.events.filter((event) => event.seq > seq);
      bytes = Buffer.from(events.map((event) => this.#framesOf(event, reader, kind)).join(''));
      this.#joined.set(key, bytes);
    }
    return bytes;
  }

  #framesOf(event: EventRow, reader: Reader, kind: string): string {
    const frames = this.#serialised(event);
    const { policy, audiences, messages } = this.#read;
    if (isWithheld(event, reader, policy, audiences)) {
      frames.withheld ??= frame('event', eventView(event, true), event.seq);
      return frames.withheld;
    }
    return frames.full + (kind === '' ? '' : (messages.get(kind)?.get(event.seq) ?? ''));
  }

  #serialised(event: EventRow): Frames {
    let frames = this.#frames.get(event.seq);
    if (!frames) {
      frames = { full: frame('event', eventView(event, false), event.seq), withheld: null };
      this.#frames.set(event.seq, frames);
    }
    return frames;
  }
}

/**
 * Readers who get the same rendering of every message of a page. What differs between two readers is how each sender
 * stands to them, so a kind is the person, and for an agent the agent itself.
 */
function messageKind(reader: Reader): string {
  return reader.kind === 'agent' ? reader.memberId : `person:${reader.personId}`;
}

/** Renders the messages posted in these events for each kind of reader. */
export async function renderMessages(
  tx: ReadTx,
  board: BoardRow,
  events: readonly EventRow[],
  readers: readonly Reader[],
): Promise<Map<string, Map<number, string>>> {
  const rendered = new Map<string, Map<number, string>>();
  const seqs = events.filter((event) => event.type === 'message.posted').map((event) => event.seq);
  if (seqs.length === 0 || readers.length === 0) return rendered;
  const rows = await messagesWithSeqs(tx, board.id, seqs);
  const loaded = await loadMessages(tx, rows);
  const alike = new Map<string, Map<number, string>>();
  for (const reader of readers) {
    const kind = messageKind(reader);
    if (rendered.has(kind)) continue;
    const likeness = likenessOf(rows, reader);
    const known = alike.get(likeness);
    const messages =
      known ?? new Map((await showMessages(tx, { board, reader }, loaded)).map((m) => [m.seq, frame('message', m)]));
    alike.set(likeness, messages);
    rendered.set(kind, messages);
  }
  return rendered;
}

/** Equal for readers to whom every one of these messages looks the same. */
function likenessOf(rows: readonly MessageWithContext[], reader: Reader): string {
  if (!reader.readsAll || !reader.showsHarness) return reader.memberId;
  // The right to answer and one's own reactions differ for each reader.
  if (rows.some((row) => row.expects_reply === 1 || row.reaction_count > 0)) return reader.memberId;
  return rows.map((row) => relation(row.sender_id, row, reader).sender).join();
}
