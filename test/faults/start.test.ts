/** Handing over a key as a file, cut off at every step: before each call that changes a key file, and before each commit. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { recoverKey } from '../../src/server/upkeep/recover.ts';
import { type Engine, forEachDatabase } from '../support/databases.ts';
import { newPostgresDatabase } from '../support/postgres.ts';
import { migrated } from '../support/server.ts';
import { PUBLIC_URL, startTeamServer, type TeamServer } from '../support/team.ts';
import { serverModule } from './launch.ts';

const program = fileURLToPath(new URL('crash-process.mjs', import.meta.url));
const AT_ONCE = 3;

/** Runs to its end, or to the given step. @returns how many steps there were; null when it was cut off. */
function run(at: number, module: string, name: string, options: object, file: string): Promise<number | null> {
  const args = [String(at), module, name, JSON.stringify(options), file];
  const child = spawn(process.execPath, [program, ...args]);
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  return new Promise((resolve, reject) => {
    child.once('close', (code, signal) => {
      if (signal === 'SIGKILL') resolve(null);
      else if (code === 0) resolve(Number(out));
      else reject(new Error(err));
    });
  });
}

/** Tries every step there is, several at once; answers how many there are. */
async function everyStep(cutOffAt: (step: number) => Promise<number | null>): Promise<number> {
  let next = 0;
  let steps: number | null = null;
  const work = async (): Promise<void> => {
    while (steps === null) steps = (await cutOffAt(++next)) ?? steps;
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return steps ?? 0;
}

interface Left {
  people: { handle: string }[];
  keys: { name: string; origin: string }[];
}

const left = (server: TeamServer): Promise<Left> =>
  server.db.read(async (tx) => ({
    people: await tx.query<{ handle: string }>((db) => db('people').select('handle')),
    keys: await tx.query<{ name: string; origin: string }>((db) =>
      db('access_keys').orderBy('created_at').select('name', 'origin'),
    ),
  }));

const folder = (): string => mkdtempSync(join(tmpdir(), 'board-service-crash-'));
const databaseOf = async (engine: Engine) => (engine === 'postgres' ? newPostgresDatabase() : undefined);

forEachDatabase('a key that is handed over as a file', (engine) => {
  it('is delivered by the next start, or never was, wherever the first start of a team was cut off', async function () {
    this.timeout(180_000);
    const team = { publicUrl: PUBLIC_URL, adminHandle: 'ana' };
    const steps = await everyStep(async (at) => {
      const [dataDir, db] = [folder(), await databaseOf(engine)];
      // Migrated as that of Postgres is: no step comes before the schema is there.
      if (engine === 'sqlite') writeFileSync(join(dataDir, 'service.db'), await migrated(), { mode: 0o600 });
      const file = join(dataDir, 'admin-key');
      const options = { dataDir, db, host: '127.0.0.1', port: 0, portFixed: true, team };
      const done = await run(at, serverModule(), 'startServer', options, file);
      const server = await startTeamServer(engine, { dataDir, databaseUrl: db });
      expect(await server.admin().ok('getMe'), `step ${at}`).to.include({ name: 'ana', server_role: 'admin' });
      expect(await left(server), `step ${at}`).to.deep.equal({
        people: [{ handle: 'ana' }],
        keys: [{ name: 'admin-key', origin: 'first_admin' }],
      });
      expect(readdirSync(dataDir), `step ${at}`).not.to.include('admin-key.pending');
      await server.stop();
      return done;
    });
    expect(steps).to.be.at.least(9);
  });

  it('is delivered by the next recovery, or never was, wherever one was cut off', async function () {
    this.timeout(180_000);
    const steps = await everyStep(async (at) => {
      const server = await startTeamServer(engine);
      const { dataDir, databaseUrl: db } = server;
      await server.close();
      const file = join(dataDir, 'recovery-key');
      const options = { dataDir, db, handle: 'ana' };
      const done = await run(at, serverModule(), 'recoverKey', options, file);
      expect(await recoverKey(options), `step ${at}`).to.deep.equal({ handle: 'ana', key_file: file });
      await server.restart();
      const me = await server.client(readFileSync(file, 'utf8').trim()).ok('getMe');
      expect(me, `step ${at}`).to.include({ name: 'ana', server_role: 'admin' });
      const { people, keys } = await left(server);
      expect(people, `step ${at}`).to.have.length(1);
      expect(
        keys.filter(({ origin }) => origin === 'recovery'),
        `step ${at}`,
      ).to.have.length(1);
      expect(existsSync(`${file}.pending`), `step ${at}`).to.equal(false);
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
      return done;
    });
    expect(steps).to.be.at.least(9);
  });
});
