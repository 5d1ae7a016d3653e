/** What the tests of invites have in common. */
import type { Answer } from '../../../src/contract/types.ts';
import { Api } from '../../support/api.ts';
import type { TestServer } from '../../support/server.ts';

export type Invite = Answer<'createInvite'>;
export type Connected = Extract<Answer<'connectPerson'>, { key: { token: string } }>;
export type ClientConnected = Extract<Answer<'connectPerson'>, { onboarding: unknown }>;

export const invite = (admin: Api, body: Record<string, unknown> = {}): Promise<Invite> =>
  admin.ok('createInvite', { body });

export const secretOf = ({ invite: link }: Invite): string => new URL(link).hash.slice(1);

/** Looks at an invite by holding it. */
export const preview = (server: { url: string }, secret: string) => new Api(server.url, secret).call('previewInvite');

export const connect = (server: { url: string }, body: Record<string, unknown>) =>
  new Api(server.url).call('connectPerson', { body: { key_name: 'laptop', ...body } });

export const setPerson = (server: TestServer, person: Api, columns: Record<string, unknown>): Promise<number> =>
  server.db.write((tx) =>
    tx.change((db) =>
      db('people')
        .where('id', person.personId ?? '')
        .update(columns),
    ),
  );

export const setInvite = (server: TestServer, { id }: Invite, columns: Record<string, unknown>): Promise<number> =>
  server.db.write((tx) => tx.change((db) => db('server_invites').where({ id }).update(columns)));

/** Everything the server has written down, to look for what must not be in it. */
export async function everything(server: TestServer): Promise<string> {
  const tables = [
    'people',
    'access_keys',
    'server_invites',
    'onboarding_receipts',
    'server_audit',
    'idempotency',
    'events',
  ];
  const rows = await server.db.read(async (tx) => {
    const all: unknown[] = [];
    for (const table of tables) all.push(await tx.query((db) => db(table).select('*')));
    return all;
  });
  const text = (_key: string, value: unknown) =>
    (value as { type?: string })?.type === 'Buffer'
      ? Buffer.from((value as { data: number[] }).data).toString('latin1')
      : value;
  return `${JSON.stringify(rows, text)}\n${server.log.join('\n')}`;
}
