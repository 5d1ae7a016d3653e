/** A stream in hint mode: what moved on any board of a person. State, never content; the newest state wins. */
import { Refusal } from '../../contract/errors.ts';
import { type BoardRow, listBoardRows } from '../boards/boards.store.ts';
import type { Clock } from '../db/clock.ts';
import type { Database, ReadTx } from '../db/tx.ts';
import { personUnread } from '../inbox/unread.rules.ts';
import type { MemberPosition } from '../members/member.rules.ts';
import type { MemberRow } from '../members/members.store.ts';
import { activeAgentsOfPerson, ownMemberships } from '../members/memberships.store.ts';
import { authenticate } from '../operation/caller.ts';
import { type AgentStatusRow, agentStatusesOn } from '../seats/agent-status.store.ts';
import { idsIn, indexBy } from '../text/rows.ts';
import type { Connection } from './connection.ts';
import type { Feed, Follower } from './feed.ts';
import { type EndReason, frame } from './frames.ts';
import { type Bound, Looks, MERGE_MS } from './looks.ts';
import type { News } from './news.ts';
import { OwnAgents } from './own-agents.ts';
import { OwnRequests, requestsOf } from './own-requests.ts';
import type { Watcher } from './presences.ts';
import type { Holder, Right } from './rights.ts';

/** `boards` says only that something changed; at most one in this many milliseconds. */
const BOARDS_MS = 1_000;
/** Events that change what a board list shows. */
const FACE = /^board\.(titled|visibility_changed|archived|restored|deleted|created)$/;

interface HintStreamOptions {
  db: Database;
  clock: Clock;
  /** What refreshes share. */
  bound: Bound;
  connection: Connection;
  holder: Holder;
  feedOf(boardId: string): Feed;
  /** Names or ids; null: every board. */
  boards: ReadonlySet<string> | null;
  /** Frames wanted; null: every one. */
  events: ReadonlySet<string> | null;
}

interface State {
  serverRole: string;
  boards: BoardRow[];
  memberships: MemberRow[];
  agents: MemberRow[];
  /** Null: nothing of it was read. */
  requests: Awaited<ReturnType<typeof requestsOf>> | null;
}

interface Shown {
  feed: Feed;
  name: string;
  seq: number;
  readUpTo: number;
  unread: number;
}

/** Frames no filter holds back. */
const ALWAYS = new Set(['ready', 'board_unavailable', 'end']);

const presenceKey = (boardId: string, memberId: string): string => `presence ${boardId} ${memberId}`;

export class HintStream implements Follower, Watcher {
  readonly holder: Holder;
  readonly wantsMessages = false;
  readonly #options: HintStreamOptions;
  readonly #shown = new Map<string, Shown>();
  readonly #agents = new OwnAgents();
  readonly #requests = new OwnRequests();
  /** What agents asked for has to be read again. */
  #asked = true;
  /** The agents as they were in the last read, on boards that were not shown before. */
  #statuses: { byBoard: Map<string, AgentStatusRow[]>; now: number } = { byBoard: new Map(), now: 0 };
  /** What waits for the socket: one entry per frame name and board or member. */
  readonly #pending = new Map<string, string>();
  /** The boards of the last read and the person's server role, which decide what a board list shows; null before the first. */
  #listed: string | null = null;
  readonly #refreshes: Looks;
  readonly #boardLooks: Looks;

  constructor(options: HintStreamOptions) {
    this.#options = options;
    this.holder = options.holder;
    this.#boardLooks = new Looks(options.clock, BOARDS_MS, async () => {
      this.#put('boards', '', {});
      this.#flush();
    });
    this.#refreshes = new Looks(options.clock, MERGE_MS, () => options.bound(() => this.#refresh()));
    options.connection.serve(this);
    this.refresh();
  }

  drained(): void {
    this.#flush();
  }

  closed(): void {
    this.#leaveAll();
  }

  tick(): void {
    this.refresh();
  }

  recheck(): void {
    this.refresh();
  }

  news(news: News, { member }: Extract<Right, { ok: true }>): void {
    if (!member) return;
    this.#show(news.board, member);
    if (news.events.some((event) => FACE.test(event.type))) this.boardsChanged();
    this.#flush();
  }

  lost(right: Extract<Right, { ok: false }>, boardId: string): void {
    if (right.reason === 'credential_ended') this.end('credential_ended');
    else this.#hide(boardId);
    this.#flush();
  }

  end(reason: EndReason): void {
    this.#leaveAll();
    this.#options.connection.end(reason);
  }

  /** The set of visible boards, or how one of them is shown, changed. */
  boardsChanged(): void {
    this.#boardLooks.wake();
  }

  /** Something of what agents ask for changed; the next look reads it. */
  requestsChanged(): void {
    this.#asked = true;
    this.refresh();
  }

  /** Reads every board and own agent again; the first time this is the whole burst. */
  refresh(): void {
    this.#refreshes.wake();
  }

  async #refresh(): Promise<void> {
    const { db, connection } = this.#options;
    if (!connection.open) return;
    // What changes from here on may be missing in the snapshot, and is read again.
    const asked = this.#asked;
    this.#asked = false;
    try {
      const state = await db.read((tx) => this.#read(tx, asked));
      if (connection.open) this.#apply(state);
    } catch (error) {
      if (!(error instanceof Refusal)) {
        this.#asked = true;
        throw error;
      }
      this.end('credential_ended');
    }
  }

  async #read(tx: ReadTx, asked: boolean): Promise<State> {
    const { person } = await authenticate(tx, this.holder.credential);
    const scope = { personId: person.person_id, open: false, lifecycle: 'all' as const, limit: 100_000 };
    const boards = await listBoardRows(tx, scope);
    const memberships = await ownMemberships(tx, person.person_id, idsIn(boards));
    const unknown = idsIn(boards).filter((id) => !this.#shown.has(id));
    const statuses = unknown.length > 0 ? await agentStatusesOn(tx, unknown) : [];
    this.#statuses = { byBoard: Map.groupBy(statuses, (row) => row.board_id), now: tx.now };
    const requests = asked ? await requestsOf(tx, person) : null;
    const agents = await activeAgentsOfPerson(tx, person.person_id);
    return { serverRole: person.server_role, boards, memberships, agents, requests };
  }

  #apply(state: State): void {
    const mine = indexBy(state.memberships, 'board_id');
    const present = new Set(idsIn(state.boards));
    for (const boardId of [...this.#shown.keys()]) {
      if (!present.has(boardId)) this.#hide(boardId);
    }
    for (const board of state.boards) {
      const member = mine.get(board.id);
      if (member) this.#show(board, member);
    }
    const changes = this.#agents.take(state.agents, (boardId) => this.#shown.get(boardId)?.name);
    if (state.requests) changes.push(...this.#requests.take(state.requests));
    for (const [name, about, data] of changes) this.#put(name, about, data);
    const listed = [state.serverRole, ...idsIn(state.boards)].join();
    if (this.#listed === null) this.#put('ready', '', { boards: this.#shown.size });
    else if (this.#listed !== listed) this.boardsChanged();
    this.#listed = listed;
    this.#flush();
  }

  #show(board: BoardRow, member: MemberPosition): void {
    const { boards } = this.#options;
    if (boards && !boards.has(board.name) && !boards.has(board.id)) return;
    const known = this.#shown.get(board.id);
    // Neither ever goes back: this was read before what is shown.
    if (known && (board.head_seq < known.seq || member.read_up_to < known.readUpTo)) return;
    const now: Shown = {
      feed: known?.feed ?? this.#follow(board),
      name: board.name,
      seq: board.head_seq,
      readUpTo: member.read_up_to,
      unread: personUnread(board, member),
    };
    this.#shown.set(board.id, now);
    const ids = { board: board.name, board_id: board.id };
    if (!known || now.seq > known.seq) this.#put('head', board.id, { ...ids, seq: now.seq });
    if (!known || now.readUpTo !== known.readUpTo || now.unread !== known.unread) {
      this.#put('unread', board.id, { ...ids, read_up_to: now.readUpTo, unread: now.unread });
    }
  }

  presences(frames: ReadonlyMap<string, string>, { member }: Extract<Right, { ok: true }>, boardId: string): void {
    if (!member || !this.#wants('presence')) return;
    for (const [memberId, text] of frames) this.#pending.set(presenceKey(boardId, memberId), text);
    this.#flush();
  }

  #follow(board: BoardRow): Feed {
    const feed = this.#options.feedOf(board.id);
    feed.startAt(board.head_seq);
    feed.followers.add(this);
    // A commit after this snapshot and before this moment did not wake the stream: the next snapshot has it.
    this.refresh();
    const { byBoard, now } = this.#statuses;
    feed.presences.startFrom(byBoard.get(board.id) ?? [], now);
    feed.presences.watchers.add(this);
    return feed;
  }

  #hide(boardId: string): void {
    const known = this.#shown.get(boardId);
    if (!known) return;
    this.#shown.delete(boardId);
    this.#unfollow(known.feed);
    for (const key of this.#pending.keys()) if (key.startsWith(presenceKey(boardId, ''))) this.#pending.delete(key);
    this.#pending.delete(`head ${boardId}`);
    this.#pending.delete(`unread ${boardId}`);
    this.#put('board_unavailable', boardId, { board_id: boardId });
  }

  #unfollow(feed: Feed): void {
    feed.followers.delete(this);
    feed.presences.watchers.delete(this);
  }

  #wants(name: string): boolean {
    return !this.#options.events || ALWAYS.has(name) || this.#options.events.has(name);
  }

  #put(name: string, about: string, data: unknown): void {
    if (!this.#wants(name)) return;
    this.#pending.set(`${name} ${about}`, frame(name, data));
  }

  #flush(): void {
    for (const [key, text] of this.#pending) {
      if (this.#options.connection.congested) return;
      this.#pending.delete(key);
      this.#options.connection.write(text);
    }
  }

  #leaveAll(): void {
    for (const { feed } of this.#shown.values()) this.#unfollow(feed);
    this.#shown.clear();
  }
}
