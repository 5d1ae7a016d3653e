/**
 * The tasks and files of a board, for chips under messages and the side column: all active tasks and the latest of the
 * closed ones. Tasks are reloaded when they change.
 */
import { type ReadonlySignal, signal } from '@preact/signals';
import type { BoardFile, Task } from '../../contract/types.ts';
import { listAll } from '../api/client.ts';
import type { Room } from '../state/room.ts';
import { oneAtATime } from '../state/throttle.ts';

export class BoardItems {
  readonly tasks = signal<ReadonlyMap<string, Task>>(new Map());
  readonly files: ReadonlySignal<ReadonlyMap<string, BoardFile>>;
  private readonly room: Room;
  private readonly stop: () => void;
  private readonly read = oneAtATime(() => this.readTasks());

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

  private async readTasks(): Promise<void> {
    const input = { params: { board: this.room.name }, query: { state: 'all', order: 'desc', limit: 200 } } as const;
    try {
      const found = new Map<string, Task>();
      for await (const { tasks } of listAll('listTasks', input)) {
        for (const task of tasks) found.set(task.id, task);
        // The active ones come first and are all loaded. Of the closed ones, some lack their titles.
        if (tasks.at(-1)?.closed_at) break;
      }
      this.tasks.value = found;
    } catch {
      // Chips and lines then have no titles until the next change loads again.
    }
  }
}
