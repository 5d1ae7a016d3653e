/** The open board: its record and members, and its events, each delivered once and in order. */
import { computed, signal } from '@preact/signals';
import type { HintFrame } from '../../client/hint-stream.ts';
import type {
  Actor,
  Answer,
  Board,
  BoardEvent,
  BoardFile,
  BoardPerson,
  Member,
  Message,
} from '../../contract/types.ts';
import { call, readAll } from '../api/client.ts';
import { hasCode } from '../api/errors.ts';
import { session } from '../api/session.ts';
import { listen, listenToReturn, showBoard } from '../live/link.ts';
import type { ToTab } from '../live/protocol.ts';
import { heads } from './boards.ts';
import { MemberNames } from './member-names.ts';
import { oneAtATime, Throttle } from './throttle.ts';

/** An event of the board; with the message for `message.posted`, if this person may read it. */
export interface RoomEvent {
  event: BoardEvent;
  message?: Message;
}

/** `blockedRunning`: how many of the blocked tasks are in progress; NaN if they are too many to be read. */
type TaskCounts = Answer<'listTasks'>['counts'] & { blockedRunning: number };
/** More files than these are not read to count them. */
export const MAX_FILES = 200;
/** Messages change only how many came since a file: for them alone files are read no sooner again. */
export const FILES_INTERVAL_MS = 30_000;

type Listener = (roomEvent: RoomEvent) => void;

/** Events after which the board's record, or its members, are loaded again. */
const changesBoard = /^board\.|^(member|person|agent)\.|^task\.|^file\./;
const changesMembers = /^(member|person|agent)\.|^task\.(started|joined|taken_over|done|dropped)$/;

export class Room {
  readonly name: string;
  /** Null until loaded. */
  readonly board = signal<Board | null>(null);
  readonly members = signal<Member[]>([]);
  readonly names: MemberNames;
  /** Says which member each person is; null until loaded. */
  private readonly people = signal<readonly BoardPerson[] | null>(null);
  /** The name of the signed-in person on the board, which is not the handle where another member had that name. */
  readonly me = computed(() => {
    const person = session.value?.person;
    const own = this.people.value?.find(({ id }) => id === person?.id)?.member_id;
    return this.members.value.find(({ id }) => id === own)?.name ?? person?.handle ?? '';
  });
  /** The number of tasks in each state. */
  readonly tasks = signal<TaskCounts | null>(null);
  /** The files of the board by id, at most `MAX_FILES`. */
  readonly files = signal<ReadonlyMap<string, BoardFile>>(new Map());
  /** Why the board cannot be loaded, or is no longer accessible. */
  readonly error = signal<unknown>(null);
  /** The number of the last event delivered to listeners; null until the board is loaded. */
  readonly head = signal<number | null>(null);
  private readonly listeners = new Set<Listener>();
  private readonly stop: () => void;
  /** Events that wait until the events before them are loaded. */
  private pending: RoomEvent[] = [];
  private reading = false;
  /** Events up to this number have to be loaded, because the stream does not send them. */
  private targetHead = 0;
  private attached = false;
  private membersChanged = false;
  /** Hints that came while the board is being read, and may be newer than what is read; null: it is not. */
  private hints: HintFrame[] | null = null;
  private readonly read = oneAtATime(() => this.readBoard());
  private readonly readFiles = oneAtATime(async () => {
    const page = { params: { board: this.name }, query: { limit: MAX_FILES } };
    // Without an answer the files stay as they were until the next change.
    const read = await call('listFiles', page).catch(() => null);
    if (read && !this.closed) this.files.value = new Map(read.files.map((file) => [file.id, file]));
  });
  private readonly refreshThrottle = new Throttle(() => void this.read());
  private readonly filesThrottle = new Throttle(() => void this.readFiles(), FILES_INTERVAL_MS);
  private closed = false;

  constructor(name: string) {
    this.name = name;
    this.names = new MemberNames(name);
    const stops = [
      listen((message) => this.handleMessage(message)),
      // Presence that changed while there was no connection is not told again.
      listenToReturn(() => void this.refresh()),
    ];
    this.stop = () => {
      for (const stop of stops) stop();
    };
    void this.refresh();
  }

  /** Calls `listener` with each event after `head`. Returns a function that unsubscribes. */
  subscribe(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Calls `callback` shortly after events that match, once for many. Returns a function that unsubscribes. */
  subscribeThrottled(matches: (roomEvent: RoomEvent) => unknown, callback: () => void, interval?: number): () => void {
    const throttle = new Throttle(callback, interval);
    const stop = this.subscribe((roomEvent) => {
      if (matches(roomEvent)) throttle.schedule();
    });
    return () => {
      throttle.cancel();
      stop();
    };
  }

  /** Loads the board, its task counts and, unless `withMembers` is false, its members. */
  refresh(withMembers = true): Promise<void> {
    this.membersChanged ||= withMembers;
    return this.read();
  }

  private async readBoard(): Promise<void> {
    const withMembers = this.membersChanged;
    this.membersChanged = false;
    const hints: HintFrame[] = [];
    this.hints = hints;
    const known = this.head.peek() ?? 0;
    try {
      const params = { board: this.name };
      const [board, members, tasks, people] = await Promise.all([
        call('getBoard', { params }),
        withMembers ? readAll('listMembers', 'members', { params }) : null,
        call('listTasks', { params, query: { state: 'in_progress', blocked: true, limit: 200 } }),
        this.people.peek() ?? readAll('listBoardPeople', 'people', { params }),
      ]);
      if (this.closed) return;
      // The server was restored from a backup: events shown here are gone, and others get their numbers.
      if (board.head_seq < known) return location.reload();
      this.people.value = people;
      const blockedRunning = tasks.next_after === null ? tasks.tasks.length : Number.NaN;
      this.tasks.value = { ...tasks.counts, blockedRunning };
      this.board.value = board;
      if (members) {
        this.members.value = members;
        this.names.add(members, board.head_seq);
      }
      for (const frame of hints) this.handleHint(frame);
      this.error.value = null;
      this.head.value ??= board.head_seq;
      // Also what could not be read before.
      void this.readMissing();
      void this.readFiles();
    } catch (error) {
      this.membersChanged ||= withMembers;
      if (this.closed) return;
      this.error.value = error;
      // A board that is gone, or that the person was removed from, does not stay on the screen.
      if (hasCode(error, 'board_not_found', 'not_on_board')) this.board.value = null;
    } finally {
      this.hints = null;
    }
  }

  /** Whether a member is the signed-in person. */
  isMe({ kind, name }: Pick<Actor, 'kind' | 'name'>): boolean {
    return kind === 'human' && name === this.me.value;
  }

  /** Whether a member is an agent of the signed-in person, whose handle may have changed since the page was opened. */
  isMyAgent({ id }: Pick<Actor, 'id'>): boolean {
    const owner = this.members.value.find((member) => member.id === id)?.owner_id;
    return owner !== undefined && owner === session.value?.person.id;
  }

  close(): void {
    this.closed = true;
    this.refreshThrottle.cancel();
    this.filesThrottle.cancel();
    this.stop();
    this.listeners.clear();
  }

  private handleMessage(message: ToTab): void {
    if (message.type === 'hint') {
      this.hints?.push(message.frame);
      this.handleHint(message.frame);
    }
    if (!('board' in message) || message.board !== this.name) return;
    if (message.type === 'attached') {
      this.attached = true;
      this.fillTo(message.head);
    } else if (message.type === 'detached' || message.type === 'board_ended') {
      this.attached = false;
      this.fillTo(heads.peek().get(this.name) ?? 0);
      if (message.type === 'board_ended') void this.refresh();
    } else if (message.frame.event === 'event') this.pending.push({ event: message.frame.data });
    else if (message.frame.event === 'message') this.addMessage(message.frame.data);
    if (message.type === 'frame') this.deliverPending(message.frame.event === 'ready');
  }

  /** A message arrives in a frame after the frame of its event; adds it if that event is still pending. */
  private addMessage(message: Message): void {
    const last = this.pending.at(-1);
    if (last?.event.seq === message.seq) last.message = message;
  }

  private handleHint(frame: HintFrame): void {
    if (frame.event === 'head' && frame.data.board === this.name && !this.attached) this.fillTo(frame.data.seq);
    const board = this.board.peek();
    if (frame.event === 'unread' && frame.data.board === this.name && board)
      this.board.value = { ...board, read_up_to: frame.data.read_up_to, unread: frame.data.unread };
    if (frame.event === 'presence' && frame.data.board === this.name) {
      const { member_id, presence, presence_since, delivery, line, state } = frame.data;
      this.members.value = this.members
        .peek()
        .map((member) =>
          member.id === member_id
            ? { ...member, presence, presence_since, delivery, line, state, waiting: undefined }
            : member,
        );
      if (presence === 'waiting') void this.refreshWaitingMember(member_id);
    }
  }

  /** What an agent waits for is not part of the hint; only its own person can read it. */
  private async refreshWaitingMember(id: string): Promise<void> {
    if (!this.isMyAgent({ id })) return;
    const read = await call('getMember', { params: { board: this.name, member: id } }).catch(() => null);
    if (!read || this.closed) return;
    this.members.value = this.members.peek().map((one) => (one.id === id ? read : one));
  }

  private fillTo(head: number): void {
    this.targetHead = Math.max(this.targetHead, head);
    void this.readMissing();
  }

  /** Loads events that the stream did not send, up to `targetHead`. */
  private async readMissing(): Promise<void> {
    if (this.reading || this.head.peek() === null) return;
    this.reading = true;
    try {
      while (!this.closed && (this.head.peek() ?? 0) < this.targetHead) {
        const after = this.head.peek() ?? 0;
        const page = await call('listEvents', { params: { board: this.name }, query: { after, limit: 200 } });
        const messages = await readMessages(this.name, page.events);
        if (this.closed || page.events.length === 0) return;
        for (const event of page.events) this.deliver({ event, message: messages.get(event.seq) }, true);
      }
    } catch {
      // The next head or frame tries again. The banner shows that there is no connection.
      return;
    } finally {
      this.reading = false;
    }
    this.deliverPending();
  }

  /** @param restarted the stream begins anew after the last event */
  private deliverPending(restarted = false): void {
    if (this.reading || this.head.peek() === null) return;
    const batch = this.pending;
    // The frame with the message of the last event may not have arrived yet.
    const last = batch.at(-1);
    const incomplete = last && lacksMessage(last) && !restarted ? last : undefined;
    this.pending = incomplete ? [incomplete] : [];
    for (const roomEvent of incomplete ? batch.slice(0, -1) : batch) this.deliver(roomEvent);
  }

  /** @param isRead the event was read, not streamed: its message does not come later */
  private deliver(roomEvent: RoomEvent, isRead = false): void {
    const { event } = roomEvent;
    const head = this.head.peek() ?? 0;
    if (event.seq <= head) return;
    // A stream that breaks between an event and its message does not send the message again.
    if (event.seq > head + 1 || (!isRead && lacksMessage(roomEvent))) {
      this.pending.unshift(roomEvent);
      this.fillTo(event.seq);
      return;
    }
    this.head.value = event.seq;
    this.names.learn([event], false);
    for (const listener of this.listeners) listener(roomEvent);
    if (changesMembers.test(event.type)) this.membersChanged = true;
    if (changesBoard.test(event.type) || roomEvent.message?.ask || roomEvent.message?.answer)
      this.refreshThrottle.schedule();
    if (event.type === 'message.posted' && this.files.peek().size > 0) this.filesThrottle.schedule();
  }
}

const lacksMessage = ({ event, message }: RoomEvent): boolean =>
  event.type === 'message.posted' && !message && !event.data_withheld;

async function readMessages(board: string, events: BoardEvent[]): Promise<Map<number, Message>> {
  const posted = events.filter(({ type, data_withheld }) => type === 'message.posted' && !data_withheld);
  const found = new Map<number, Message>();
  const last = posted.at(-1)?.seq;
  if (last === undefined) return found;
  let after = posted[0]!.seq - 1;
  while (after < last) {
    const query = { after, before: last + 1, limit: 200 };
    const page = await call('listMessages', { params: { board }, query });
    for (const message of page.messages) found.set(message.seq, message);
    after = page.next_after ?? last;
  }
  return found;
}

/** The open board; null on other screens. */
export const room = signal<Room | null>(null);

/** Opens a board and closes the previous one; null only closes. */
export function openRoom(name: string | null): void {
  if (room.peek()?.name === name) return;
  room.peek()?.close();
  room.value = name === null ? null : new Room(name);
  showBoard(name);
}

session.subscribe((current) => {
  if (current === null) openRoom(null);
});
