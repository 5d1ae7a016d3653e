/** Names of what events of the Everything screen have only the ids of: those that its other events tell, else read once. */
import { signal } from '@preact/signals';
import type { BoardEvent } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { hasCode } from '../api/errors.ts';
import { type EventNames, text } from '../state/event-words.ts';
import { MemberNames } from '../state/member-names.ts';

export class Names {
  private readonly members = new Map<string, MemberNames>();
  /** By id, each with the number of the event that tells it; undefined: it is being read, or is not there. */
  private readonly files = new Map<string, { name: string; seq: number } | undefined>();
  private readonly changed = signal(0);

  /** Keeps the names that the newest events of a board tell. */
  learn(board: string, events: readonly BoardEvent[]): void {
    this.membersOf(board).learn(events, false);
    for (const { seq, type, data } of events) {
      const name = type === 'file.version_added' ? data?.['name'] : type === 'file.renamed' && data?.['after'];
      const id = text(data?.['file_id']);
      if (text(name) && seq >= (this.files.get(id)?.seq ?? 0)) this.files.set(id, { name: text(name), seq });
    }
  }

  /** The names on one board. */
  on(board: string): EventNames {
    return { member: this.membersOf(board).of, file: (id) => this.file(board, id) };
  }

  private membersOf(board: string): MemberNames {
    const known = this.members.get(board) ?? new MemberNames(board);
    this.members.set(board, known);
    return known;
  }

  private file(board: string, id: string): string | undefined {
    void this.changed.value;
    if (!this.files.has(id)) {
      this.files.set(id, undefined);
      call('getFile', { params: { board, file: id } }).then(
        ({ name }) => {
          this.files.set(id, { name, seq: 0, ...this.files.get(id) });
          this.changed.value++;
        },
        (error: unknown) => {
          if (!hasCode(error, 'file_not_found')) this.files.delete(id);
        },
      );
    }
    return this.files.get(id)?.name;
  }
}
