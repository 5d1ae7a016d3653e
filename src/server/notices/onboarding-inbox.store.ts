/** Who joined by a person's invites, and with which agents. */
import type { ReadTx } from '../db/tx.ts';

export type InviteeRow = {
  invite_id: string;
  person_id: string;
  handle: string;
  used_at: number;
  board_id: string;
  member_id: string;
  name: string;
  harness: string | null;
};

/** Agents on the boards of invites that were used since then, newest use first, then in the order they joined. */
export const comersSince = (tx: ReadTx, personId: string, since: number) =>
  tx.query<InviteeRow & { boards: string }>((db) =>
    db({ i: 'server_invites' })
      .join({ p: 'people' }, 'p.id', 'i.used_by')
      .join({ m: 'members' }, 'm.person_id', 'i.used_by')
      .where({ 'i.created_by': personId, 'm.kind': 'agent', 'm.status': 'active' })
      .where('i.used_at', '>', since)
      .orderBy([{ column: 'i.used_at', order: 'desc' }, { column: 'i.id', order: 'desc' }, 'm.joined_at', 'm.id'])
      .limit(20_000)
      .select('i.boards', 'p.handle', 'i.used_at', 'm.board_id', 'm.name', 'm.harness')
      .select({ invite_id: 'i.id', person_id: 'p.id', member_id: 'm.id' }),
  );
