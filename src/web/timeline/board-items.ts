/**
 * The tasks and files of a board, for chips under messages and the side column. Reloaded when they change.
 */
import { signal } from '@preact/signals';
import type { BoardFile, Task } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import type { Room } from '../state/room.ts';

export class BoardItems {
  readonly tasks = signal<ReadonlyMap<string, Task>>(new Map());
  readonly files = signal<ReadonlyMap<string, BoardFile>>(new Map());
  private readonly room: Room;
  private readonly stop: () => void;

  constructor(room: Room) {
    this.room = room;
    this.stop = room.subscribeThrottled(
      // An ask can block its task, an answer unblocks it.
      ({ event, message }) => /^(task|file)\./.test(event.type) || message?.ask || message?.answer,
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
      const [tasks, files] = await Promise.all([
        call('listTasks', { params, query: { state: 'all', order: 'desc', limit: 200 } }),
        call('listFiles', { params, query: { limit: 200 } }),
      ]);
      this.tasks.value = new Map(tasks.tasks.map((task) => [task.id, task]));
      this.files.value = new Map(files.files.map((file) => [file.id, file]));
    } catch {
      // Chips and lines then have no titles until the next change loads again.
    }
  }
}
