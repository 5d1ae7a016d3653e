/**
 * The hash chain of a board's record and its check. No Node built-ins: the page checks with the same code as the
 * command line, each bringing its own SHA-256.
 */
import { canonicalJson } from './canonical.ts';
import type { BoardEvent } from './types.ts';

/** `prev_hash` of a board's first event. */
export const ZERO_HASH = `sha256:${'0'.repeat(64)}`;

/** SHA-256 of a text's UTF-8 bytes as 64 lower-case hex digits, without a prefix. */
export type Sha256 = (text: string) => string | Promise<string>;

/** An event of the record, known to be what the client saw last time. `hash` carries its `sha256:` prefix. */
export interface ChainPoint {
  seq: number;
  hash: string;
}

export type ProblemReason =
  | 'board_mismatch'
  | 'seq_gap'
  | 'duplicate_id'
  | 'prev_hash_mismatch'
  | 'hash_mismatch'
  | 'payload_unexpected'
  | 'payload_missing'
  | 'data_hash_mismatch'
  | 'history_rewritten'
  | 'history_lost'
  | 'truncated';

/** The first thing that is wrong with a record, and at which event. */
export interface Problem {
  seq: number;
  reason: ProblemReason;
}

/** What an event's `hash` covers. The data is covered through `data_hash`, so that it can be withheld. */
type Envelope = Pick<BoardEvent, 'actor' | 'at' | 'board_id' | 'data_hash' | 'id' | 'prev_hash' | 'seq' | 'type'>;

/**
 * The text whose SHA-256 is an event's `hash`: the canonical JSON (RFC 8785) of its eight envelope fields.
 *
 * @throws Error when a field is missing or holds what the record cannot hold.
 */
export function envelopeText(event: Envelope): string {
  return canonicalJson({
    actor: event.actor,
    at: event.at,
    board_id: event.board_id,
    data_hash: event.data_hash,
    id: event.id,
    prev_hash: event.prev_hash,
    seq: event.seq,
    type: event.type,
  });
}

/** Null instead of an error: what cannot be written canonically cannot have been hashed, so it matches no hash. */
function textOrNull(write: () => string): string | null {
  try {
    return write();
  } catch {
    return null;
  }
}

export interface ChainOptions {
  sha256: Sha256;
  /** Where the last successful check ended. */
  pinned?: ChainPoint;
  /** Start after this event instead of at the first one; only a pinned event may stand here. */
  from?: ChainPoint;
}

/**
 * Checks a board's record event by event, in the order of `seq` and without keeping the events. The first problem
 * ends it: `add` and `finish` then repeat that problem.
 */
export class ChainVerifier {
  /** How many events passed. */
  events = 0;
  /** How many of them came with their data, and it matched. */
  payloadsChecked = 0;
  /** How many of them came with their data withheld. */
  payloadsWithheld = 0;
  /** The last event that passed: what to pin when `finish` finds no problem. */
  head: ChainPoint | null;
  problem: Problem | null = null;

  private readonly boardId: string;
  private readonly sha256: Sha256;
  private readonly pinned: ChainPoint | undefined;
  private readonly from: ChainPoint | undefined;
  private readonly ids = new Set<unknown>();
  private prev: string;
  private want: number;

  constructor(boardId: string, options: ChainOptions) {
    this.boardId = boardId;
    this.sha256 = options.sha256;
    this.pinned = options.pinned;
    this.from = options.from;
    this.head = options.from ?? null;
    this.prev = options.from?.hash ?? ZERO_HASH;
    this.want = (options.from?.seq ?? 0) + 1;
  }

  /**
   * Checks the next event, as it came from the server: nothing about its shape is taken for granted. Wait for the
   * answer before adding the next one.
   */
  async add(event: unknown): Promise<Problem | null> {
    if (this.problem) return this.problem;
    const record = (typeof event === 'object' && event !== null ? event : {}) as Partial<BoardEvent>;

    if (record.board_id !== this.boardId) {
      return this.found('board_mismatch', Number.isSafeInteger(record.seq) ? record.seq : this.want);
    }
    if (record.seq !== this.want) return this.found('seq_gap');
    if (this.ids.has(record.id)) return this.found('duplicate_id');
    if (record.prev_hash !== this.prev) return this.found('prev_hash_mismatch');
    const hash = await this.digest(textOrNull(() => envelopeText(record as Envelope)));
    if (hash === null || hash !== record.hash) return this.found('hash_mismatch');

    const hasData = Object.hasOwn(record, 'data');
    const withheld = Boolean(record.data_withheld);
    if (hasData && withheld) return this.found('payload_unexpected');
    if (!hasData && !withheld) return this.found('payload_missing');
    if (hasData) {
      const dataHash = await this.digest(textOrNull(() => canonicalJson(record.data)));
      if (dataHash === null || dataHash !== record.data_hash) return this.found('data_hash_mismatch');
    }
    if (this.pinned?.seq === this.want && this.pinned.hash !== hash) return this.found('history_rewritten');

    this.ids.add(record.id);
    this.events++;
    if (hasData) this.payloadsChecked++;
    else this.payloadsWithheld++;
    this.head = { seq: this.want, hash };
    this.prev = hash;
    this.want++;
    return null;
  }

  /**
   * The verdict once the server has no more events.
   *
   * @param headSeq `head_seq` of the first page, so that a log which ends before it is found out.
   */
  finish(headSeq: number): Problem | null {
    if (this.problem) return this.problem;
    // A log that ends before the start point delivers nothing, and nothing would be found wrong with it.
    if (this.from && headSeq < this.from.seq) return this.found('history_lost', headSeq + 1);
    if (this.pinned && this.want - 1 < this.pinned.seq) return this.found('history_lost');
    if (this.want - 1 < headSeq) return this.found('truncated');
    return null;
  }

  private found(reason: ProblemReason, seq: number = this.want): Problem {
    this.problem = { seq, reason };
    return this.problem;
  }

  private async digest(text: string | null): Promise<string | null> {
    return text === null ? null : `sha256:${await this.sha256(text)}`;
  }
}
