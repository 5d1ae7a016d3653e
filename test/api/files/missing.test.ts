/** A server that is started where bytes are missing, as after a restore without them. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { shellArgument } from '../../../src/contract/text.ts';
import { LOOKING } from '../../../src/server/blobs/blobs.ts';
import type { Claim } from '../../../src/server/db/tx.ts';
import { withoutPassword } from '../../../src/server/upkeep/storage.ts';
import { newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { damage, lose, put, tryPut } from '../../support/files.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

const DAY_MS = 86_400_000;

forEachDatabase('a server that is started', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  /** What it says of the files after another start. */
  async function told(): Promise<Record<string, unknown>> {
    server.log.length = 0;
    await server.restart();
    const lines = () => server.log.map((line) => JSON.parse(line) as Record<string, unknown>);
    const line = () =>
      lines().find(({ msg }) => /^(the bytes of all files are there|bytes of files are )/.test(String(msg)));
    await until(() => line() !== undefined, 'it has looked');
    return line()!;
  }

  it('looks for the bytes of every file, and warns of those that are not there, with the line that names them', async () => {
    const { name } = await newBoard(server.dana);
    const [gone, cut] = [
      await put(server.dana, name, 'gone.md', 'lost'),
      await put(server.dana, name, 'cut.md', 'long'),
    ];
    await put(server.dana, name, 'kept.md', 'kept');
    expect(await told()).to.include({ level: 'info', msg: 'the bytes of all files are there', checked: 3 });

    await lose(server, gone.latest.digest);
    await damage(server, cut.latest.digest, 'lon');
    const line = await told();
    expect(line).to.include({ level: 'warn', msg: 'bytes of files are missing or damaged', missing: 1, damaged: 1 });
    const where =
      engine === 'postgres' ? ` --db ${shellArgument(withoutPassword(server.databaseUrl!))} --files db:` : '';
    expect(line['look']).to.equal(`service storage check --data ${server.dataDir}${where}`);
    expect(JSON.stringify(line)).to.not.include('gone.md');
  });

  if (engine === 'postgres') {
    it('leaves looking for them to another process that is at it', async () => {
      const held: Claim[] = [];
      // The server's own look may not be over.
      await until(async () => {
        const free = await server.db.claim(LOOKING, 0);
        if (free) held.push(free);
        return free !== null;
      }, 'nobody looks');
      server.log.length = 0;
      const before = server.clock.waiting(6 * 3_600_000);
      const twin = await startTwin(server);
      await until(() => server.clock.waiting(6 * 3_600_000) > before, 'it has collected, and has looked if it does');
      expect(server.log.filter((line) => /bytes of (all )?files are/.test(line))).to.deep.equal([]);
      await held[0]!();
      await twin.close();
    });
  }

  it('on files of another database takes none of them away, which may be put back', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'board-service-files-'));
    const files = `disk://${join(folder, 'files')}`;
    const first = await startTestServer(engine, { files });
    const { name } = await newBoard(first.dana);
    const { latest } = await put(first.dana, name, 'kept.md', 'kept for years');
    const hex = latest.digest.slice('sha256:'.length);
    const path = join(folder, 'files', 'sha256', hex.slice(0, 2), hex.slice(2, 4), hex);
    const before = new Date(Date.now() - 172_800_000);
    utimesSync(path, before, before);

    const second = await startTestServer(engine, { files });
    await until(() => second.clock.waiting(6 * 3_600_000) > 0, 'it has collected');
    expect(existsSync(path)).to.equal(true);
    await second.stop();
    await first.stop();
    rmSync(folder, { recursive: true });
  });

  it('on an earlier state of its database keeps the bytes that a later one knew of, after further starts too', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'board-service-files-'));
    const earlier = await startTestServer(engine, { files: `disk://${join(folder, 'files')}` });
    const { name } = await newBoard(earlier.dana);
    await put(earlier.dana, name, 'known.md', 'known');
    /** Bytes without a row, as if they had been put so long after now. */
    const lay = (digit: string, ms: number): string => {
      const parent = join(folder, 'files', 'sha256', digit.repeat(2), digit.repeat(2));
      mkdirSync(parent, { recursive: true, mode: 0o700 });
      const path = join(parent, digit.repeat(64));
      writeFileSync(path, 'later', { mode: 0o600 });
      const at = new Date(Date.now() + ms);
      utimesSync(path, at, at);
      return path;
    };
    const later = [lay('1', DAY_MS), lay('2', 2.9 * DAY_MS)];
    // No folder: the first collection ends there.
    const obstacle = join(folder, 'files', 'sha256', '00');
    writeFileSync(obstacle, '');
    const collected = () => until(() => earlier.clock.waiting(DAY_MS / 4) > 0, 'it has collected');
    const start = async (days: number) => {
      await earlier.close();
      earlier.clock.advance(days * DAY_MS);
      await earlier.restart();
      await collected();
    };
    await start(3);
    await put(earlier.dana, name, 'new.md', 'put after it was put back');
    rmSync(obstacle);
    await start(2);
    expect(later.map((path) => existsSync(path))).to.deep.equal([true, true]);

    const own = lay('3', 5 * DAY_MS + 60_000);
    earlier.clock.advance(2 * DAY_MS);
    await until(() => !existsSync(own), 'what came since is collected');
    await collected();
    expect(later.map((path) => existsSync(path))).to.deep.equal([true, true]);
    await earlier.stop();
    rmSync(folder, { recursive: true });
  });

  it('collects what a former one put and had no time to note, or could not remove', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'board-service-files-'));
    const own = await startTestServer(engine, { files: `disk://${join(folder, 'files')}` });
    const { name } = await newBoard(own.dana);
    const run = (sql: string) => own.db.write((tx) => tx.change((db) => db.raw(sql)));
    const collected = () => until(() => own.clock.waiting(DAY_MS / 4) > 0, 'it has collected');
    const pathOf = (text: string): string => {
      const hex = createHash('sha256').update(text).digest('hex');
      return join(folder, 'files', 'sha256', hex.slice(0, 2), hex.slice(2, 4), hex);
    };
    const [unnoted, stuck] = [pathOf('unnoted'), pathOf('stuck')];
    await run(
      engine === 'sqlite'
        ? "CREATE TRIGGER refuse BEFORE INSERT ON blobs WHEN NEW.size > 0 BEGIN SELECT RAISE(ABORT, 'ended'); END"
        : `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''ended''; END';
           CREATE TRIGGER refuse BEFORE INSERT ON blobs FOR EACH ROW WHEN (NEW.size > 0) EXECUTE FUNCTION refuse()`,
    );
    expect((await tryPut(own.dana, name, 'a.md', 'unnoted')).status).to.equal(500);
    await run(engine === 'sqlite' ? 'DROP TRIGGER refuse' : 'DROP FUNCTION refuse CASCADE');
    await own.db.write((tx) =>
      tx.change((db) => db('blobs').insert({ digest: `sha256:${basename(stuck)}`, size: 5, touched_at: 1 })),
    );
    mkdirSync(stuck, { recursive: true });
    await collected();
    own.clock.advance(DAY_MS / 4);
    await until(() => own.log.some((line) => line.includes('unused bytes cannot be removed')), 'it was tried');
    rmSync(stuck, { recursive: true });
    writeFileSync(stuck, 'stuck');
    expect([unnoted, stuck].map((path) => existsSync(path))).to.deep.equal([true, true]);

    await own.restart(2 * DAY_MS);
    await collected();
    expect([unnoted, stuck].map((path) => existsSync(path))).to.deep.equal([false, false]);
    const noted = await own.db.read((tx) => tx.query((db) => db('blobs').select('digest')));
    expect(noted).to.deep.equal([]);
    await own.stop();
    rmSync(folder, { recursive: true });
  });
});
