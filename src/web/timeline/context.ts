/** What every part of the conversation needs. */
import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Message } from '../../contract/types.ts';
import { session } from '../api/session.ts';
import type { AgentState } from '../parts/who.tsx';
import { replyTarget } from '../state/reply.ts';
import type { Room } from '../state/room.ts';
import { type BoardPlace, hrefOf } from '../state/route.ts';
import { Around } from './around.ts';
import { Scroll } from './scroll.ts';
import { ShownMessages } from './shown.ts';
import { Timeline } from './timeline.ts';

export class Talk {
  readonly room: Room;
  readonly timeline: Timeline;
  readonly scroll: Scroll;
  readonly around: Around;
  readonly shown: ShownMessages;
  /** The numbers of the messages under the pointer and with the focus, which show what can be done. */
  readonly hovered = signal<number | null>(null);
  readonly focused = signal<number | null>(null);
  /** The message that the tab key reaches. */
  readonly rover = signal<number | null>(null);
  /** Messages of which it is shown who got them. */
  readonly receipts: Signal<ReadonlySet<number>> = signal(new Set());
  /** The thread that is being printed. */
  readonly printing = signal<number | null>(null);
  /** States of agents, by their seat's id. */
  readonly states: ReadonlySignal<ReadonlyMap<string, AgentState | null>>;
  readonly agents: ReadonlySignal<string[]>;
  readonly writable: ReadonlySignal<boolean>;

  /** @param at the number of the message to which it opens */
  constructor(room: Room, at: number | undefined) {
    this.room = room;
    this.timeline = new Timeline(room);
    // Before all else that is read here: a browser opens few connections.
    void this.timeline.open(at);
    this.scroll = new Scroll(this.timeline);
    this.around = new Around(room);
    this.shown = new ShownMessages((seqs) => this.timeline.unread.show(seqs));
    this.states = computed(() => new Map(room.members.value.map(({ id, state }) => [id, state])));
    this.agents = computed(() => room.members.value.filter(({ kind }) => kind === 'agent').map(({ name }) => name));
    this.writable = computed(() => room.board.value?.lifecycle === 'active');
  }

  close(): void {
    this.shown.close();
    this.timeline.close();
    this.around.close();
  }

  /** The name of this person on the board. */
  get me(): string {
    return session.peek()?.person.handle ?? '';
  }

  /** Shows or hides the lines of board events; what is read stays in view. */
  showLines(shown: boolean): Promise<void> {
    const first = Number(this.scroll.firstInView()?.dataset['seq']);
    return this.timeline.showLines(shown, first > 0 ? first : null);
  }

  isMe({ kind, name }: { kind: string; name: string }): boolean {
    return kind === 'human' && name === this.me;
  }

  /** The address of a place on this board. */
  href(parts: Partial<BoardPlace>): string {
    return hrefOf({ screen: 'board', board: this.room.name, tab: 'talk', ...parts });
  }

  /** The next post replies to this message. */
  reply(message: Message): void {
    replyTarget.value = null;
    replyTarget.value = message;
  }
}

/** The conversation that is open. */
export const openTalk: Signal<Talk | null> = signal(null);

export const TalkContext = createContext<Talk | null>(null);

export function useTalk(): Talk {
  const talk = useContext(TalkContext);
  if (!talk) throw new Error('not within a conversation');
  return talk;
}
