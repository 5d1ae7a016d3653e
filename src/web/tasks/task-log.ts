/**
 * The events of a board's tasks, oldest first, loaded once and updated live.
 */
import { signal } from '@preact/signals';
import type { BoardEvent } from '../../contract/types.ts';
import { readAll } from '../api/client.ts';
import { dropWords } from '../state/event-words.ts';
import type { Room } from '../state/room.ts';

const verbs = ['created', 'started', 'joined', 'taken_over', 'updated', 'done', 'dropped'];
/** A person's parts end as they leave the board, and only the event of that has their name. */
const types = [...verbs.map((verb) => `task.${verb}`), 'person.removed', 'person.left'].join(',');

export class TaskLog {
  /** Null until loaded. */
  readonly events = signal<BoardEvent[] | null>(null);
  readonly error = signal<unknown>(null);
  private readonly room: Room;
  private readonly stop: () => void;
  private reading = false;
  /** Events that arrived during loading. */
  private pending: BoardEvent[] = [];

  constructor(room: Room) {
    this.room = room;
    this.stop = room.subscribe(({ event }) => {
      if (!event.type.startsWith('task.')) return;
      const events = this.events.peek();
      if (!events) this.pending.push(event);
      // The events may be loaded before the stream brings the last of them.
      else if (event.seq > (events.at(-1)?.seq ?? 0)) this.events.value = [...events, event];
    });
  }

  close(): void {
    this.stop();
  }

  /** Loads the events once. */
  async read(): Promise<void> {
    if (this.reading || this.events.peek()) return;
    this.reading = true;
    try {
      const input = { params: { board: this.room.name }, query: { type: types, limit: 200 } };
      const found = await readAll('listEvents', 'events', input);
      this.room.names.learn(found);
      const last = found.at(-1)?.seq ?? 0;
      this.events.value = [...found, ...this.pending.filter(({ seq }) => seq > last)];
      this.error.value = null;
    } catch (error) {
      this.error.value = error;
    } finally {
      this.reading = false;
    }
  }
}

/** Describes a task event, to follow the actor's name. @param nameOf returns the name of a member by id */
export function describeTaskEvent(event: BoardEvent, nameOf: (member: string) => string): string {
  const { type, data = {} } = event;
  switch (type) {
    case 'task.created':
      return 'opened it';
    case 'task.started':
      return data['reselected'] ? 'took it up again' : 'started it';
    case 'task.joined':
      return data['reselected'] ? 'took it up again' : 'joined';
    case 'task.taken_over':
      return `took it over from ${nameOf(String(data['from'] ?? ''))}`;
    case 'task.done':
      return data['cancelled'] ? 'cancelled it' : 'finished it';
    case 'task.dropped': {
      const [, verb, { name, afterName, quote } = {}] = dropWords(event, { member: nameOf });
      const words = verb === 'gave up' ? 'gave it up' : [verb, name, afterName, 'it'].filter(Boolean).join(' ');
      return quote ? `${words}: ${quote}` : words;
    }
    default:
      return describeUpdate(data);
  }
}

function describeUpdate(data: Record<string, unknown>): string {
  const parts = [
    data['title'] !== undefined && 'gave it a new title',
    data['about'] !== undefined && 'wrote what and why',
    data['stands'] !== undefined && `wrote where it stands, v${String(data['stands_version'] ?? 1)}`,
  ].filter(Boolean);
  return parts.join(', ') || 'changed it';
}
