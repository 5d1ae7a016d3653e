/** The daemon's state on disk, in SQLite: everything it needs after a crash. Only the daemon writes it. */
import { statSync } from 'node:fs';
import type Sqlite from 'better-sqlite3';
import type { Log } from '../log.ts';
import type { HandoffId } from '../protocol.ts';
import type { SeatRef, SessionKey } from '../refs.ts';
import type {
  ApprovalWatch,
  BindingRow,
  HandoffNotice,
  HandoffRow,
  HandoffState,
  LostRow,
  Manifest,
  PartMessage,
  PartRow,
  PartState,
  QueuedPart,
  QueueFence,
  ReceivedRow,
  SeatRow,
  SessionRow,
} from './rows.ts';

const RETENTION_MS = 7 * 86_400_000;
const MAX_HANDOFFS = 10_000;

/** The journal could not be read or written; nothing was delivered or bound. */
export class JournalError extends Error {
  constructor(cause: unknown) {
    super(`The journal could not be written: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'JournalError';
  }
}

/** Logs an error of the journal, which is temporary. @returns false for any other error */
export function logIfJournalError(log: Log, error: unknown): boolean {
  if (!(error instanceof JournalError)) return false;
  log.write('journal_error', {}, 'error');
  return true;
}

/** Runs a journal write that delivery does not depend on: a JournalError is logged and ignored. */
export function writeOrLog({ log }: { log: Log }, write: () => void): void {
  try {
    write();
  } catch (error) {
    if (!logIfJournalError(log, error)) throw error;
  }
}

interface Column {
  name: string;
  /** Position in the primary key, from 1; 0 for other columns. */
  pk: number;
}

/** The rows of a seat: the statement is given the seat as an object. */
const ofSeat = 'origin = @origin AND member_id = @member_id';

/** Every method throws `JournalError` when the disk is full or the file cannot be used. */
export class Journal {
  readonly #db: Sqlite.Database;
  readonly #prepared = new Map<string, Sqlite.Statement>();
  readonly #columns = new Map<string, Column[]>();

  constructor(db: Sqlite.Database) {
    this.#db = db;
  }

  /** Runs `fn` in one durable transaction. A nested call joins the outer transaction. */
  write<T>(fn: () => T): T {
    if (this.#db.inTransaction) return fn();
    try {
      return this.#db.transaction(fn).immediate();
    } catch (error) {
      throw isSqliteError(error) ? new JournalError(error) : error;
    }
  }

  sessions(): SessionRow[] {
    return this.#all<SessionRow>('SELECT * FROM sessions ORDER BY opened_at').map((row) => ({
      ...row,
      open: Boolean(row.open),
      turned: Boolean(row.turned),
    }));
  }

  saveSession(row: SessionRow): void {
    this.#put('sessions', { ...row, open: Number(row.open), turned: Number(row.turned) });
  }

  seats(): SeatRow[] {
    return this.#all('SELECT * FROM seats');
  }

  saveSeat(row: SeatRow): void {
    this.#put('seats', row);
  }

  bindings(): BindingRow[] {
    return this.#all('SELECT * FROM bindings ORDER BY bound_at, rowid');
  }

  saveBinding(row: BindingRow): void {
    this.#put('bindings', row);
  }

  removeBinding(seat: SeatRef): void {
    this.#run(`DELETE FROM bindings WHERE ${ofSeat}`, seat);
  }

  lostOf(session: SessionKey): LostRow[] {
    return this.#all('SELECT * FROM lost WHERE session_key = ? ORDER BY at', session);
  }

  saveLost(row: LostRow): void {
    this.#put('lost', row);
  }

  /** Records that a session was told that it lost a seat. */
  saveToldOfLost(session: SessionKey, seat: SeatRef): void {
    this.#run(`UPDATE lost SET told = 1 WHERE session_key = ? AND ${ofSeat}`, session, seat);
  }

  removeLost(session: SessionKey, seat: SeatRef): void {
    this.#run(`DELETE FROM lost WHERE session_key = ? AND ${ofSeat}`, session, seat);
  }

  saveManifest({ handoff, parts, messages, notices }: Manifest): void {
    this.write(() => {
      // A repeated handoff replaces its earlier manifest.
      this.#run('DELETE FROM handoffs WHERE id = ?', handoff.id);
      this.#put('handoffs', handoff);
      for (const part of parts) this.#put('parts', part);
      for (const message of messages) this.#put('part_messages', message);
      for (const notice of notices) this.#put('notices_told', { ...notice, at: handoff.created_at });
    });
  }

  handoff(id: HandoffId): HandoffRow | null {
    return this.#one('SELECT * FROM handoffs WHERE id = ?', id);
  }

  updateHandoff(id: HandoffId, change: Partial<Omit<HandoffRow, 'id'>>): void {
    const set = Object.keys(change).map((name) => `${name} = ?`);
    this.#run(`UPDATE handoffs SET ${set.join(', ')} WHERE id = ?`, ...Object.values(change), id);
  }

  manifest(id: HandoffId): Manifest | null {
    const handoff = this.handoff(id);
    if (!handoff) return null;
    return {
      handoff,
      parts: this.#all('SELECT * FROM parts WHERE handoff_id = ?', id),
      messages: this.#all('SELECT * FROM part_messages WHERE handoff_id = ? ORDER BY rowid', id),
      notices: this.#all('SELECT * FROM notices_told WHERE handoff_id = ?', id),
    };
  }

  handoffsIn(states: readonly HandoffState[], session?: SessionKey): HandoffRow[] {
    const where = session === undefined ? '' : ' AND session_key = ?';
    const values = session === undefined ? states : [...states, session];
    return this.#all(
      `SELECT * FROM handoffs WHERE state IN (${placeholders(states)})${where} ORDER BY created_at`,
      ...values,
    );
  }

  setPart(id: HandoffId, seat: SeatRef, state: PartState): void {
    this.#run(`UPDATE parts SET state = ? WHERE handoff_id = ? AND ${ofSeat}`, state, id, seat);
  }

  /** Parts of a seat in unfinished handoffs, with their handoff's state, last message and number of notices. */
  partsOf(
    seat: SeatRef,
    states: readonly PartState[],
  ): (PartRow & { handoff_state: HandoffState; last_seq: number; notices: number })[] {
    return this.#all(
      `SELECT parts.*, handoffs.state AS handoff_state,
        COALESCE((SELECT MAX(seq) FROM part_messages AS m WHERE m.handoff_id = parts.handoff_id
          AND m.origin = parts.origin AND m.member_id = parts.member_id), 0) AS last_seq,
        (SELECT COUNT(*) FROM notices_told AS told WHERE told.handoff_id = parts.handoff_id
          AND told.origin = parts.origin AND told.member_id = parts.member_id) AS notices
      FROM parts JOIN handoffs ON handoffs.id = parts.handoff_id
      WHERE parts.origin = @origin AND parts.member_id = @member_id AND parts.state IN (${placeholders(states)})
        AND handoffs.state NOT IN ('done', 'ended') ORDER BY handoffs.created_at`,
      seat,
      ...states,
    );
  }

  /** A seat's messages in handoffs of these states. */
  messagesIn(seat: SeatRef, states: readonly HandoffState[]): PartMessage[] {
    return this.#all(
      `SELECT m.* FROM part_messages AS m
      JOIN parts ON parts.handoff_id = m.handoff_id AND parts.origin = m.origin AND parts.member_id = m.member_id
      JOIN handoffs ON handoffs.id = m.handoff_id
      WHERE parts.origin = @origin AND parts.member_id = @member_id AND parts.state IN ('open', 'confirmed')
        AND handoffs.state IN (${placeholders(states)}) ORDER BY m.rowid`,
      seat,
      ...states,
    );
  }

  /** What this boot added to the queue of the session's program and has not left it, oldest first. */
  queuedParts(session: SessionKey, boot: string): QueuedPart[] {
    return this.#all(
      `SELECT m.*, handoffs.state, handoffs.turn_id FROM handoffs JOIN part_messages AS m ON m.handoff_id = handoffs.id
      WHERE handoffs.session_key = ? AND handoffs.state IN ('handed', 'confirmed', 'done') AND handoffs.boot = ?
        AND handoffs.path = 'queue' AND handoffs.turn_at IS NULL ORDER BY handoffs.created_at, m.rowid`,
      session,
      boot,
    );
  }

  /** A seat's notices in handoffs of these states. */
  noticesIn(seat: SeatRef, states: readonly HandoffState[]): HandoffNotice[] {
    return this.#all(
      `SELECT told.origin, told.member_id, told.notice_id, told.handoff_id FROM notices_told AS told
      JOIN parts ON parts.handoff_id = told.handoff_id AND parts.origin = told.origin AND parts.member_id = told.member_id
      JOIN handoffs ON handoffs.id = told.handoff_id
      WHERE told.origin = @origin AND told.member_id = @member_id AND parts.state IN ('open', 'confirmed')
        AND handoffs.state IN (${placeholders(states)})`,
      seat,
      ...states,
    );
  }

  /** Forgets a notice of a handoff that need not be told again. */
  dropNotice(id: HandoffId, noticeId: string): void {
    this.#run('DELETE FROM notices_told WHERE handoff_id = ? AND notice_id = ?', id, noticeId);
  }

  /** Messages delivered truncated at a tool boundary of this boot: they are not delivered at another one. */
  truncatedInBoot(seat: SeatRef, session: SessionKey, boot: string): PartMessage[] {
    return this.#all(
      `SELECT m.* FROM part_messages AS m JOIN handoffs ON handoffs.id = m.handoff_id
      WHERE m.origin = @origin AND m.member_id = @member_id AND m.form = 'truncated' AND handoffs.path = 'tool'
        AND handoffs.session_key = ? AND handoffs.boot = ? AND handoffs.state IN ('prepared', 'handed', 'confirmed', 'done')`,
      seat,
      session,
      boot,
    );
  }

  /** Messages given in part since then; those of a tool boundary are given whole later. */
  truncatedSince(at: number): PartMessage[] {
    return this.#all(
      `SELECT m.* FROM handoffs JOIN part_messages AS m ON m.handoff_id = handoffs.id
      WHERE handoffs.created_at >= ? AND handoffs.state IN ('handed', 'confirmed', 'done') AND m.form = 'truncated'
        AND handoffs.path <> 'tool'
      ORDER BY handoffs.created_at`,
      at,
    );
  }

  /** Number of urgent messages from other agents delivered in this turn. */
  peersInTurn(session: SessionKey, boot: string, turnId: number): number {
    const row = this.#one<{ peers: number | null }>(
      `SELECT SUM(peers) AS peers FROM handoffs WHERE session_key = ? AND boot = ? AND turn_id = ?
        AND state NOT IN ('pending', 'ended')`,
      session,
      boot,
      turnId,
    );
    return row?.peers ?? 0;
  }

  received(seat: SeatRef): ReceivedRow[] {
    return this.#all(`SELECT * FROM received WHERE ${ofSeat} ORDER BY seq`, seat);
  }

  saveReceived(rows: readonly ReceivedRow[], at: number): void {
    this.write(() => {
      for (const row of rows) this.#put('received', { ...row, at });
    });
  }

  /** Forgets received messages up to the cursor. */
  dropReceived(seat: SeatRef, upTo: number): void {
    this.#run(`DELETE FROM received WHERE ${ofSeat} AND seq <= ?`, seat, upTo);
  }

  announcedUpTo(seat: SeatRef, session: SessionKey, boot: string): number {
    const sql = `SELECT up_to_seq FROM announced WHERE ${ofSeat} AND session_key = ? AND boot = ?`;
    return this.#one<{ up_to_seq: number }>(sql, seat, session, boot)?.up_to_seq ?? 0;
  }

  saveAnnounced(seat: SeatRef, session: SessionKey, boot: string, upTo: number): void {
    this.#put('announced', { ...seatColumns(seat), session_key: session, boot, up_to_seq: upTo });
  }

  dropAnnounced(seat: SeatRef): void {
    this.#run(`DELETE FROM announced WHERE ${ofSeat}`, seat);
  }

  shown(seat: SeatRef, generation: number, boot: string): { message_id: string; seq: number }[] {
    const sql = `SELECT message_id, seq FROM shown WHERE ${ofSeat} AND generation = ? AND boot = ?`;
    return this.#all(sql, seat, generation, boot);
  }

  saveShown(
    seat: SeatRef,
    generation: number,
    boot: string,
    messages: readonly { message_id: string; seq: number }[],
  ): void {
    this.write(() => {
      for (const { message_id, seq } of messages)
        this.#put('shown', { ...seatColumns(seat), generation, boot, message_id, seq });
    });
  }

  dropShown(seat: SeatRef, upTo: number): void {
    this.#run(`DELETE FROM shown WHERE ${ofSeat} AND seq <= ?`, seat, upTo);
  }

  nudged(seat: SeatRef, code: string, key: string): boolean {
    return this.#one(`SELECT 1 FROM nudges WHERE ${ofSeat} AND code = ? AND key = ?`, seat, code, key) !== null;
  }

  saveNudge(seat: SeatRef, code: string, key: string, at: number): void {
    this.#put('nudges', { ...seatColumns(seat), code, key, at });
  }

  queueFence(seat: SeatRef): QueueFence | null {
    return this.#one(`SELECT * FROM queue_fence WHERE ${ofSeat}`, seat);
  }

  saveQueueFence(row: QueueFence): void {
    this.#put('queue_fence', row);
  }

  watchApproval(row: ApprovalWatch & { at: number }): void {
    this.#put('approval_watches', row);
  }

  approvalWatches(): ApprovalWatch[] {
    return this.#all('SELECT origin, member_id, approval_id, session_key, boot FROM approval_watches ORDER BY at');
  }

  endApprovalWatch({ origin, approval_id }: ApprovalWatch): void {
    this.#run('DELETE FROM approval_watches WHERE origin = ? AND approval_id = ?', origin, approval_id);
  }

  /** Deletes what is finished and older than 7 days, and all finished beyond 10,000. */
  prune(now: number): void {
    const finished = "state IN ('done', 'ended')";
    this.write(() => {
      this.#run(`DELETE FROM handoffs WHERE ${finished} AND created_at < ?`, now - RETENTION_MS);
      this.#run(
        `DELETE FROM handoffs WHERE ${finished} AND id NOT IN
          (SELECT id FROM handoffs ORDER BY created_at DESC LIMIT ${MAX_HANDOFFS})`,
      );
      this.#run('DELETE FROM nudges WHERE at < ?', now - 90 * 86_400_000);
      this.#run('DELETE FROM approval_watches WHERE at < ?', now - RETENTION_MS);
      // Sessions that ended long ago and have no seats.
      this.#run(
        'DELETE FROM sessions WHERE open = 0 AND closed_at < ? AND key NOT IN (SELECT session_key FROM bindings)',
        now - RETENTION_MS,
      );
      this.#run('DELETE FROM lost WHERE session_key NOT IN (SELECT key FROM sessions)');
      for (const table of ['announced', 'shown'])
        this.#run(`DELETE FROM ${table} WHERE boot NOT IN (SELECT boot FROM sessions)`);
    });
  }

  bytes(): number {
    return ['', '-wal'].reduce((sum, end) => {
      return sum + (statSync(this.#db.name + end, { throwIfNoEntry: false })?.size ?? 0);
    }, 0);
  }

  close(): void {
    this.#db.close();
  }

  #all<Row>(sql: string, ...values: unknown[]): Row[] {
    return this.#wrapErrors(() => this.#statement(sql).all(...values) as Row[]);
  }

  #one<Row>(sql: string, ...values: unknown[]): Row | null {
    return this.#wrapErrors(() => (this.#statement(sql).get(...values) as Row | undefined) ?? null);
  }

  #run(sql: string, ...values: unknown[]): void {
    this.#wrapErrors(() => this.#statement(sql).run(...values));
  }

  /** Inserts or replaces a row. Fields that are not columns are ignored. */
  #put(table: string, row: object): void {
    const info = this.#columnsOf(table);
    const columns = info.map(({ name }) => name);
    const keys = info.filter(({ pk }) => pk > 0).map(({ name }) => name);
    const set = columns.filter((name) => !keys.includes(name)).map((name) => `${name} = excluded.${name}`);
    const values = row as Record<string, unknown>;
    this.#run(
      `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${placeholders(columns)})
      ON CONFLICT (${keys.join(', ')}) DO ${set.length > 0 ? `UPDATE SET ${set.join(', ')}` : 'NOTHING'}`,
      ...columns.map((name) => values[name] ?? null),
    );
  }

  #columnsOf(table: string): Column[] {
    const known = this.#columns.get(table);
    if (known) return known;
    const columns = this.#wrapErrors(() => this.#db.pragma(`table_info(${table})`) as Column[]);
    this.#columns.set(table, columns);
    return columns;
  }

  #statement(sql: string): Sqlite.Statement {
    const known = this.#prepared.get(sql);
    if (known) return known;
    const statement = this.#db.prepare(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }

  #wrapErrors<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw isSqliteError(error) ? new JournalError(error) : error;
    }
  }
}

const isSqliteError = (error: unknown): boolean =>
  String((error as { code?: unknown } | null)?.code).startsWith('SQLITE_');
const seatColumns = ({ origin, member_id }: SeatRef): SeatRef => ({ origin, member_id });
const placeholders = (values: readonly unknown[]): string => values.map(() => '?').join(', ');
