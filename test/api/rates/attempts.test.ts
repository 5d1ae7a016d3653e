import { expect } from 'chai';
import { Attempts } from '../../../src/server/rates/attempts.ts';
import { memoryTally } from '../../../src/server/rates/memory.ts';
import { forgetOld } from '../../../src/server/rates/rates.store.ts';
import { sharedTally } from '../../../src/server/rates/shared.ts';
import type { RateName } from '../../../src/server/rates/table.ts';
import { type AttemptRow, operationsOf, attempts as table } from '../../../src/server/rates/table.ts';
import { newBoard, newCode } from '../../support/cast.ts';
import { type Engine, forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const rows = Object.entries(table) as [RateName, AttemptRow][];
const bucketOf = (error: { details?: { bucket?: string } }): string | undefined => error.details?.bucket;

forEachDatabase('every bucket of attempts', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  beforeEach(() => server.clock.nextMinute());
  after(() => server.stop());

  const limiter = (): Attempts => attemptsOf(server, engine);
  const last = (n: number): string => `203.0.${n >> 8}.${n & 255}`;
  /** The bucket that refuses, or null. */
  const refusal = (entering: Promise<unknown>): Promise<string | undefined | null> =>
    entering.then(() => null, bucketOf);

  for (const [bucket, row] of rows) {
    const name = operationsOf(bucket)[0]!;
    const code = row.failures === undefined ? null : row.failures === 'any' ? 'internal' : row.failures[0]!;

    if (row.address !== undefined)
      it(`${bucket} refuses an address after ${row.address}, and no other address`, async () => {
        const attempts = limiter();
        const enter = (address: string) => attempts.enter(name, address).then((pass) => pass(code));
        for (let n = 0; n < row.address!; n++) await enter('203.0.113.9');
        expect(await refusal(enter('203.0.113.9'))).to.equal(bucket);
        expect(await refusal(enter('203.0.113.10'))).to.equal(null);
        server.clock.nextMinute();
        expect(await refusal(enter('203.0.113.9'))).to.equal(null);
      });

    if (row.server !== undefined && row.person === undefined)
      it(`${bucket} refuses everybody after ${row.server}, of which refused addresses use up none`, async () => {
        const attempts = limiter();
        const enter = (address: string | null) => attempts.enter(name, address).then((pass) => pass(code));
        const each = row.address!;
        for (let n = 0; n < each; n++) await enter('203.0.113.9');
        for (let n = 0; n < row.server!; n++) expect(await refusal(enter('203.0.113.9'))).to.equal(bucket);
        for (let n = each; n < row.server!; n++) await enter(last(n));
        expect(await refusal(enter('198.51.100.1'))).to.equal(bucket);
        // An address that is no client's is not counted; the server is.
        expect(await refusal(enter(null))).to.equal(bucket);
        server.clock.nextMinute();
        for (let n = 0; n < row.server!; n++) await enter(null);
        expect(await refusal(enter(null))).to.equal(bucket);
      });

    if (row.person !== undefined)
      it(`${bucket} refuses a person after ${row.person}, and no other person`, async () => {
        const attempts = limiter();
        const enter = (person: string) => attempts.enterAs(name, person).then((pass) => pass(code));
        for (let n = 0; n < row.person!; n++) await enter('hum_1');
        expect(await refusal(enter('hum_1'))).to.equal(bucket);
        expect(await refusal(enter('hum_2'))).to.equal(null);
        if (row.server === undefined) return;
        for (let n = row.person! + 1; n < row.server; n++) await enter(`hum_${n + 100}`);
        expect(await refusal(enter('hum_99'))).to.equal(bucket);
      });

    if (row.failures !== undefined)
      it(`${bucket} counts failures alone, in the minute in which they end`, async () => {
        const attempts = limiter();
        const by = row.address === undefined ? 'enterAs' : 'enter';
        const limit = (row.address ?? row.person)!;
        const enter = () => attempts[by](name, 'x');
        for (let n = 0; n < limit + 5; n++) await (await enter())(null);
        if (row.failures !== 'any') for (let n = 0; n < limit; n++) await (await enter())('board_not_found');
        const early = await enter();
        server.clock.nextMinute();
        await early(code);
        for (let n = 1; n < limit; n++) await (await enter())(code);
        expect(await refusal(enter())).to.equal(bucket);
      });

    if (row.failures !== undefined)
      it(`${bucket} lets no more fail at once than one after the other, and refuses none that succeed`, async () => {
        const attempts = limiter();
        const by = row.address === undefined ? 'enterAs' : 'enter';
        const limit = (row.address ?? row.person)!;
        const both = [attempts, limiterOn(server, engine, attempts)];
        const all = (end: string | null) =>
          Promise.all(
            Array.from({ length: limit * 2 }, async (_unused, n) => {
              const pass = await both[n % 2]![by](name, 'x').catch(() => null);
              // Ends later than it begins, so that many are under way at once.
              if (pass) await new Promise((resolve) => setTimeout(resolve, 20));
              await pass?.(end);
              return pass !== null;
            }),
          );
        expect((await all(null)).filter(Boolean)).to.have.length(limit * 2);
        expect((await all(code)).filter(Boolean)).to.have.length(limit);
      });
  }

  // Where there is one process, there is one clock.
  if (engine === 'postgres')
    for (const [ahead, into] of [
      [20_000, 0],
      [-20_000, 50_000],
    ] as const)
      it(`admits who waited as long as it said, with a clock ${ahead / 1000} s ahead of the database's`, async () => {
        const { clock } = server;
        const { now } = clock;
        clock.advance(into);
        clock.now = () => now.call(clock) + ahead;
        const attempts = limiter();
        const seconds = () =>
          attempts.enter('connectPerson', '203.0.113.9').then(
            () => null,
            (error: { retryAfter: number }) => error.retryAfter,
          );
        for (let n = 0; n < table.redeem.address; n++) expect(await seconds()).to.equal(null);
        expect(await seconds()).to.be.within(1, 60 - into / 1_000);
        clock.advance(((await seconds()) ?? 0) * 1_000);
        expect(await seconds()).to.equal(null);
        Reflect.deleteProperty(clock, 'now');
      });

  if (engine === 'postgres')
    it('changes no answer where the end of an attempt cannot be counted', async () => {
      const change = (sql: string) => server.db.write((tx) => tx.change((db) => db.raw(sql)));
      await change(`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION $$no$$; END'`);
      await change(`CREATE TRIGGER fail BEFORE UPDATE ON rate_counts FOR EACH ROW
        WHEN (NEW.held < OLD.held) EXECUTE FUNCTION fail()`);
      const { name } = await newBoard(server.dana);
      const { code } = await newCode(server.dana, name);
      expect(await server.dana.refused('joinBoard', { body: { code: 'none' } })).to.equal('404 join_code_invalid');
      expect((await server.dana.call('joinBoard', { body: { code } })).status).to.equal(201);
      await change('DROP FUNCTION fail CASCADE');
    });

  it('keeps counts of as many subjects as it may, those used last', async () => {
    if (engine === 'sqlite') return;
    const attempts = limiter();
    for (const address of ['first', 'second', 'third']) {
      await attempts.enter('connectPerson', address);
      server.clock.advance(10);
    }
    await attempts.enter('connectPerson', 'first');
    await server.db.write((tx) => forgetOld(tx, 'redeem', { start: 0, ms: 60_000 }, 2));
    const left = await server.db.read((tx) =>
      tx.query<{ subject: string }>((db) =>
        db('rate_counts').where('bucket', 'redeem').orderBy('subject').select('subject'),
      ),
    );
    expect(left.map(({ subject }) => subject)).to.include.members(['address first', 'address third', 'server']);
    expect(left.map(({ subject }) => subject)).not.to.include('address second');
  });

  it('keeps counts in the database where several processes count together, and no more of them than it needs', async () => {
    if (engine === 'sqlite') return;
    const attempts = limiter();
    const count = () =>
      server.db.read(async (tx) => (await tx.query((db) => db('rate_counts').where('bucket', 'join'))).length);
    for (let n = 0; n < 999; n++) await attempts.enter('joinBoard', last(n));
    const before = await count();
    expect(before).to.be.at.least(999);
    server.clock.advance(180_000);
    await attempts.enter('joinBoard', 'one more');
    expect(await count()).to.equal(1);
  });
});

const attemptsOf = (server: TestServer, engine: Engine): Attempts =>
  new Attempts({
    tally: engine === 'postgres' ? sharedTally(server.db) : memoryTally(() => server.clock.now()),
    clock: server.clock,
  });

/** The limiter of another process of the same database; where there is none, the same one. */
const limiterOn = (server: TestServer, engine: Engine, same: Attempts): Attempts =>
  engine === 'postgres' ? attemptsOf(server, engine) : same;
