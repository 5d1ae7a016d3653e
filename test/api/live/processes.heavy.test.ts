/** Two servers on one Postgres. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import pg from 'pg';
import { ChainVerifier } from '../../../src/contract/chain.ts';
import { PostgresDatabase } from '../../../src/server/db/postgres.ts';
import type { RunningServer } from '../../../src/server/serve.ts';
import { Api } from '../../support/api.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { TestClock } from '../../support/clock.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { PostgresRelay } from '../../support/postgres-relay.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { fillLog, putOnBoard } from '../../support/state.ts';
import { TestStream } from '../../support/stream.ts';
import { until } from '../../support/until.ts';
import { addBob, decline, held, scene } from '../approvals/cast.ts';

const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

forEachDatabase('two servers on one database', (engine) => {
  if (engine === 'sqlite') {
    it('are refused: a second server on one file ends with an error that says so', async () => {
      const server = await startTestServer(engine);
      const second = await import('../../../src/server/serve.ts').then(({ startServer }) =>
        startServer({ dataDir: server.dataDir, host: '127.0.0.1', port: 0, portFixed: true }).then(
          () => null,
          (error: { code?: string }) => error,
        ),
      );
      expect(second?.code).to.equal('already_running');
      await server.stop();
    });
    return;
  }

  let server: TestServer;
  let twin: RunningServer;
  let dana: Api;
  before(async () => {
    server = await startTestServer(engine);
    twin = await startTwin(server);
    dana = new Api(twin.url, server.dana.token);
  });
  after(async () => {
    await twin.close();
    await server.stop();
  });

  it('show a post of one on a stream of the other within 100 ms of its answer', async () => {
    const board = await newBoard(server.dana);
    const stream = await TestStream.open(dana, { board: board.name });
    await stream.frame((frame) => frame.event === 'ready');
    const release = server.clock.holdBack(100);
    for (let n = 0; n < 21; n++) {
      const { seq } = await post(server.dana, board.name, 'over there');
      await stream.frame((frame) => frame.id === String(seq));
    }
    release();
    stream.close();
  });

  it('go on for a stream of one where the other was cut off', async () => {
    const board = await newBoard(server.dana);
    await fillLog(server, board.name, 70);
    const first = await TestStream.open(server.dana, { board: board.name, after: 0 });
    await first.frame(({ id }) => id === '57');
    first.close();
    const second = await TestStream.open(dana, { board: board.name }, { 'last-event-id': '57' });
    const ready = await second.frame(({ event }) => event === 'ready');
    const ids = second.named('event').map(({ id }) => Number(id));
    expect(ids).to.deep.equal(Array.from({ length: 72 - 57 }, (_, n) => 58 + n));
    second.close();
    // Cut off before it was given any event: `ready` has told where to go on.
    const { seq } = await post(server.dana, board.name, 'meanwhile');
    const third = await TestStream.open(server.dana, { board: board.name }, { 'last-event-id': ready.id ?? '' });
    await third.frame(({ event }) => event === 'ready');
    expect(third.named('event').map(({ id }) => id)).to.deep.equal([String(seq)]);
    third.close();
  });

  it('wake a wait of one by a post to the other', async () => {
    const board = await newBoard(server.dana);
    const agent = await newAgent(server.dana, board.name);
    const there = new Api(twin.url, agent.token);
    const asleep = (seconds: number) =>
      until(() => server.clock.waiting(seconds * 1_000) > 0, `somebody sleeps for ${seconds} s`);
    const waiting = there.ok('readInbox', { query: { wait: 501 } });
    await asleep(501);
    const release = server.clock.holdBack(1_000);
    const { seq } = await post(server.dana, board.name, 'wake up');
    expect((await waiting).messages.map((message) => message.body)).to.deep.equal(['wake up']);
    release();
    // Not acknowledged, and yet not given again to who has seen it.
    const again = there.ok('readInbox', { query: { wait: 502, after: seq } });
    await asleep(502);
    const next = await post(server.dana, board.name, 'and again');
    expect((await again).messages.map((message) => message.seq)).to.deep.equal([next.seq]);
    expect((await there.ok('readInbox')).messages).to.have.length(2);
  });

  it('have one effect and one answer for 32 requests with one key, half of them to each', async () => {
    const board = await newBoard(server.dana);
    const answers = await Promise.all(
      Array.from({ length: 32 }, (_unused, index) =>
        (index % 2 === 0 ? server.dana : dana).call('postMessage', {
          params: { board: board.name },
          body: { body: 'once' },
          key: 'the-same',
        }),
      ),
    );
    expect(new Set(answers.map((answer) => answer.text)).size).to.equal(1);
    expect(answers.filter((answer) => !answer.replayed)).to.have.length(1);
    const { messages } = await dana.ok('listMessages', { params: { board: board.name } });
    expect(messages).to.have.length(1);
  });

  it('number the posts of both without a gap', async () => {
    const board = await newBoard(server.dana);
    const seen: number[] = [];
    const page = async (reader: Api) => {
      const query = { after: seen.at(-1) ?? 0, limit: 7 };
      const { messages } = await reader.ok('listMessages', { params: { board: board.name }, query });
      seen.push(...messages.map(({ seq }) => seq));
    };
    let posting = true;
    const posts = Promise.all(
      Array.from({ length: 50 }, (_unused, index) =>
        post(index % 2 === 0 ? server.dana : dana, board.name, `post ${index}`),
      ),
    ).finally(() => {
      posting = false;
    });
    for (let n = 0; posting || seen.length < 50; n++) await page(n % 2 === 0 ? server.dana : dana);
    await posts;
    expect(seen).to.deep.equal(Array.from({ length: 50 }, (_unused, index) => index + 3));
    const { events } = await dana.ok('listEvents', { params: { board: board.name }, query: { limit: 200 } });
    expect(events.map((event) => event.seq)).to.deep.equal(Array.from({ length: 52 }, (_unused, index) => index + 1));
    const times = events.map(({ at }) => at);
    expect(times).to.deep.equal([...times].sort());
    const verifier = new ChainVerifier(board.id, { sha256 });
    for (const event of events) expect(await verifier.add(event)).to.equal(null);
  });

  it('tell each other what was committed while one had no connection for wake-ups', async () => {
    const pam = await server.person('pam');
    const stream = await TestStream.open(new Api(twin.url, pam.token));
    await stream.frame((frame) => frame.event === 'ready');
    // It does not come back before this is over.
    const release = server.clock.holdBack(25);
    const lost = () => server.log.filter((line) => line.includes('"state":"lost"')).length;
    const before = lost();
    // The first server's, which began before the other's.
    expect(await cutWakeUps(server.databaseUrl ?? '', 1)).to.equal(1);
    await until(() => lost() > before, 'it is noticed');
    await pam.ok('setAllowance', { body: { categories: ['add_people'] } });
    release();
    await stream.frame((frame) => frame.event === 'allowance');
    stream.close();
  });

  it('read 32 streams at once where wake-ups were lost, and each of them once for that', async () => {
    const people = [await server.person('herd-a'), await server.person('herd-b')];
    const { name } = await newBoard(server.dana);
    for (const one of people) await putOnBoard(server, name, one);
    // It has a connection for wake-ups again in that time, and no poll or ping comes in between.
    const release = server.clock.holdBack(500);
    const streams: TestStream[] = [];
    for (const one of people)
      for (let n = 0; n < 20; n++) streams.push(await TestStream.open(one, n < 15 ? { board: name } : {}));
    for (const stream of streams) await stream.frame(({ event }) => event === 'ready');
    const held = Promise.withResolvers<void>();
    let [reading, read] = [0, 0];
    const plain = server.db.read;
    server.db.read = async (fn: never, allows: never) => {
      if (!/(board|hint)-stream\.ts/.test(new Error().stack ?? '')) return plain.call(server.db, fn, allows) as never;
      reading++;
      await held.promise;
      const found = await plain.call(server.db, fn, allows);
      reading--;
      read++;
      return found as never;
    };
    const told = (state: string) => server.log.filter((line) => line.includes(`"state":"${state}"`)).length;
    const before = told('restored');
    await cutWakeUps(server.databaseUrl ?? '');
    await until(() => told('restored') === before + 2, 'both have their connection again');
    expect(reading).to.equal(32);
    held.resolve();
    await until(() => read === 2 * streams.length, 'each stream has read after both');
    expect(reading).to.equal(0);
    Reflect.deleteProperty(server.db, 'read');
    release();
    for (const stream of streams) stream.close();
  });

  it('find what was committed without a wake-up: the safety poll costs at most a second', async () => {
    const board = await newBoard(server.dana);
    const stream = await TestStream.open(dana, { board: board.name });
    await stream.frame((frame) => frame.event === 'ready');
    expect(await cutWakeUps(server.databaseUrl ?? '')).to.be.greaterThan(1);
    const { seq } = await post(server.dana, board.name, 'in the dark');
    await server.clock.within(1_000, () => stream.frame((frame) => frame.id === String(seq)));
    // Once they hear each other again nothing is missing.
    let head = 0;
    for (let n = 0; n < 20; n++) head = (await post(n % 2 === 0 ? server.dana : dana, board.name, 'more')).seq;
    await stream.frame((frame) => frame.id === String(head));
    const ids = stream.named('event').map(({ id }) => Number(id));
    expect(ids).to.deep.equal(Array.from({ length: 21 }, (_unused, index) => seq + index));
    stream.close();
  });

  it('do not take each other for lost because they were busy for seconds', async () => {
    const relay = await PostgresRelay.to(server.databaseUrl ?? '');
    const clock = new TestClock();
    clock.stop();
    const db = new PostgresDatabase(relay.url, clock);
    const gaps: string[] = [];
    await db.follow({ committed: () => {}, gap: (state) => void gaps.push(state), watched: () => [] });
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    for (let n = 1; n <= 5; n++) {
      // It asks whether it hears itself.
      clock.advance(5_000);
      await turn();
      // The answer comes while nobody reads it, and then the time for it is over.
      relay.stayBusyUntil(n);
      clock.advance(2_000);
      await turn();
      await turn();
      expect(gaps).to.deep.equal([]);
    }
    await db.close();
    await relay.close();
  });

  it('hear of what one committed just before it stopped', async () => {
    const stopping = await startTwin(server);
    const pia = await server.person('pia');
    const stream = await TestStream.open(pia);
    await stream.frame((frame) => frame.event === 'ready');
    // It has no time to tell the others before it stops, and they do not look by themselves.
    const release = server.clock.holdBack(4);
    await new Api(stopping.url, pia.token).ok('setAllowance', { body: { categories: ['add_people'] } });
    await stopping.close();
    await stream.frame((frame) => frame.event === 'allowance');
    release();
    stream.close();
  });

  it('find what one committed that ended before it told of it', async () => {
    const dying = await startTwin(server);
    const s = await scene(server);
    const there = new Api(dying.url, s.ana.token);
    const request = await held(s.agent, addBob(s));
    const stream = await TestStream.open(s.ana);
    await stream.frame((frame) => frame.event === 'ready');
    const waiting = s.agent.ok('listNotices', { query: { wait: 504 } });
    await until(() => server.clock.waiting(504_000) > 0, 'the wait sleeps');
    const release = server.clock.holdBack(25);
    expect(await cutWakeUps(server.databaseUrl ?? '', 1, 'DESC')).to.equal(1);
    await decline(there, request);
    await there.ok('setAllowance', { body: { categories: ['add_people'] } });
    await new Api(dying.url, s.agent.token).ok('setMyLine', { body: { kind: 'working', text: 'there' } });
    await dying.close();
    release();
    for (const event of ['approval', 'notice', 'allowance', 'presence'])
      await stream.frame((frame) => frame.event === event);
    expect((await waiting).notices.map(({ kind }) => kind)).to.deep.equal(['approval_declined']);
    stream.close();
  });

  it('end every stream and wait of one within a second of a revocation by the other, without any wake-up', async () => {
    const maya = await server.person('maya');
    const there = new Api(twin.url, maya.token);
    const board = await newBoard(maya);
    const agent = await newAgent(maya, board.name);
    const root = await post(maya, board.name, 'root', { to: ['@maya'] });
    const streams = [await TestStream.open(there), await TestStream.open(there, { board: board.name })];
    for (const stream of streams) await stream.frame((frame) => frame.event === 'ready');
    const waits = [
      new Api(twin.url, agent.token).call('readInbox', { query: { wait: 503 } }),
      there.call('listReplies', { params: { message: root.id }, query: { wait: 503 } }),
    ];
    await until(() => server.clock.waiting(503_000) === 2, 'both waits sleep');
    expect(await cutWakeUps(server.databaseUrl ?? '')).to.be.greaterThan(1);
    await server.db.write((tx) =>
      tx.change((db) =>
        db('access_keys')
          .where('person_id', maya.personId ?? '')
          .update({ revoked_at: tx.now }),
      ),
    );
    const release = server.clock.holdBack(1_000);
    for (const stream of streams) {
      const end = await stream.frame((frame) => frame.event === 'end');
      expect(end.data).to.deep.equal({ reason: 'credential_ended' });
    }
    for (const wait of waits) expect((await wait).code).to.equal('unauthorized');
    release();
    expect(await there.refused('getMe')).to.equal('401 unauthorized');
  });
});

/** Ends connections over which servers tell each other of commits, the oldest first or the newest; answers how many. */
async function cutWakeUps(url: string, most = 100, order: 'ASC' | 'DESC' = 'ASC'): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(
    `SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity WHERE application_name = 'service-wake'
     AND datname = current_database() ORDER BY backend_start ${order} LIMIT ${most}) AS wake`,
  );
  await client.end();
  return rows.length;
}
