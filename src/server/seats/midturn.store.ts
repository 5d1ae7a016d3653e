/** The mid-turn policies that people set for single agents. */
import type { MidturnPolicy } from '../../contract/types.ts';
import type { ReadTx } from '../db/tx.ts';

/** The exceptions for a person's active agents. */
export const midturnExceptions = (tx: ReadTx, personId: string) =>
  tx.query<{ member_id: string; policy: MidturnPolicy }>((db) =>
    db({ m: 'members' })
      .join({ b: 'boards' }, 'b.id', 'm.board_id')
      .where({ 'm.person_id': personId, 'm.kind': 'agent', 'm.status': 'active' })
      .whereNotNull('m.midturn_policy')
      .whereNot('b.lifecycle', 'deleted')
      .orderBy('m.id')
      .select({ member_id: 'm.id', policy: 'm.midturn_policy' }),
  );
