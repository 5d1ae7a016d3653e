/** The names of a board's members, also of those that are gone, which are loaded when they are asked for. */
import { signal } from '@preact/signals';
import type { BoardEvent, Member } from '../../contract/types.ts';
import { call, readAll } from '../api/client.ts';
import { hasCode } from '../api/errors.ts';

/** Events of people who leave, which have their names. */
const leaving = 'person.left,person.removed';

/** Events that tell a name of a person who may be there. */
const coming = 'person.added,person.renamed';

interface Known {
  name: string;
  /** The number of an event after which it was that. */
  seq: number;
  /** Whether somebody who left then may have come back under another name, and left again. */
  early: boolean;
}

export class MemberNames {
  private readonly board: string;
  /** By id. */
  private readonly names = new Map<string, Known>();
  /** Changes whenever names are added, so that what shows them is rendered again. */
  private readonly changed = signal(0);
  /** Members whose names were asked for. */
  private readonly asked = new Set<string>();
  /** The read of the names of all people who left. */
  private gone: Promise<void> | undefined;

  constructor(board: string) {
    this.board = board;
  }

  /** The name of a member by id, for one that is gone the last one. */
  readonly of = (member: string): string => {
    void this.changed.value;
    const known = this.names.get(member);
    if (known?.early) this.readGone();
    else if (!known && !this.asked.has(member)) {
      this.asked.add(member);
      call('getMember', { params: { board: this.board, member } }).then(
        (read) => this.add([read], 0),
        (error: unknown) => {
          // Who is not found is a person who left.
          if (hasCode(error, 'member_not_found')) this.readGone();
          else this.asked.delete(member);
        },
      );
    }
    return known?.name ?? 'somebody';
  };

  private readGone(): void {
    const input = { params: { board: this.board }, query: { type: leaving, limit: 200 } };
    this.gone ??= readAll('listEvents', 'events', input).then(
      (events) => this.learn(events, false),
      () => {
        this.gone = undefined;
        this.asked.clear();
      },
    );
  }

  /**
   * Keeps the names of people who left, which only these events tell, and where no event came later, of those who are there.
   *
   * @param early whether other events may have come later
   */
  learn(events: readonly BoardEvent[], early = true): void {
    for (const { type, seq, data } of events)
      if (leaving.includes(type) || (!early && coming.includes(type)))
        this.add(
          [{ id: `${data?.['member_id']}`, name: `${data?.['after'] ?? data?.['name']}` }],
          seq,
          early && !this.gone,
        );
  }

  /** A name that a member had later stays. */
  add(members: readonly Pick<Member, 'id' | 'name'>[], seq: number, early = false): void {
    for (const { id, name } of members)
      if (seq >= (this.names.get(id)?.seq ?? 0)) this.names.set(id, { name, seq, early });
    this.changed.value++;
  }
}
