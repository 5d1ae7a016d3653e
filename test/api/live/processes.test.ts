/** Two servers on one Postgres. */
import { expect } from 'chai';
import pg from 'pg';
import type { RunningServer } from '../../../src/server/serve.ts';
import { Api } from '../../support/api.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { TestStream } from '../../support/stream.ts';

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

  it('show a post of one on a stream of the other', async () => {
    const board = await newBoard(server.dana);
    const stream = await TestStream.open(dana, { board: board.name });
    await stream.frame((frame) => frame.event === 'ready');
    const message = await post(server.dana, board.name, 'over there');
    await stream.frame((frame) => frame.id === String(message.seq));
    stream.close();
  });

  it('wake a wait of one by a post to the other', async () => {
    const board = await newBoard(server.dana);
    const agent = await newAgent(server.dana, board.name);
    const waiting = new Api(twin.url, agent.token).ok('readInbox', { query: { wait: 20 } });
    await post(server.dana, board.name, 'wake up');
    expect((await waiting).messages.map((message) => message.body)).to.deep.equal(['wake up']);
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
    await Promise.all(
      Array.from({ length: 50 }, (_unused, index) =>
        post(index % 2 === 0 ? server.dana : dana, board.name, `post ${index}`),
      ),
    );
    const { events } = await dana.ok('listEvents', { params: { board: board.name }, query: { limit: 200 } });
    expect(events.map((event) => event.seq)).to.deep.equal(Array.from({ length: 52 }, (_unused, index) => index + 1));
  });

  it('find what was committed without a wake-up: the safety poll costs at most a second', async () => {
    const board = await newBoard(server.dana);
    const stream = await TestStream.open(dana, { board: board.name });
    await stream.frame((frame) => frame.event === 'ready');
    await cutWakeUps(server.databaseUrl ?? '');
    const message = await post(server.dana, board.name, 'in the dark');
    await stream.frame((frame) => frame.id === String(message.seq));
    stream.close();
  });

  it('end a stream of one within a second of a revocation by the other, without any wake-up', async () => {
    const maya = await server.person('maya');
    const there = new Api(twin.url, maya.token);
    const stream = await TestStream.open(there);
    await stream.frame((frame) => frame.event === 'ready');
    await server.db.write((tx) =>
      tx.change((db) =>
        db('access_keys')
          .where('person_id', maya.personId ?? '')
          .update({ revoked_at: tx.now }),
      ),
    );
    const end = await stream.frame((frame) => frame.event === 'end', 2_000);
    expect(end.data).to.deep.equal({ reason: 'credential_ended' });
    expect(await there.refused('getMe')).to.equal('401 unauthorized');
  });
});

/** Ends every connection over which servers tell each other of commits. */
async function cutWakeUps(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'service-wake' AND datname = current_database()",
  );
  await client.end();
  expect(rows.length).to.be.greaterThan(1);
}
