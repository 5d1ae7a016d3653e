import { expect } from 'chai';
import type { Api } from '../../support/api.ts';
import { type Agent, newAgent, newBoard, post } from '../../support/cast.ts';
import { leastCostOf } from '../../support/counting.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeBoard, changeKey, endMember, revokeKey, setPolicy } from '../../support/state.ts';
import { TestStream } from '../../support/stream.ts';
import { until } from '../../support/until.ts';

forEachDatabase('a wait', (engine) => {
  let server: TestServer;
  let board: string;
  let agent: Agent;
  before(async () => {
    server = await startTestServer(engine);
  });
  beforeEach(async () => {
    board = (await newBoard(server.dana)).name;
    agent = await newAgent(server.dana, board);
  });
  after(() => server.stop());

  /** Starts a wait and answers once it sleeps. */
  async function asleep<T>(
    start: () => Promise<T>,
    seconds = 600,
  ): Promise<{ waiting: Promise<T>; done: () => boolean }> {
    let done = false;
    const before = server.clock.waiting(seconds * 1000);
    const waiting = start().finally(() => {
      done = true;
    });
    waiting.catch(() => {});
    await until(() => server.clock.waiting(seconds * 1000) > before, 'the wait sleeps');
    return { waiting, done: () => done };
  }

  const inbox = (api: Api, query = {}) => api.call('readInbox', { query: { wait: 600, ...query } });

  it('for the inbox ends with the message that comes', async () => {
    const { waiting } = await asleep(() => inbox(agent));
    const message = await post(server.dana, board, 'wake up');
    const { body } = await waiting;
    expect(body.messages.map(({ id }) => id)).to.deep.equal([message.id]);
  });

  it('is answered at once when something is there', async () => {
    const { seq } = await post(server.dana, board, 'already here');
    expect((await inbox(agent)).body.messages).to.have.length(1);
    const { done, waiting } = await asleep(() => inbox(agent, { after: seq }));
    expect(done()).to.equal(false);
    await post(server.dana, board, 'the next');
    expect((await waiting).body.messages.map(({ body }) => body)).to.deep.equal(['the next']);
  });

  it('ends with a message, and with its key, that came after it had read and before it slept', async () => {
    // The use of a key is written down between the two, once a minute.
    const meanwhile = (happens: () => Promise<unknown>): void => {
      server.clock.advance(61_000);
      const { write } = server.db;
      server.db.write = async (fn, allowed) => {
        server.db.write = write;
        await happens();
        return write.call(server.db, fn, allowed) as never;
      };
    };
    const reader = await newAgent(server.dana, board);
    meanwhile(() => post(server.dana, board, 'in between'));
    expect((await inbox(reader)).body.messages.map(({ body }) => body)).to.deep.equal(['in between']);
    const { seq } = await post(server.dana, board, 'known');
    meanwhile(() => endMember(server, reader.memberId));
    expect((await inbox(reader, { after: seq })).status).to.equal(403);
  });

  it('sleeps through what is not for it', async () => {
    const other = await newAgent(server.dana, board);
    const root = await post(server.dana, board, 'a thread', { to: [`@${other.name}`] });
    const sleeping = await asleep(() => inbox(agent));
    await post(server.dana, board, 'for the other', { to: [`@${other.name}`] });
    await post(agent, board, 'my own');
    await post(other, board, 'a reply', { reply_to: root.id });
    await agent.ok('ackInbox', { body: { up_to: 1 } });
    const { seq } = await post(server.dana, board, 'for me', { to: [`@${agent.name}`] });
    expect((await sleeping.waiting).body.messages.map((message) => message.seq)).to.deep.equal([seq]);
  });

  it('is ended by a mention, as the inbox is', async () => {
    const other = await newAgent(server.dana, board);
    const { waiting } = await asleep(() => inbox(agent));
    await post(server.dana, board, `ask @${agent.name}`, { to: [`@${other.name}`] });
    expect((await waiting).body.messages).to.have.length(1);
  });

  it('answers an empty page when its time is over, not before', async () => {
    const { waiting, done } = await asleep(() => inbox(agent, { wait: 60 }), 60);
    server.clock.advance(55_000);
    await agent.ok('readInbox');
    expect(done()).to.equal(false);
    server.clock.advance(5_000);
    const { status, body } = await waiting;
    expect([status, body.messages]).to.deep.equal([200, []]);
  });

  it('for replies ends with a reply of any depth, after the number given', async () => {
    const root = await post(server.dana, board, 'root');
    const first = await post(agent, board, 'first', { reply_to: root.id, to: ['all'] });
    const wait = (message: string, after: number) =>
      server.dana.call('listReplies', { params: { message }, query: { wait: 600, after } });
    const { waiting, done } = await asleep(() => wait(root.id, first.seq));
    await post(agent, board, 'elsewhere');
    expect(done()).to.equal(false);
    const deep = await post(agent, board, 'deeper', { reply_to: first.id, to: ['all'] });
    expect((await waiting).body.replies.map(({ id }) => id)).to.deep.equal([deep.id]);
    expect((await wait(first.id, 0)).body.replies).to.have.length(2);
  });

  it('ends within a second with 401 when the key is revoked, for both kinds', async () => {
    const rex = await server.person(`rex-${board}`);
    const own = await newBoard(rex);
    const root = await post(rex, own.name, 'root');
    const seat = await newAgent(rex, own.name);
    const waits = [
      await asleep(() => inbox(seat)),
      await asleep(() => rex.call('listReplies', { params: { message: root.id }, query: { wait: 600 } })),
      await asleep(() => seat.call('listReplies', { params: { message: root.id }, query: { wait: 600 } })),
    ];
    const release = server.clock.holdBack(1_000);
    await revokeKey(server, rex);
    for (const { waiting } of waits) expect((await waiting).code).to.equal('unauthorized');
    release();
  });

  it('ends with 401 at the moment its key expires', async () => {
    const kim = await server.person(`kim-${board}`);
    const own = await newBoard(kim);
    const seat = await newAgent(kim, own.name);
    await changeKey(server, kim, { expires_at: server.clock.now() + 60_000 });
    const { waiting, done } = await asleep(() => inbox(seat));
    server.clock.advance(50_000);
    await agent.ok('readInbox');
    expect(done()).to.equal(false);
    server.clock.advance(10_000);
    expect((await waiting).code).to.equal('unauthorized');
  });

  it('ends with 403 for an ended seat and 404 for a deleted board', async () => {
    const { waiting } = await asleep(() => inbox(agent));
    await endMember(server, agent.memberId);
    expect((await waiting).code).to.equal('agent_removed');

    const second = await newAgent(server.dana, board);
    const deleted = await asleep(() => inbox(second));
    await changeBoard(server, board, { lifecycle: 'deleted' });
    await server.db.write(async (tx) => tx.publish(`credential:${second.memberId}`));
    expect((await deleted.waiting).code).to.equal('board_not_found');
  });

  it('for replies ends with 404 when its thread becomes unreadable', async () => {
    const other = await newAgent(server.dana, board);
    const root = await post(server.dana, board, 'for the other', { to: [`@${other.name}`] });
    const wait = () => agent.call('listReplies', { params: { message: root.id }, query: { wait: 600 } });
    const { waiting } = await asleep(wait);
    await setPolicy(server, board, { visibility: 'addressed' });
    expect((await waiting).code).to.equal('message_not_found');
  });

  it('shares 32 places per credential with streams; one more is 429 until one is free', async () => {
    const streams = await Promise.all(Array.from({ length: 31 }, () => TestStream.open(agent, { board })));
    const { waiting } = await asleep(() => inbox(agent));
    const more = await fetch(`${server.url}/v1/stream?board=${board}`, { headers: agent.headers({}) });
    expect([more.status, more.headers.get('retry-after')]).to.deep.equal([429, '5']);
    await more.body?.cancel();
    expect(await agent.refused('readInbox', { query: { wait: 1 } })).to.equal('429 rate_limited');
    // What need not wait needs no place, and another credential has its own.
    expect((await agent.call('readInbox')).status).to.equal(200);
    const other = await TestStream.open(server.dana, { board });
    expect(other.status).to.equal(200);
    await post(server.dana, board, 'frees the wait');
    await waiting;
    const again = await TestStream.open(agent, { board });
    expect(again.status).to.equal(200);
    for (const stream of [...streams, other, again]) stream.close();
  });

  // A file of SQLite is served by one process, whose clock it has.
  if (engine === 'postgres')
    it('and a stream look again when it is time by the database, whose clock is behind that of the process', async () => {
      const { clock } = server;
      const { now } = clock;
      clock.now = () => now.call(clock) + 120_000;
      const soon = new Date(now.call(clock) + 60_000).toISOString();
      const params = { board, member: agent.name };
      await server.dana.ok('releaseAgent', { params, body: { action: 'pause', until: soon } });
      await post(await newAgent(server.dana, board), board, 'there is no hurry');
      const { waiting } = await asleep(() => inbox(agent));
      const stream = await TestStream.open(await server.person('pat', 'member', { expiresIn: 60 }));
      await stream.frame(({ event }) => event === 'ready');
      const { reads } = await leastCostOf(server, async () => {
        for (let n = 0; n < 20; n++) await server.nobody.ok('getInfo');
      });
      expect(reads).to.equal(0);
      clock.advance(60_001);
      expect((await waiting).body.messages).to.have.length(1);
      await stream.frame(({ event }) => event === 'end');
      Reflect.deleteProperty(clock, 'now');
    });

  it('and every stream are ended by the closing server, the wait with an empty answer', async () => {
    const own = await startTestServer(engine);
    const { name } = await newBoard(own.dana);
    const seat = await newAgent(own.dana, name);
    const streams = [await TestStream.open(own.dana), await TestStream.open(seat, { board: name })];
    for (const stream of streams) await stream.frame(({ event }) => event === 'ready');
    const waiting = seat.call('readInbox', { query: { wait: 500 } });
    await until(() => own.clock.waiting(500_000) === 1, 'the wait sleeps');
    const release = own.clock.holdBack(2_000);
    await own.stop();
    const { status, body } = await waiting;
    expect([status, body.messages]).to.deep.equal([200, []]);
    for (const stream of streams) {
      await stream.until(() => stream.ended);
      expect(stream.frames.at(-1)).to.deep.include({ event: 'end', data: { reason: 'server_shutdown' } });
    }
    release();
  });
});
