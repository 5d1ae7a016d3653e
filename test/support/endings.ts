/** What ends with seats and memberships, made and looked at in the database. */
import { newId } from '../../src/server/text/ids.ts';
import type { TestServer } from './server.ts';

/** A working join code of a member; answers its id. */
export function newCode(
  server: TestServer,
  board: string,
  makerId: string,
  columns: Record<string, unknown> = {},
): Promise<string> {
  return server.db.write(async (tx) => {
    const id = newId('jc', tx.now);
    const [maker] = await tx.query<{ person_id: string; board_id: string }>((db) =>
      db({ m: 'members' })
        .join({ b: 'boards' }, 'b.id', 'm.board_id')
        .where({ 'm.id': makerId, 'b.name': board })
        .select('m.*'),
    );
    if (!maker) throw new Error(`${makerId} is not on ${board}`);
    await tx.change((db) =>
      db('join_codes').insert({
        id,
        board_id: maker.board_id,
        digest: server.root.digest(id),
        kind: 'pairing',
        role: 'member',
        maker_member_id: makerId,
        maker_person_id: maker.person_id,
        created_at: tx.now,
        expires_at: tx.now + 86_400_000,
        uses: 0,
        ...columns,
      }),
    );
    return id;
  });
}

export const codeOf = async (server: TestServer, id: string): Promise<Record<string, unknown>> => {
  const rows = await server.db.read((tx) =>
    tx.query<Record<string, unknown>>((db) => db('join_codes').where({ id }).select('*')),
  );
  return rows[0] ?? {};
};

/** What a seat's daemon reported, some seconds ago. */
export async function reports(
  server: TestServer,
  agent: { memberId: string },
  { presence, ago, folder }: { presence: string; ago: number; folder?: string },
): Promise<void> {
  await server.db.write(async (tx) => {
    const at = tx.now - ago * 1000;
    await tx.change((db) => db('seat_reports').where('member_id', agent.memberId).delete());
    await tx.change((db) =>
      db('seat_reports').insert({
        member_id: agent.memberId,
        presence,
        presence_since: at,
        reported_at: at,
        ...(folder === undefined
          ? {}
          : { location_folder: folder, location_session: 's', location_harness: 'x', located_at: at }),
      }),
    );
  });
}
