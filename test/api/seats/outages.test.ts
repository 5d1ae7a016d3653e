/** What is decided about agents that could not report, because no server was there to take it. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import type { Task } from '../../../src/contract/types.ts';
import { StorageFull } from '../../../src/server/db/dialect.ts';
import { Api } from '../../support/api.ts';
import { type Agent, newAgent, newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { putOnBoard } from '../../support/state.ts';
import { until } from '../../support/until.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

forEachDatabase('after an outage of the server', (engine) => {
  let server: TestServer;
  let pam: Api;
  let tom: Api;
  let board: string;
  let claude: Agent;
  let codex: Agent;
  let task: Task;
  before(async () => {
    server = await startTestServer(engine);
    pam = await server.person('pam');
    tom = await server.person('tom');
  });
  beforeEach(async () => {
    board = (await newBoard(server.dana)).name;
    await putOnBoard(server, board, pam);
    await putOnBoard(server, board, tom);
    claude = await newAgent(pam, board, { name: 'claude' });
    codex = await newAgent(tom, board, { name: 'codex' });
    task = await begin(claude);
  });
  after(() => server.stop());

  const report = (by: Api, presence = 'working') => by.ok('setPresence', { body: { presence } });
  /** Is there, with a task and a line that names files. */
  const begin = async (agent: Agent): Promise<Task> => {
    await report(agent);
    const body = { title: 'Cap the backoff', start: true };
    const begun = await agent.ok('createTask', { params: { board }, body });
    await agent.ok('setMyLine', {
      body: { kind: 'working', text: 'Retries', paths: ['src/**'], repo: 'github.com/a/b' },
    });
    return begun;
  };
  const seen = (agent: Agent = claude) => tom.ok('getMember', { params: { board, member: agent.memberId } });
  const isStale = async (each: Task = task): Promise<boolean> =>
    (await tom.ok('getTask', { params: { board, task: each.ref } })).stale_since !== undefined;
  const takeOver = async (each: Task = task) =>
    (await codex.call('startTask', { params: { board, task: each.ref }, body: { take_over: true } })).code ?? 'taken';
  const prunable = async (): Promise<(string | null)[]> => {
    const { agents } = await pam.ok('pruneAgents', { body: { disconnected_for: 3_600, dry_run: true } });
    return agents.filter((agent) => agent.board === board).map(({ name }) => name);
  };
  /** Whether the agent counts as gone, in all that is decided by it. */
  const verdicts = async (agent: Agent = claude, each: Task = task) => ({
    stale: await isStale(each),
    needs: (await pam.ok('listNeeds')).needs.some(({ kind, id }) => kind === 'task_stale' && id === each.id),
    line: (await seen(agent)).line?.text ?? null,
    prunable: (await prunable()).includes(agent.name),
  });
  const there = { stale: false, needs: false, line: 'Retries', prunable: false };
  const gone = { stale: true, needs: true, line: null, prunable: true };

  it('who was there has three minutes to report again, and is gone then', async () => {
    const last = server.clock.now();
    await server.restart(2 * HOUR);
    const { presence, presence_since } = await seen();
    expect([presence, Math.abs(Date.parse(presence_since ?? '') - last) < 5_000]).to.deep.equal(['no_session', true]);
    expect(await verdicts()).to.deep.equal(there);
    expect(await takeOver()).to.equal('task_taken');
    server.clock.advance(175_000);
    expect(await verdicts()).to.deep.equal(there);
    server.clock.advance(6_000);
    expect(await verdicts()).to.deep.equal(gone);
    expect(await takeOver()).to.equal('taken');
  });

  it('who reports again has kept its task and its line', async () => {
    await server.restart(2 * HOUR);
    server.clock.advance(MINUTE);
    await report(claude);
    expect(await verdicts()).to.deep.equal(there);
    expect((await codex.ok('listClaims')).claims.map(({ agent }) => agent)).to.deep.equal(['claude']);
    server.clock.advance(2 * MINUTE);
    await report(claude);
    server.clock.advance(2 * MINUTE);
    expect(await verdicts()).to.deep.equal(there);
  });

  it('who had left before it is gone at once', async () => {
    server.clock.advance(20 * MINUTE);
    await server.restart(2 * HOUR);
    expect(await verdicts()).to.deep.equal(gone);
  });

  it('who said that it leaves is gone at once', async () => {
    await report(claude, 'no_session');
    await server.restart(2 * HOUR);
    expect(await verdicts()).to.deep.equal(gone);
  });

  it('which was ended for a moment only, it is the same outage', async () => {
    await server.restart(HOUR);
    server.clock.advance(30_000);
    await server.restart(HOUR);
    server.clock.advance(175_000);
    expect(await verdicts()).to.deep.equal(there);
    server.clock.advance(6_000);
    expect(await verdicts()).to.deep.equal(gone);
  });

  it('that was over long ago, a restart gives nobody more time', async () => {
    await server.restart(2 * HOUR);
    server.clock.advance(HOUR);
    await server.restart(30_000);
    expect(await verdicts()).to.deep.equal(gone);
  });

  it('keeps a line that is set in the three minutes, with nobody there, as long as any such line', async () => {
    await server.restart(2 * HOUR);
    await claude.ok('setMyLine', { body: { kind: 'working', text: 'By hand' } });
    server.clock.advance(181_000);
    expect((await seen()).line?.text).to.equal('By hand');
  });

  it('of no more than a minute, which is a restart, time goes on as if there had been none', async () => {
    server.clock.advance(100_000);
    await server.restart(50_000);
    expect((await seen()).line?.text).to.equal('Retries');
    server.clock.advance(31_000);
    expect((await seen()).line).to.equal(null);
  });

  it('in which it could read and write nothing, it is the same once it can write again', async () => {
    await server.restart();
    const { db, clock } = server;
    const { write } = db;
    db.write = () => Promise.reject(new StorageFull(null));
    const isMissed = () => {
      const missed = () => server.log.filter((line) => line.includes('noting that the server is there failed')).length;
      const before = missed();
      return until(() => {
        clock.advance(30_000);
        return missed() > before;
      }, 'it cannot be noted that the server is there');
    };
    await isMissed();
    clock.advance(2 * HOUR);
    await isMissed();
    db.write = write;
    const kept = () => until(async () => (await seen()).line !== null, 'the line is kept');
    await clock.within(1_000, kept);
    expect(await verdicts()).to.deep.equal(there);
    clock.advance(181_000);
    expect(await verdicts()).to.deep.equal(gone);
  });

  if (engine === 'postgres')
    it('of one of two processes, all is as if there had been no outage', async () => {
      const twin = await startTwin(server);
      await server.close();
      for (let n = 0; n < 8; n++) {
        server.clock.advance(20_000);
        await report(new Api(twin.url, codex.token));
      }
      await server.restart();
      await twin.close();
      server.clock.advance(MINUTE);
      expect((await seen()).line).to.equal(null);
    });

  if (engine === 'postgres')
    it('of the database alone, it is the same once that can be reached again', async () => {
      const gate = await gateTo(server.databaseUrl!);
      const twin = await startTwin({ ...server, databaseUrl: gate.url });
      await server.close();
      const read = () => new Api(twin.url, tom.token).call('getMember', { params: { board, member: claude.memberId } });
      const line = async () => (await read()).body.line?.text ?? null;
      expect(await line()).to.equal('Retries');
      gate.shut();
      await until(async () => server.log.some((line) => line.includes('it is asked again')), 'the database is away');
      server.clock.advance(2 * HOUR);
      await gate.open();
      await until(async () => (await read()).status === 200, 'it can be reached again');
      await until(async () => (await line()) === 'Retries', 'the line is kept');
      server.clock.advance(181_000);
      expect(await line()).to.equal(null);
      await twin.close();
      gate.shut();
      await server.restart();
    });
});

/** A way to a database that can be shut. */
async function gateTo(databaseUrl: string) {
  const url = new URL(databaseUrl);
  const [hostname, target] = [url.hostname, Number(url.port)];
  const sockets = new Set<Socket>();
  const gate = createServer((near) => {
    const far = connect(target, hostname);
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) sockets.add(socket.on('error', () => {}));
  });
  const open = (port: number) => once(gate.listen(port, '127.0.0.1'), 'listening');
  await open(0);
  const { port } = gate.address() as AddressInfo;
  url.port = String(port);
  return {
    url: String(url),
    open: () => open(port),
    shut(): void {
      gate.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
