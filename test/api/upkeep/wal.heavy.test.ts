/** The write-ahead log of SQLite beside its database: small under load, emptied in quiet moments, gone after a close. */
import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect } from 'chai';
import { QUIET_MS } from '../../../src/server/db/sqlite-checkpoint.ts';
import { newBoard } from '../../support/cast.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

const MIB = 1024 * 1024;

describe('the write-ahead log of SQLite', () => {
  let server: TestServer;
  let board: string;
  let database: string;
  before(async () => {
    server = await startTestServer('sqlite');
    database = join(server.dataDir, 'service.db');
    board = (await newBoard(server.dana)).name;
  });
  after(() => server.stop());

  const size = () => statSync(`${database}-wal`).size;

  const post = (body: string) => server.dana.ok('postMessage', { params: { board }, body: { body } });

  async function postMany(count: number, text = ''): Promise<void> {
    for (let left = count; left > 0; left -= 250)
      await Promise.all(Array.from({ length: 250 }, (_, n) => post(`${n} ${text}`)));
  }

  /** Moves time on until nothing is left to do. */
  const quiet = (holds: () => boolean) =>
    until(
      () => {
        server.clock.advance(QUIET_MS);
        return holds();
      },
      'the log is emptied',
      15_000,
    );

  /** The messages that a machine finds whose power went off now. */
  function durable(): number {
    const folder = mkdtempSync(join(tmpdir(), 'board-service-wal-'));
    const copy = join(folder, 'service.db');
    for (const end of ['', '-wal']) copyFileSync(database + end, copy + end);
    const db = new Sqlite(copy);
    try {
      return db.prepare('SELECT count(*) FROM messages').pluck().get() as number;
    } finally {
      db.close();
      rmSync(folder, { recursive: true });
    }
  }

  it('stays below 20 MB under load, is emptied in a quiet moment, and takes the next post', async () => {
    await postMany(5_000, 'text '.repeat(1_600));
    expect(statSync(database).size + size()).to.be.above(40 * MIB);
    expect(size()).to.be.above(MIB).and.below(20_000_000);
    await quiet(() => size() < MIB);
    await until(() => server.clock.waiting(QUIET_MS) === 0, 'nothing waits without a reason');
    await post('directly afterwards');
    expect(size()).to.be.above(0);
    expect(durable()).to.equal(5_001);
    await quiet(() => size() === 0);
    expect(durable()).to.equal(5_001);
  });

  it('is left alone while writes wait', async () => {
    await quiet(() => size() === 0);
    await post('one');
    const written = size();
    const waits = server.db.write(async () => {});
    for (let times = 0; times < 3; times++) server.clock.advance(QUIET_MS);
    expect(size()).to.equal(written);
    await waits;
    await quiet(() => size() === 0);
  });

  it('is emptied later when somebody reads for long, who goes on reading the same', async () => {
    let finish = () => {};
    const reading = server.db.read(async (tx) => {
      const count = () => tx.query<{ n: number }>((knex) => knex('messages').count({ n: '*' }));
      const before = await count();
      await new Promise<void>((resolve) => (finish = resolve));
      return [before, await count()];
    });
    await postMany(500);
    for (let times = 0; times < 3; times++) server.clock.advance(QUIET_MS);
    expect(size()).to.be.above(0);
    expect(server.clock.waiting(QUIET_MS)).to.equal(1);
    await post('while it reads');
    finish();
    const [before, after] = await reading;
    expect(after).to.deep.equal(before);
    await quiet(() => size() === 0);
    const { messages } = await server.dana.ok('listMessages', { params: { board }, query: { newest: true, limit: 1 } });
    expect(messages[0]?.body).to.equal('while it reads');
  });

  it('is gone after a close, also when something was still being read', async () => {
    await post('the last one');
    const reading = server.db.read(async (tx) => {
      await new Promise((resolve) => setImmediate(resolve));
      return tx.query((knex) => knex('messages').limit(1));
    });
    await server.close();
    expect(await reading).to.have.length(1);
    const late = await server.db.read(async () => 'read').catch((error: Error) => error.message);
    expect(late).to.equal('the database is closed');
    for (const end of ['-wal', '-shm']) expect(existsSync(database + end), end).to.equal(false);
  });
});
