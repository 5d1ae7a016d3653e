/** What ends with seats and memberships, made and looked at in the database. */
import type { Presence } from '../../src/server/seats/presence.rules.ts';
import { noReport, saveReport } from '../../src/server/seats/reports.store.ts';
import { newId } from '../../src/server/text/ids.ts';
import type { Api } from './api.ts';
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
  { presence, ago, folder }: { presence: Presence; ago: number; folder?: string },
): Promise<void> {
  await server.db.write(async (tx) => {
    const at = tx.now - ago * 1000;
    const where = { location_folder: folder, location_session: 's', location_harness: 'x', located_at: at };
    await saveReport(tx, {
      ...noReport(agent.memberId),
      presence,
      presence_since: at,
      reported_at: at,
      ...(folder === undefined ? {} : { ...where, location_folder: folder }),
    });
  });
}

/** Rows of a table, whatever operation shows or hides them. */
export const everything = (
  server: TestServer,
  table: string,
  where: Record<string, unknown>,
): Promise<Record<string, unknown>[]> =>
  server.db.read((tx) => tx.query<Record<string, unknown>>((db) => db(table).where(where).select('*')));

async function keyOf(server: TestServer, person: Api): Promise<string> {
  const [key] = await everything(server, 'access_keys', { digest: server.root.digest(person.token ?? '') });
  return String(key?.['id']);
}

/** A server invite of a person; answers its id. */
export async function newInvite(server: TestServer, by: Api, columns: Record<string, unknown> = {}): Promise<string> {
  const parent = await keyOf(server, by);
  return server.db.write(async (tx) => {
    const id = newId('inv', tx.now);
    const row = { id, digest: server.root.digest(id), created_by: by.personId, parent_key_id: parent, boards: '[]' };
    await tx.change((db) =>
      db('server_invites').insert({ ...row, created_at: tx.now, expires_at: tx.now + 86_400_000, ...columns }),
    );
    return id;
  });
}

/** A machine's request that a person has approved and that was not collected; answers its id. */
export async function newApproval(server: TestServer, by: Api): Promise<string> {
  const key = await keyOf(server, by);
  return server.db.write(async (tx) => {
    const id = newId('mrq', tx.now);
    const digests = {
      code_digest: server.root.digest(`${id} code`),
      secret_digest: server.root.digest(`${id} secret`),
    };
    const asked = { handle: 'anybody', label: 'laptop', requested_from: '127.0.0.1', polls: 0 };
    const decided = { state: 'approved', decided_by: by.personId, decided_key: key };
    await tx.change((db) =>
      db('machine_requests').insert({
        id,
        ...digests,
        ...asked,
        ...decided,
        created_at: tx.now,
        expires_at: tx.now + 300_000,
      }),
    );
    return id;
  });
}

/** Keeps many writes of these clients under way until each is told that its credential has ended, after some were answered. */
export async function inConstantUse(
  clients: Api[],
  board: string,
): Promise<{ ended: Promise<string[]>; posted: number }> {
  const use = { ended: Promise.resolve<string[]>([]), posted: 0 };
  let answered = 0;
  const enough = Promise.withResolvers<void>();
  const go = async (api: Api, n: number): Promise<string> => {
    for (;;) {
      // Posts of one moment share a transaction, and what is refused has one of its own.
      const { status, code } = await (n % 4 === 0
        ? api.call('postMessage', { params: { board }, body: { body: 'on and on' } })
        : api.call('createTask', { params: { board: 'nowhere' }, body: { title: 'on and on' } }));
      if (status === 201) use.posted++;
      if (code === 'unauthorized' || code === 'agent_removed') return code;
      if (++answered === 200) enough.resolve();
    }
  };
  use.ended = Promise.all(
    Array.from({ length: 48 }, (_unused, n) => go(clients[n % clients.length] as Api, Math.floor(n / clients.length))),
  );
  await Promise.race([enough.promise, use.ended]);
  return use;
}
