/** The state of the open conversation, shared by its components. */
import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Message } from '../../contract/types.ts';
import type { AgentState } from '../parts/who.tsx';
import { replyTarget } from '../state/reply.ts';
import type { Room } from '../state/room.ts';
import { type BoardPlace, hrefOf } from '../state/route.ts';
import { BoardItems } from './board-items.ts';
import { Scroll } from './scroll.ts';
import { SeenTracker } from './seen.ts';
import { type Spot, Timeline } from './timeline.ts';

export class Talk {
  readonly room: Room;
  readonly timeline: Timeline;
  readonly scroll: Scroll;
  readonly items: BoardItems;
  readonly seen: SeenTracker;
  /** The messages, by number, under the pointer and with the focus; they show their actions. */
  readonly hovered = signal<number | null>(null);
  readonly focused = signal<number | null>(null);
  /** The message that the Tab key reaches (roving tabindex). */
  readonly tabStop = signal<number | null>(null);
  /** Messages whose receipts are shown, by number. */
  readonly receipts: Signal<ReadonlySet<number>> = signal(new Set());
  /** The thread that is being printed, by the number of its first message. */
  readonly printing = signal<number | null>(null);
  /** The join line that was made while there were no messages, until an agent joins: it is never shown again. */
  readonly joinLine = signal<string | null>(null);
  /** The states of members, by id. */
  readonly states: ReadonlySignal<ReadonlyMap<string, AgentState | null>>;
  /** The names of agents; the same list until one changes. */
  readonly agents: ReadonlySignal<string[]>;
  /** The prefixes of references to tasks, joined by commas. */
  readonly prefixes: ReadonlySignal<string>;
  readonly writable: ReadonlySignal<boolean>;

  /** @param at the number of the message to open at, unless there is a spot */
  constructor(room: Room, at: number | undefined, spot: Spot | null) {
    this.room = room;
    this.timeline = new Timeline(room);
    // First, because a browser opens few connections and messages matter most.
    void this.timeline.open(at, spot);
    this.scroll = new Scroll(this.timeline);
    this.items = new BoardItems(room);
    this.seen = new SeenTracker((seqs) => this.timeline.unread.markSeen(seqs));
    this.states = computed(() => new Map(room.members.value.map(({ id, state }) => [id, state])));
    const names = computed(() =>
      room.members.value.flatMap(({ kind, name }) => (kind === 'agent' ? [name] : [])).join('\n'),
    );
    this.agents = computed(() => (names.value === '' ? [] : names.value.split('\n')));
    this.prefixes = computed(() => {
      const { task_prefixes, task_prefix } = room.board.value ?? {};
      return (task_prefixes ?? (task_prefix ? [task_prefix] : [])).join();
    });
    this.writable = computed(() => room.board.value?.lifecycle === 'active');
  }

  close(): void {
    this.seen.close();
    this.timeline.close();
    this.items.close();
  }

  /** Shows or hides board events and keeps the first visible message in view. */
  setShowEvents(shown: boolean): Promise<void> {
    const first = Number(this.scroll.firstInView()?.dataset['seq']);
    return this.timeline.setShowEvents(shown, first > 0 ? first : null);
  }

  href(parts: Partial<BoardPlace>): string {
    return hrefOf({ screen: 'board', board: this.room.name, tab: 'talk', ...parts });
  }

  /** Makes the message box reply to a message and focuses it, even if it was the target before. */
  reply(message: Message): void {
    replyTarget.value = null;
    replyTarget.value = message;
  }
}

export const TalkContext = createContext<Talk | null>(null);

export function useTalk(): Talk {
  const talk = useContext(TalkContext);
  if (!talk) throw new Error('not within a conversation');
  return talk;
}
