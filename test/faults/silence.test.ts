/** Several processes on one Postgres, one of which dies: what it committed is seen, and its clients go on elsewhere. */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Api } from '../support/api.ts';
import { newAgent, newBoard, post } from '../support/cast.ts';
import { forEachDatabase } from '../support/databases.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { TestStream } from '../support/stream.ts';
import { until } from '../support/until.ts';
import { newFolder, remove } from './databases.ts';
import { type Child, launchServer, launchSilent } from './launch.ts';

forEachDatabase('a process that dies beside others', (engine) => {
  // A file of SQLite is served by one process.
  if (engine === 'sqlite') return;

  let server: TestServer;
  const folders: string[] = [];
  before(async () => {
    server = await startTestServer(engine);
  });
  after(async () => {
    await server.stop();
    for (const folder of folders) remove(folder);
  });

  /** Another process on the same database. */
  function beside(launch: typeof launchServer): Child {
    const dataDir = newFolder('beside');
    folders.push(dataDir);
    for (const file of ['server-secret', 'local-key']) copyFileSync(join(server.dataDir, file), join(dataDir, file));
    return launch({ dataDir, db: server.databaseUrl });
  }

  it('between a commit and its wake-up is heard of by the others within a second', async () => {
    const board = await newBoard(server.dana);
    const agent = await newAgent(server.dana, board.name);
    const stream = await TestStream.open(server.dana, { board: board.name });
    await stream.frame(({ event }) => event === 'ready');
    const waiting = agent.ok('readInbox', { query: { wait: 500 } });
    await until(() => server.clock.waiting(500_000) > 0, 'the wait sleeps');

    const release = server.clock.holdBack(1_000);
    const writer = beside(launchSilent);
    const there = new Api(await writer.ready, server.dana.token);
    // Whether its answer still gets out is chance; what was committed counts.
    const answer = post(there, board.name, 'my last words').catch(() => null);
    expect(await writer.exited).to.equal(null);
    await stream.frame(({ event }) => event === 'event');
    const { messages } = await waiting;
    release();
    expect(messages.map(({ body }) => body)).to.deep.equal(['my last words']);
    await answer;
    stream.close();
  });

  it('and one that lives and tells nobody are both heard of in time', async () => {
    const board = await newBoard(server.dana);
    const agent = await newAgent(server.dana, board.name);
    const writer = beside((options) => launchServer({ ...options, bug: 'no_notify_postgres' }));
    const there = new Api(await writer.ready, server.dana.token);
    const stream = await TestStream.open(server.dana, { board: board.name });
    await stream.frame(({ event }) => event === 'ready');
    const waiting = agent.ok('readInbox', { query: { wait: 500 } });
    await until(() => server.clock.waiting(500_000) > 0, 'the wait sleeps');
    const release = server.clock.holdBack(1_000);
    await post(there, board.name, 'unheard');
    await stream.frame(({ event }) => event === 'event');
    expect((await waiting).messages.map(({ body }) => body)).to.deep.equal(['unheard']);
    release();
    stream.close();
    await writer.stop();
  });

  it('loses nothing, and its clients go on with another', async () => {
    const board = await newBoard(server.dana);
    const agent = await newAgent(server.dana, board.name);
    const doomed = beside(launchServer);
    const url = await doomed.ready;
    const there = new Api(url, server.dana.token);
    const stream = await TestStream.open(there, { board: board.name, after: 0 });
    await stream.frame(({ event }) => event === 'ready');
    const waiting = new Api(url, agent.token).ok('readInbox', { query: { wait: 500 } }).catch(() => null);
    const acknowledged: number[] = [];
    const write = async (n: number) => {
      for (let k = 0; k < 30; k++)
        acknowledged.push((await post(n % 2 ? there : server.dana, board.name, `${n}.${k}`)).seq);
    };
    const writers = [1, 2, 3, 4].map((n) => write(n).catch(() => {}));
    await until(() => acknowledged.length > 20, 'they write');
    await doomed.kill();
    await Promise.all([...writers, waiting]);
    await stream.until(() => stream.ended);

    const seen = stream.named('event').map(({ id }) => Number(id));
    const last = stream.frames.findLast(({ id }) => id !== undefined)?.id ?? '0';
    const again = await TestStream.open(server.dana, { board: board.name }, { 'last-event-id': last });
    await again.frame(({ event }) => event === 'ready');
    seen.push(...again.named('event').map(({ id }) => Number(id)));
    again.close();
    const { head_seq } = await server.dana.ok('getBoard', { params: { board: board.name } });
    expect(seen).to.deep.equal(Array.from({ length: head_seq }, (_unused, n) => n + 1));
    expect(seen).to.include.members(acknowledged);
    const inbox = await agent.ok('readInbox', { query: { limit: 200 } });
    expect(inbox.messages.map(({ seq }) => seq)).to.include.members(acknowledged);
  });
});
