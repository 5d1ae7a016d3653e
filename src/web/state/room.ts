/** The board that is open: its record, its people and agents, and each thing that happens on it, once and in order. */
import { signal } from '@preact/signals';
import type { Answer, Board, BoardEvent, Member, Message } from '../../contract/types.ts';
import { call, readAll } from '../api/client.ts';
import { session } from '../api/session.ts';
import { listen, showBoard } from '../live/link.ts';
import type { ToTab } from '../live/protocol.ts';
import { heads } from './boards.ts';
import { Soon } from './soon.ts';

/** One event of the board, with the message when it is one that this person may read. */
export interface Happening {
  event: BoardEvent;
  message?: Message;
}

type TaskCounts = Answer<'listTasks'>['counts'];
type Listener = (happening: Happening) => void;

/** Events after which the board's record or its members are read again. */
const ofBoard = /^board\.|^(member|person|agent)\.|^task\.|^file\./;
const ofMembers = /^(member|person|agent)\.|^task\.(started|joined|done|dropped)$/;

export class Room {
  readonly name: string;
  /** Null until it was read. */
  readonly board = signal<Board | null>(null);
  readonly members = signal<Member[]>([]);
  /** How many tasks are in which state. */
  readonly tasks = signal<TaskCounts | null>(null);
  /** Why the board cannot be read, or can no longer be. */
  readonly error = signal<unknown>(null);
  /** The number of the last event that was given to the listeners; null until the board was read. */
  readonly head = signal<number | null>(null);
  private readonly listeners = new Set<Listener>();
  private readonly stop: () => void;
  /** Frames that wait until what came before them was read. */
  private waiting: Happening[] = [];
  private filling = false;
  /** The head up to which events have to be read, because their frames do not come. */
  private wanted = 0;
  private attached = false;
  private membersToo = false;
  private readonly refreshSoon = new Soon(() => {
    void this.refresh(this.membersToo);
    this.membersToo = false;
  });
  private closed = false;

  constructor(name: string) {
    this.name = name;
    this.stop = listen((message) => this.take(message));
    void this.start();
  }

  /** Calls `listener` with each event after `head`. The result ends it. */
  subscribe(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Calls `act` a moment after events that concern it; many at once are one call. The result ends it. */
  follow(concerns: (happening: Happening) => unknown, act: () => void): () => void {
    const soon = new Soon(act);
    const stop = this.subscribe((happening) => {
      if (concerns(happening)) soon.ask();
    });
    return () => {
      soon.stop();
      stop();
    };
  }

  /** Reads the board and its members again. */
  async refresh(withMembers = true): Promise<void> {
    try {
      const params = { board: this.name };
      const [board, members, tasks] = await Promise.all([
        call('getBoard', { params }),
        withMembers ? readAll('listMembers', 'members', { params }) : this.members.peek(),
        call('listTasks', { params, query: { limit: 1 } }),
      ]);
      if (this.closed) return;
      this.tasks.value = tasks.counts;
      this.board.value = board;
      this.members.value = members;
      this.error.value = null;
    } catch (error) {
      if (!this.closed) this.error.value = error;
    }
  }

  close(): void {
    this.closed = true;
    this.refreshSoon.stop();
    this.stop();
    this.listeners.clear();
  }

  private async start(): Promise<void> {
    await this.refresh();
    const board = this.board.peek();
    if (!board) return;
    this.head.value = board.head_seq;
    void this.fill();
  }

  private take(message: ToTab): void {
    if (message.type === 'hint') this.takeHint(message);
    if (!('board' in message) || message.board !== this.name) return;
    if (message.type === 'attached') {
      this.attached = true;
      this.want(message.head);
    } else if (message.type === 'detached') {
      this.attached = false;
      this.want(heads.peek().get(this.name) ?? 0);
    } else if (message.type === 'board_ended') void this.refresh();
    else if (message.frame.event === 'event') this.waiting.push({ event: message.frame.data });
    else if (message.frame.event === 'message') this.addMessage(message.frame.data);
    if (message.type === 'frame') this.flush();
  }

  /** The message of an event comes in a frame of its own after it, which may come after the event was given out. */
  private addMessage(message: Message): void {
    const last = this.waiting.at(-1);
    if (last?.event.seq === message.seq) last.message = message;
  }

  private takeHint({ frame }: Extract<ToTab, { type: 'hint' }>): void {
    if (frame.event === 'head' && frame.data.board === this.name && !this.attached) this.want(frame.data.seq);
    if (frame.event === 'presence' && frame.data.board === this.name) {
      const { member_id, presence, presence_since, delivery, line, state } = frame.data;
      this.members.value = this.members
        .peek()
        .map((member) =>
          member.id === member_id
            ? { ...member, presence, presence_since, delivery, line, state, waiting: undefined }
            : member,
        );
      if (presence === 'waiting') void this.readWaiting(member_id);
    }
  }

  /** What an agent waits with is told to its own person, who asks for it. */
  private async readWaiting(id: string): Promise<void> {
    const member = this.members.peek().find((one) => one.id === id);
    if (member?.owner !== session.peek()?.person.handle) return;
    const read = await call('getMember', { params: { board: this.name, member: id } }).catch(() => null);
    if (!read || this.closed) return;
    this.members.value = this.members.peek().map((one) => (one.id === id ? read : one));
  }

  private want(head: number): void {
    this.wanted = Math.max(this.wanted, head);
    void this.fill();
  }

  /** Reads what happened before the stream began. */
  private async fill(): Promise<void> {
    if (this.filling || this.head.peek() === null) return;
    this.filling = true;
    try {
      while (!this.closed && (this.head.peek() ?? 0) < this.wanted) {
        const after = this.head.peek() ?? 0;
        const page = await call('listEvents', { params: { board: this.name }, query: { after, limit: 200 } });
        const messages = await messagesOf(this.name, page.events);
        if (this.closed || page.events.length === 0) break;
        for (const event of page.events) this.give({ event, message: messages.get(event.seq) });
      }
    } catch {
      // The next head or frame tries again; the banner says that there is no connection.
    } finally {
      this.filling = false;
      this.flush();
    }
  }

  private flush(): void {
    if (this.filling || this.head.peek() === null) return;
    const ready = this.waiting;
    // The message of the last event may be on its way.
    const last = ready.at(-1);
    const open = last?.event.type === 'message.posted' && !last.message && !last.event.data_withheld ? last : undefined;
    this.waiting = open ? [open] : [];
    for (const happening of open ? ready.slice(0, -1) : ready) this.give(happening);
  }

  private give(happening: Happening): void {
    const { event } = happening;
    const head = this.head.peek() ?? 0;
    if (event.seq <= head) return;
    if (event.seq > head + 1) {
      this.waiting.unshift(happening);
      this.want(event.seq);
      return;
    }
    this.head.value = event.seq;
    for (const listener of this.listeners) listener(happening);
    if (ofMembers.test(event.type)) this.membersToo = true;
    if (ofBoard.test(event.type) || happening.message?.ask || happening.message?.answer) this.refreshSoon.ask();
  }
}

async function messagesOf(board: string, events: BoardEvent[]): Promise<Map<number, Message>> {
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

/** The open board; null on another screen. */
export const room = signal<Room | null>(null);

/** Opens a board, which ends the one before. */
export function openRoom(name: string | null): void {
  if (room.peek()?.name === name) return;
  room.peek()?.close();
  room.value = name === null ? null : new Room(name);
  showBoard(name);
}

session.subscribe((current) => {
  if (current === null) openRoom(null);
});
