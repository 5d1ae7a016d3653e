import { expect } from 'chai';
import { insertPerson } from '../../../src/server/people/people.store.ts';
import { loadRootKey } from '../../../src/server/upkeep/root-secret.ts';
import type { Answered } from '../../support/api.ts';
import { newBoard, post } from '../../support/cast.ts';
import { type Cost, costOf } from '../../support/counting.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { put } from '../../support/files.ts';
import { startTeamServer, type TeamServer } from '../../support/team.ts';
import type { WireApi } from '../../support/wire-api.ts';

forEachDatabase('what signed-in callers of a team server may ask for', (engine) => {
  let server: TeamServer;
  let ana: WireApi;
  let board: string;
  before(async () => {
    // Half of a number is quicker reached: 30 posts of an agent, 60 of a person, 60 waits, 300 writes.
    server = await startTeamServer(engine, { rateFactor: 0.5 });
    ana = server.admin();
    board = (await newBoard(ana)).name;
  });
  beforeEach(() => server.clock.nextMinute());
  after(() => server.stop());

  const newAgent = async (): Promise<WireApi> => {
    const { token } = await ana.ok('joinBoard', { body: { board, role: 'member' } });
    return server.client(token);
  };
  const limited = ({ status, code, headers, body }: Answered<unknown>): string | null => {
    if (code !== 'rate_limited') return null;
    const { details } = (body as unknown as { error: { details: { bucket: string; retry_after_seconds: number } } })
      .error;
    expect(status).to.equal(429);
    expect(details.retry_after_seconds).to.equal(Number(headers.get('retry-after')));
    return details.bucket;
  };
  const say = (from: WireApi, key?: string) =>
    from.call('postMessage', { params: { board }, body: { body: 'x' }, ...(key === undefined ? {} : { key }) });

  it('is so many posts of an agent, and of a person; replays are not counted', async () => {
    const agent = await newAgent();
    for (let n = 0; n < 29; n++) expect((await say(agent)).status).to.equal(201);
    for (let n = 0; n < 5; n++) expect((await say(agent, 'same')).status).to.equal(201);
    const over = await say(agent);
    expect(limited(over)).to.equal('posts');
    expect(Number(over.headers.get('retry-after'))).to.be.within(1, 60);
    const again = await say(agent, 'same');
    expect([again.status, again.replayed]).to.deep.equal([201, true]);
    expect((await say(await newAgent())).status).to.equal(201);
    expect((await say(ana)).status).to.equal(201);
    server.clock.nextMinute();
    expect((await say(agent)).status).to.equal(201);
  });

  it('is so many lines of one agent, set by itself or by its person', async () => {
    const agent = await newAgent();
    const { name } = await agent.ok('getMe');
    const body = { kind: 'working', text: 'x' };
    for (let n = 0; n < 15; n++) expect((await agent.call('setMyLine', { body })).status).to.equal(200);
    expect(limited(await agent.call('setMyLine', { body }))).to.equal('lines');
    expect((await agent.call('clearMyLine')).status).to.equal(200);
    const on = (member: string) => ({ params: { board, member }, body });
    for (let n = 0; n < 15; n++) expect((await ana.call('setAgentLine', on(name))).status).to.equal(200);
    expect(limited(await ana.call('setAgentLine', on(name)))).to.equal('lines');
    const other = await (await newAgent()).ok('getMe');
    expect((await ana.call('setAgentLine', on(other.name))).status).to.equal(200);
  });

  it('leaves nothing behind of what is refused, and keeps no answer of it', async () => {
    const agent = await newAgent();
    for (let n = 0; n < 30; n++) await say(agent);
    const { message_count: before } = await ana.ok('getBoard', { params: { board } });
    expect(limited(await say(agent, 'later'))).to.equal('posts');
    expect((await ana.ok('getBoard', { params: { board } })).message_count).to.equal(before);
    server.clock.nextMinute();
    const later = await say(agent, 'later');
    expect([later.status, later.replayed]).to.deep.equal([201, false]);
  });

  it('is so many writes of a credential, whatever comes of them, replays included', async () => {
    const agent = await newAgent();
    const ack = (up_to: number) => agent.call('ackInbox', { body: { up_to } });
    for (let n = 0; n < 150; n++) expect((await ack(0)).status).to.equal(200);
    expect(limited(await ack(0))).to.equal('acks');
    for (let n = 0; n < 149; n++) expect((await say(agent, `k${n % 10}`)).status).to.equal(201);
    expect(limited(await say(agent, 'k1'))).to.equal('writes');
    expect(limited(await agent.call('listMessages', { params: { board } }))).to.equal(null);
  });

  it('is decided after the credential and its kind, and before the request’s shape', async () => {
    const agent = await newAgent();
    for (let n = 0; n < 300; n++) await agent.call('ackInbox', { body: { what: n } });
    expect(limited(await agent.call('ackInbox', { body: { what: 1 } }))).to.equal('writes');
    expect(
      limited(await agent.call('postMessage', { params: { board }, body: {}, key: 'ü' }).catch(() => say(agent))),
    ).to.equal('writes');
    expect((await agent.call('createBoard', { body: {} })).code).to.equal('human_token_required');
    const member = (await agent.ok('getMe')) as { member_id?: string; name: string };
    await server.db.write((tx) =>
      tx.change((db) => db('members').where('name', member.name).update({ status: 'left', removed_at: tx.now })),
    );
    expect((await say(agent)).code).to.equal('agent_removed');
    expect((await server.client('abh_junk').call('createBoard', { body: {} })).code).to.equal('unauthorized');
  });

  it('is so many streams and waits, and reads besides', async () => {
    const agent = await newAgent();
    const wait = (seconds: number) => agent.call('readInbox', { query: { wait: seconds } });
    await post(ana, board, 'something to read at once');
    for (let n = 0; n < 60; n++) {
      const { status, body } = await wait(1);
      expect(status).to.equal(200);
      // Who acknowledges nothing is made to wait after the 40th.
      if (n !== 30) continue;
      await agent.ok('ackInbox', { body: { up_to: body.messages.at(-1)?.seq } });
      await post(ana, board, 'something else to read at once');
    }
    expect(limited(await wait(1))).to.equal('waits');
    expect((await wait(0)).status).to.equal(200);
    const stream = await agent.call('openStream', { query: { board } });
    expect(limited(stream as Answered<unknown>)).to.equal('waits');
  });

  it('is so many writes of tasks and of what files are, together; uploads have a number of their own', async () => {
    const agent = await newAgent();
    const { name } = (await put(ana, board, 'rated.md', 'x')) as { name: string };
    const create = () => agent.call('createTask', { params: { board }, body: { title: 'rated' } });
    const update = (n: number) =>
      agent.call('updateFile', { params: { board, file: name }, body: { maintained: n % 2 === 0 } });
    for (let n = 0; n < 30; n++) {
      expect((await create()).status).to.equal(201);
      expect((await update(n)).status).to.equal(200);
    }
    const params = { board, task: 1 };
    const over = [
      create(),
      update(0),
      agent.call('startTask', { params }),
      agent.call('joinTask', { params }),
      agent.call('updateTask', { params, body: { stands: 'x' } }),
      agent.call('finishTask', { params, body: { note: 'x' } }),
      agent.call('dropTask', { params }),
      agent.call('removeFile', { params: { board, file: name } }),
    ];
    for (const answer of await Promise.all(over)) expect(limited(answer)).to.equal('task_and_file_writes');
    expect((await agent.call('getTask', { params })).status).to.equal(200);
    for (let n = 0; n < 60; n++) {
      const answer = await agent.call('uploadFile', { params: { board }, query: { name: `u${n}.md` }, bytes: 'x' });
      expect(answer.status).to.equal(201);
    }
    const upload = { params: { board }, query: { name: 'over.md' }, bytes: 'x' };
    expect(limited(await agent.call('uploadFile', upload))).to.equal('uploads');
    expect((await ana.call('approveFile', { params: { board, file: name }, body: { version: 1 } })).status).to.equal(
      200,
    );
    server.clock.nextMinute();
    expect((await create()).status).to.equal(201);
    // What was uploaded is read into the index now, and not while another test counts statements.
    await ana.ok('search', { query: { q: 'x' } });
  });

  it('is so many boards an hour', async () => {
    const carol = await newPerson(server, 'carol');
    // What follows lies in one hour.
    server.clock.advance(3_600_000 - (server.clock.now() % 3_600_000));
    for (let n = 0; n < 30; n++) expect((await carol.call('createBoard', { body: {} })).status).to.equal(201);
    server.clock.nextMinute();
    const over = await carol.call('createBoard', { body: {} });
    expect([over.code, Number(over.headers.get('retry-after')) > 0]).to.deep.equal(['rate_limited', true]);
    server.clock.advance(3_600_000);
    expect((await carol.call('createBoard', { body: {} })).status).to.equal(201);
  });

  it('is so many renames an hour', async () => {
    const dora = await newPerson(server, 'dora');
    server.clock.advance(3_600_000 - (server.clock.now() % 3_600_000));
    const rename = (n: number) =>
      dora.call('renamePerson', { params: { handle: `dora${n || ''}` }, body: { handle: `dora${n + 1}` } });
    for (let n = 0; n < 10; n++) expect((await rename(n)).status).to.equal(200);
    server.clock.nextMinute();
    expect(limited(await rename(10))).to.equal('renames');
    server.clock.advance(3_600_000);
    expect((await rename(10)).status).to.equal(200);
  });

  it('costs no statement', async () => {
    const free = await startTeamServer(engine, { rateFactor: 0 });
    /** The least of several posts: the index of the search and the watch of other processes write and read in between. */
    const cost = async (of: TeamServer) => {
      const { name } = await newBoard(of.admin());
      await post(of.admin(), name, 'x');
      const all: Cost[] = [];
      for (let n = 0; n < 20; n++) all.push(await costOf(of as never, () => post(of.admin(), name, 'x')));
      const least = (field: keyof Cost) => Math.min(...all.map((one) => one[field]));
      return [least('writes'), least('writeStatements'), least('reads'), least('readStatements')];
    };
    expect(await cost(server)).to.deep.equal(await cost(free));
    for (let n = 0; n < 150; n++) await post(free.admin(), (await newBoard(free.admin())).name, 'x');
    await free.stop();
  });
});

async function newPerson(server: TeamServer, handle: string): Promise<WireApi> {
  const token = `abh_${handle.padEnd(43, 'x')}`;
  const root = loadRootKey(server.dataDir);
  await server.db.write(async (tx) => {
    const { id: person_id } = await insertPerson(tx, { handle, server_role: 'member' });
    await tx.change((db) =>
      db('access_keys').insert({
        id: `key_${handle}`,
        person_id,
        name: 'laptop',
        digest: root.digest(token),
        created_at: tx.now,
        origin: 'created',
      }),
    );
  });
  return server.client(token);
}
