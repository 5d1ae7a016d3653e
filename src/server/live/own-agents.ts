/** The agents of the person behind a stream: finds what changed between two reads. */
import type { MemberRow } from '../members/members.store.ts';
import { idsIn } from '../text/rows.ts';

interface Known {
  boardId: string;
  readUpTo: number;
  revision: number;
  brakedUntil: number | null;
}

export type Change = [name: string, about: string, data: Record<string, unknown>];

export class OwnAgents {
  readonly #known = new Map<string, Known>();

  /**
   * Takes the current agents and returns the frames to send. Only moves, new modes, pauses and ends are sent, so the first read
   * of an agent sends nothing.
   * @param nameOf the name of a board that is shown on this stream.
   */
  take(agents: readonly MemberRow[], nameOf: (boardId: string) => string | undefined): Change[] {
    const changes = this.#ended(new Set(idsIn(agents)), nameOf);
    for (const agent of agents) {
      const { id, name, board_id, read_up_to, delivery_revision: revision, braked_until: brakedUntil } = agent;
      const known = this.#known.get(id);
      this.#known.set(id, { boardId: board_id, readUpTo: read_up_to, revision, brakedUntil });
      const board = nameOf(board_id);
      if (!known || board === undefined) continue;
      if (known.readUpTo !== read_up_to) {
        changes.push(['read', id, { board, board_id, agent: name, member_id: id, read_up_to }]);
      }
      if (known.revision !== revision || known.brakedUntil !== brakedUntil) {
        changes.push(['delivery', id, { board_id, member_id: id, mode: agent.delivery_mode ?? 'focused', revision }]);
      }
    }
    return changes;
  }

  #ended(present: ReadonlySet<string>, nameOf: (boardId: string) => string | undefined): Change[] {
    const changes: Change[] = [];
    for (const [id, { boardId }] of this.#known) {
      if (present.has(id)) continue;
      this.#known.delete(id);
      if (nameOf(boardId) !== undefined) {
        changes.push(['board_unavailable', id, { board_id: boardId, member_id: id }]);
      }
    }
    return changes;
  }
}
