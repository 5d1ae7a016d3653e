/**
 * The tasks and files of a board, for chips under messages and the side column. Tasks are reloaded when they change.
 */
import { type ReadonlySignal, signal } from '@preact/signals';
import type { BoardFile, Task } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import type { Room } from '../state/room.ts';

export class BoardItems {
  readonly tasks = signal<ReadonlyMap<string, Task>>(new Map());
  readonly files: ReadonlySignal<ReadonlyMap<string, BoardFile>>;
  private readonly room: Room;
  private readonly stop: () => void;

  constructor(room: Room) {
    this.room = room;
    this.files = room.files;
    this.stop = room.subscribeThrottled(
      // An ask can block its task, an answer unblocks it.
      ({ event, message }) => event.type.startsWith('task.') || message?.ask || message?.answer,
      () => void this.read(),
    );
    void this.read();
  }

  close(): void {
    this.stop();
  }

  private async read(): Promise<void> {
    const params = { board: this.room.name };
    try {
      const { tasks } = await call('listTasks', { params, query: { state: 'all', order: 'desc', limit: 200 } });
      this.tasks.value = new Map(tasks.map((task) => [task.id, task]));
    } catch {
      // Chips and lines then have no titles until the next change loads again.
    }
  }
}
