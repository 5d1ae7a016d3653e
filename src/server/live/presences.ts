/**
 * Presence and lines of the agents of one board, read once for all followers: changes that were reported
 * or set, and presences and lines that expire. The first read sends nothing; later ones send what differs.
 */
import { boardById } from '../boards/boards.store.ts';
import type { Clock } from '../db/clock.ts';
import type { Database, ReadTx } from '../db/tx.ts';
import { hasLapsed, turnsAt } from '../lines/lines.rules.ts';
import { type AgentStatusRow, agentStatusesOn, lineIn } from '../seats/agent-status.store.ts';
import { presenceAt, runsOutAt, stateWord } from '../seats/presence.rules.ts';
import { timestampOrNull } from '../text/time.ts';
import { lineView } from '../views/line.ts';
import { frame } from './frames.ts';
import { Looks } from './looks.ts';
import { type Holder, type Right, rightsOn } from './rights.ts';

/** Wake-ups within this many milliseconds are merged. */
const MERGE_MS = 100;

/** A stream that gets presence frames. */
export interface Watcher {
  readonly holder: Holder;
  /** Frames by the agent they are about. */
  presences(frames: ReadonlyMap<string, string>, right: Extract<Right, { ok: true }>, boardId: string): void;
}

export class Presences {
  readonly watchers = new Set<Watcher>();
  readonly #boardId: string;
  readonly #db: Database;
  readonly #clock: Clock;
  /** The last frame of each agent; null before the first read. */
  #told: Map<string, string> | null = null;
  /** One after the other: an older one that ends later would plan and tell what is no longer so. */
  readonly #looks: Looks;
  #cancelNext = () => {};

  constructor(boardId: string, db: Database, clock: Clock) {
    this.#boardId = boardId;
    this.#db = db;
    this.#clock = clock;
    this.#looks = new Looks(clock, MERGE_MS, () => this.#look());
  }

  /** Begins from what a watcher saw in the read it opened with. */
  startFrom(statuses: readonly AgentStatusRow[], now: number): void {
    if (this.#told !== null && this.watchers.size > 0) return;
    this.#told = new Map(statuses.map((status) => [status.member_id, textOf(status, now)]));
    this.#armNext(statuses, now);
  }

  /** Something was reported or set: look soon. */
  wake(): void {
    if (this.watchers.size > 0) this.#looks.wake();
  }

  stop(): void {
    this.#cancelNext();
  }

  async #look(): Promise<void> {
    const began = this.#clock.now();
    const watchers = new Set(this.watchers);
    if (watchers.size === 0) return;
    const { frames, rights } = await this.#db.read((tx) => this.#read(tx, watchers, began), { shares: 'look' });
    if (frames.size === 0) return;
    this.#tell(watchers, frames, rights);
    // Who came meanwhile may have seen less than was read, and later looks do not tell it again.
    const late = [...this.watchers].filter((watcher) => !watchers.has(watcher));
    if (late.length === 0) return;
    const read = (tx: ReadTx) => rightsOn(tx, this.#boardId, boardById(tx, this.#boardId), holdersOf(late));
    this.#tell(late, frames, await this.#db.read(read, { shares: 'look' }));
  }

  #tell(watchers: Iterable<Watcher>, frames: ReadonlyMap<string, string>, rights: ReadonlyMap<string, Right>): void {
    for (const watcher of watchers) {
      const right = rights.get(watcher.holder.credential.digest.toString('hex'));
      // The board's feed tells a watcher that may no longer follow.
      if (right?.ok && this.watchers.has(watcher)) watcher.presences(frames, right, this.#boardId);
    }
  }

  async #read(tx: ReadTx, watchers: Iterable<Watcher>, began: number) {
    const board = await boardById(tx, this.#boardId);
    const frames = new Map<string, string>();
    if (!board || board.lifecycle === 'deleted') return { frames, rights: new Map<string, Right>() };
    const rights = await rightsOn(tx, board.id, Promise.resolve(board), holdersOf(watchers));
    const statuses = await agentStatusesOn(tx, [board.id]);
    this.#armNext(statuses, tx.now, this.#clock.now() - began);
    const told = this.#told ?? new Map<string, string>();
    this.#told = new Map(statuses.map((status) => [status.member_id, textOf(status, tx.now)]));
    for (const status of statuses) {
      const { member_id: id } = status;
      if ((told.get(id) ?? blank(status, tx.now)) === this.#told.get(id)) continue;
      frames.set(id, frame('presence', { board: board.name, board_id: board.id, ...shown(status, tx.now) }));
    }
    return { frames, rights };
  }

  /**
   * Looks again when the first presence or line ends or turns, unless it is renewed until then.
   * @param elapsed milliseconds since `now`, at most: a clock may jump while rows are read
   */
  #armNext(statuses: readonly AgentStatusRow[], now: number, elapsed = 0): void {
    this.#cancelNext();
    const turns = statuses.flatMap((status) => {
      const line = lineIn(status);
      return [runsOutAt(status), status.kept_until, line && turnsAt(line, now), status.braked_until];
    });
    const ahead = turns.filter((turn) => turn !== null && turn > now) as number[];
    if (ahead.length === 0) return;
    this.#cancelNext = this.#clock.after(Math.min(...ahead) - now + 1 - Math.max(elapsed, 0), () => this.wake());
  }
}

const holdersOf = (watchers: Iterable<Watcher>): Holder[] => Array.from(watchers, ({ holder }) => holder);

function shown(status: AgentStatusRow, now: number) {
  const { presence, since } = presenceAt(status, now);
  const held = lineIn(status);
  const line = held && !hasLapsed(held, status, now) ? held : null;
  return {
    agent: status.name,
    member_id: status.member_id,
    presence,
    presence_since: timestampOrNull(since),
    delivery: status.delivery,
    line: line && lineView(line, line.task),
    state: stateWord(presence, line, now, (status.braked_until ?? 0) > now),
  };
}

/** What differs once anything is to be told again, such as another question, which is read by its person alone. */
const textOf = (status: AgentStatusRow, now: number): string => JSON.stringify([shown(status, now), status.revision]);

/** The presence of an agent before its first report. */
const blank = (status: AgentStatusRow, now: number): string => {
  const nothing = { presence: null, presence_since: null, reported_at: null, delivery: null, revision: null };
  return textOf({ ...status, ...nothing, line_kind: null, braked_until: null }, now);
};
