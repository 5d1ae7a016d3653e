import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type RecoverOptions, recoverKey } from '../../../src/server/upkeep/recover.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { newPostgresDatabase } from '../../support/postgres.ts';
import { startTeamServer, type TeamServer } from '../../support/team.ts';

forEachDatabase('a recovered key', (engine) => {
  let server: TeamServer;
  let file: string;
  before(async () => {
    server = await startTeamServer(engine);
    file = join(server.dataDir, 'recovery-key');
  });
  afterEach(async () => {
    rmSync(file, { force: true });
    await server.restart();
  });
  after(() => server.stop());

  const options = (handle: string, more: Partial<RecoverOptions> = {}): RecoverOptions => ({
    dataDir: server.dataDir,
    db: server.databaseUrl,
    clock: server.clock,
    handle,
    ...more,
  });
  const failure = (trying: Promise<unknown>) =>
    trying.then(
      () => 'done',
      (error: { code?: string; message: string }) => error.code ?? error.message,
    );
  const keys = () =>
    server.db.read((tx) =>
      tx.query<{ name: string; origin: string; idle_seconds: number | null }>((db) =>
        db('access_keys').orderBy(['created_at', 'id']).select('name', 'origin', 'idle_seconds'),
      ),
    );

  it('is a further key of an admin, in a file that is its owner’s alone', async () => {
    await server.close();
    expect(await recoverKey(options('ana'))).to.deep.equal({ handle: 'ana', key_file: file });
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    await server.restart();
    const me = await server.client(readFileSync(file, 'utf8').trim()).ok('getMe');
    expect(me).to.include({ name: 'ana', server_role: 'admin' });
    expect(me).to.have.property('id', ((await server.admin().ok('getMe')) as { id?: string }).id);
    expect((await keys()).at(-1)).to.deep.equal({ name: 'recovery-key', origin: 'recovery', idle_seconds: 7_776_000 });
    const [entry] = await server.db.read((tx) =>
      tx.query<{ action: string; details_json: string }>((db) => db('server_audit').where('action', 'key.recovered')),
    );
    expect(JSON.parse(entry!.details_json)).to.include({ name: 'recovery-key', origin: 'recovery' });
  });

  it('is made once: what lies there already is given again, or never replaced', async () => {
    await server.close();
    await recoverKey(options('ana'));
    const made = readFileSync(file, 'utf8');
    await recoverKey(options('ana'));
    expect(readFileSync(file, 'utf8')).to.equal(made);
    writeFileSync(file, `abh_${'A'.repeat(43)}\n`, { mode: 0o600 });
    expect(await failure(recoverKey(options('ana')))).to.equal('local_file_exists');
    expect(readFileSync(file, 'utf8')).to.include('AAAA');
  });

  it('has a name of its own beside earlier ones that work', async () => {
    const before = (await keys()).length;
    await server.close();
    for (let n = 0; n < 2; n++) {
      await recoverKey(options('ana'));
      rmSync(file);
    }
    await server.restart();
    const names = (await keys()).map(({ name }) => name);
    expect(names).to.have.length(before + 2);
    expect(new Set(names).size).to.equal(names.length);
  });

  it('is made however many keys of the admin work: without one there is no way to revoke them', async () => {
    const admin = server.admin();
    for (let n = 0; (await admin.call('createKey', { body: { name: `spare-${n}` } })).status === 201; n++);
    expect(await admin.refused('createKey', { body: { name: 'more' } })).to.equal('409 limit_reached');
    await server.close();
    await recoverKey(options('ana'));
    await server.restart();
    const recovered = server.client(readFileSync(file, 'utf8').trim());
    const { keys: all } = await recovered.ok('listKeys', { query: { state: 'working' } });
    for (const { id, name } of all)
      if (name.startsWith('spare-')) await recovered.ok('revokeKey', { params: { key: id } });
  });

  it('is for a present admin only, and leaves no file behind otherwise', async () => {
    await server.db.write(async (tx) => {
      await tx.change((db) =>
        db('people').insert({
          ...{ id: 'hum_01K5A0000000000000000000B1', handle: 'ben', server_role: 'member', created_at: 1 },
        }),
      );
      await tx.change((db) =>
        db('people').insert({
          ...{
            id: 'hum_01K5A0000000000000000000C1',
            handle: 'cleo',
            server_role: 'admin',
            created_at: 1,
            removed_at: 2,
          },
        }),
      );
    });
    const before = await keys();
    await server.close();
    expect(await failure(recoverKey(options('ben')))).to.equal('server_admin_required');
    expect(await failure(recoverKey(options('cleo')))).to.equal('person_not_found');
    expect(await failure(recoverKey(options('nobody')))).to.equal('person_not_found');
    expect(readdirSync(server.dataDir).filter((name) => name.startsWith('recovery'))).to.deep.equal([]);
    await server.restart();
    expect(await keys()).to.deep.equal(before);
  });

  it('is not made while the server runs', async () => {
    expect(await failure(recoverKey(options('ana')))).to.equal('already_running');
    expect(existsSync(file)).to.equal(false);
  });

  it('is looked for where a server is: nothing is made in a wrong folder, or in a wrong database', async () => {
    await server.close();
    const empty = mkdtempSync(join(tmpdir(), 'board-service-empty-'));
    expect(await failure(recoverKey(options('ana', { dataDir: empty })))).to.equal('storage_unreachable');
    expect(readdirSync(empty)).to.deep.equal([]);
    expect(await failure(recoverKey(options('ana', { dataDir: join(empty, 'none') })))).to.equal('storage_unreachable');
    expect(existsSync(join(empty, 'none'))).to.equal(false);
    const db = engine === 'postgres' ? await newPostgresDatabase() : `sqlite://${join(empty, 'other.db')}`;
    expect(await failure(recoverKey(options('ana', { db })))).to.equal('storage_differs');
    expect(readdirSync(empty)).to.deep.equal([]);
    rmSync(empty, { recursive: true });
  });
});
