/** Who added a person to a board on which they have read nothing since. */
import type { ReadTx } from '../db/tx.ts';

interface ArrivalRow {
  board_id: string;
  member_id: string;
  seq: number;
  at: number;
  /** JSON, as in the record. */
  actor: string;
  data: string;
}

/** Additions of people at whose number these members' positions stand: their own, or somebody else's. */
export const arrivalsUnread = (tx: ReadTx, memberIds: string[]): Promise<ArrivalRow[]> =>
  tx.query<ArrivalRow>((db) =>
    db({ m: 'members' })
      .join({ e: 'events' }, (on) => on.on('e.board_id', 'm.board_id').andOn('e.seq', 'm.read_up_to'))
      .whereIn('m.id', memberIds)
      .where('e.type', 'person.added')
      .select('m.board_id', 'e.seq', 'e.at', 'e.actor', 'e.data', { member_id: 'm.id' }),
  );

/** When the newest agent of a person joined, for each of these boards that ever had one. */
export const latestAgents = (tx: ReadTx, personId: string, boardIds: string[]) =>
  tx.query<{ board_id: string; at: number }>((db) =>
    db('members')
      .where({ person_id: personId, kind: 'agent' })
      .whereIn('board_id', boardIds)
      .groupBy('board_id')
      .select('board_id')
      .max({ at: 'joined_at' }),
  );
