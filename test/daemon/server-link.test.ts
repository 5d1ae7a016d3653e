/** The connections to servers, through a proxy that fails as it is told. */
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { notKnown } from '../../src/contract/openapi/problems.ts';
import type { Board } from '../../src/contract/types.ts';
import type { SeatIdentity } from '../../src/daemon/refs.ts';
import { MAX_SOCKETS } from '../../src/daemon/server-link/http.ts';
import { SeatFailure } from '../../src/daemon/server-link/link.ts';
import { credentialsPath, updateCredentials } from '../../src/local/keys/credentials.ts';
import { writePrivate } from '../../src/local/private-file.ts';
import { type Agent, newAgent, newBoard, post } from '../support/cast.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { startTlsProxy } from '../support/tls-proxy.ts';
import { until } from '../support/until.ts';
import { Machine } from './world.ts';

const INBOX = 'GET /v1/me/inbox';
const STREAM = 'GET /v1/stream';

describe('the connection to a server', () => {
  let server: TestServer;
  let serverId: string;
  let proxy: FaultProxy;
  let machine: Machine;

  before(async () => {
    server = await startTestServer('sqlite');
    serverId = (await server.nobody.ok('getInfo')).server_id;
  });
  after(() => server.stop());

  let board: Board;
  let agent: Agent;
  let seat: SeatIdentity;

  beforeEach(async () => {
    proxy = await new FaultProxy(server.url).listen();
    machine = new Machine();
    board = await newBoard(server.dana);
    agent = await newAgent(server.dana, board.name);
    await machine.knows(proxy.url, serverId, server.dana);
    seat = await machine.holds(proxy.url, board, agent);
  });
  afterEach(async () => {
    proxy.heal();
    await machine.close();
    await proxy.down();
  });

  const at = () => machine.servers.at(proxy.url);
  /** Follows the seat and waits until the stream has told all it had. */
  const follow = async () => {
    at().watch(seat);
    await until(() => at().view().connected && machine.told.reads.length >= 1, 'the stream is open');
    await machine.told.until(/^notices/, 2);
  };
  /** Another client of the agent has read so far; the stream tells of it after the messages that were posted before. */
  const readElsewhere = async (seq: number) => {
    await agent.ok('ackInbox', { body: { up_to: seq } });
    await machine.told.until(`read ${seq}`);
  };
  const say = (body: string, more = {}) => post(server.dana, board.name, body, more);

  it('reads at once when a head moves, over a connection that stays open', async () => {
    await follow();
    await say('one');
    await machine.told.until('inbox one');
    await say('two');
    await machine.told.until('inbox one|two');
    expect(at().view()).to.include({ feed: 'stream', connected: true, server_id: serverId });
    expect(machine.told.log).to.include('mode focused 0');
    expect(proxy.connections).to.be.at.most(4);
    expect(machine.told.problems).to.deep.equal([]);
  });

  it('asks nothing while nothing happens', async () => {
    await follow();
    await machine.told.until(/^inbox/, 1);
    const before = proxy.seen.length;
    await post(server.dana, (await newBoard(server.dana)).name, 'elsewhere');
    await say('here');
    await machine.told.until('inbox here');
    // The other board's head moved nothing; this one's took one read.
    expect(proxy.seen.length - before).to.equal(1);
    expect(machine.pauses()).to.deep.equal([]);
  });

  it('has one read of a seat under way, and one more for all that came meanwhile', async () => {
    await follow();
    proxy.fail(INBOX, 'hold', 1);
    const before = proxy.count(INBOX);
    const { seq } = await say('one');
    await until(() => proxy.held === 1, 'a read is under way');
    for (const body of ['two', 'three', 'four']) await say(body);
    await readElsewhere(seq);
    const asked = [at().read(seat), at().read(seat)];
    proxy.release();
    await machine.told.until('inbox two|three|four', 2);
    const reads = await Promise.all(asked);
    expect(reads[0]).to.equal(reads[1]);
    expect(proxy.count(INBOX) - before).to.equal(2);
  });

  it('answers a read that was asked for with one that was sent after that', async () => {
    await follow();
    const before = Math.round(performance.now() * 1_000);
    const read = await at().read(seat);
    expect(read.sentUs).to.be.at.least(before);
    expect(read.atUs).to.be.at.least(read.sentUs);
    proxy.fail(INBOX, 'hold', 1);
    const late = await at()
      .read(seat, { timeoutMs: 1 })
      .catch((error: unknown) => error);
    expect(late).to.be.instanceOf(SeatFailure).and.include({ code: 'request_timeout', problem: undefined });
  });

  it('reads a thousand messages in pages, and the urgent ones behind them', async () => {
    const db = server.db;
    expect(db).to.not.equal(undefined);
    await Promise.all(Array.from({ length: 1_005 }, (_, n) => say(`m${n}`)));
    await say('the last one', { urgent: true });
    at().watch(seat);
    await until(() => machine.told.reads.length > 0, 'the inbox was read');
    const { inbox } = machine.told.reads[0]!.read;
    // Its person's messages wake it all.
    expect(inbox.messages).to.have.length(1_006);
    expect(inbox.messages.at(-1)).to.include({ body: 'the last one', urgent: true });
    expect(inbox.more).to.equal(true);
    expect(new Set(inbox.messages.map(({ seq }) => seq)).size).to.equal(1_006);
  });

  it('reads what wakes the agent behind a thousand messages that do not, and looks through those in between once', async () => {
    const setMode = (mode: 'humans' | 'focused') =>
      server.dana.ok('setDeliveryMode', { params: { board: board.name, member: agent.name }, body: { mode } });
    const other = await newAgent(server.dana, board.name, { name: 'other' });
    await setMode('humans');
    const texts = Array.from({ length: 1_250 }, (_, n) => `m${n}`);
    await Promise.all(texts.map((text) => post(other, board.name, text, { to: [`@${agent.name}`] })));
    await say('please stop');
    await follow();
    const behind = () =>
      machine.told.reads
        .at(-1)!
        .read.inbox.messages.slice(1_000)
        .map(({ body }) => body);
    expect(behind()).to.deep.equal(['please stop']);
    await at().read(seat);
    const asked = proxy.count(INBOX);
    await say('and now?');
    await machine.told.until(/and now\?$/);
    expect(behind()).to.deep.equal(['please stop', 'and now?']);
    expect(proxy.count(INBOX) - asked).to.equal(6);
    // The others wake it too from now on.
    await setMode('focused');
    await at().read(seat);
    expect(behind()).to.have.length(200);
    // What is urgent is found behind as many as are kept.
    await say('stop now', { urgent: true });
    await machine.told.until(/stop now$/);
    expect(behind()).to.have.length(201);
    await setMode('humans');
    await at().read(seat);
    expect(behind()).to.deep.equal(['please stop', 'and now?', 'stop now']);
  });

  it('reads a page of giants in smaller ones', async () => {
    // 60 messages of 32,768 characters that JSON writes in six bytes each are more than one answer may have.
    const giant = '\u0001'.repeat(32_768);
    for (let n = 0; n < 60; n++) await say(giant);
    at().watch(seat);
    await until(() => machine.told.reads.length > 0, 'the inbox was read');
    expect(machine.told.reads[0]!.read.inbox.messages.length).to.be.at.least(25);
    expect(machine.told.problems).to.deep.equal([]);
  });

  it('passes on what the person’s stream says of a seat: cursor, mode, notices', async () => {
    await follow();
    const { seq } = await say('one');
    await agent.ok('ackInbox', { body: { up_to: seq } });
    await machine.told.until(`read ${seq}`);
    await server.dana.ok('setDeliveryMode', {
      params: { board: board.name, member: agent.name },
      body: { mode: 'off' },
    });
    await machine.told.until('mode off 1');
    const another = await newAgent(server.dana, board.name, { name: 'another' });
    await another.ok('ackInbox', { body: { up_to: seq } });
    await say('two');
    await machine.told.until('inbox two');
    // Only of seats that are followed.
    expect(machine.told.log.filter((line) => line === `read ${seq}`).length).to.be.at.least(1);
  });

  it('does not trust a stream about seats and boards that it does not know, or with invalid names', async () => {
    await follow();
    const before = machine.told.log.length;
    const unknown = { member_id: 'mem_01K5A0000000000000000000X1', board_id: 'brd_01K5A0000000000000000000X1' };
    proxy.inject('read', { ...unknown, board: 'x', agent: 'x', read_up_to: 99 });
    proxy.inject('delivery', { ...unknown, mode: 'all', revision: 99 });
    proxy.inject('board_unavailable', unknown);
    proxy.inject('head', { board: 'x', board_id: unknown.board_id, seq: 99 });
    proxy.inject('a_newer_event', { x: 1 });
    proxy.inject('head', 'no object');
    await say('after all that');
    await machine.told.until('inbox after all that');
    expect(machine.told.log.slice(before)).to.deep.equal([
      'mode focused 0',
      `read ${machine.told.reads.at(-1)!.read.inbox.cursor}`,
      'inbox after all that',
    ]);
  });

  it('acknowledges with the seat’s own token, and says why it could not', async () => {
    await follow();
    const { seq } = await say('one');
    expect(await at().ack(seat, seq)).to.deep.equal({ cursor: seq });
    expect(proxy.seen.find(({ path }) => path === '/v1/me/inbox/ack')?.token).to.equal(agent.token);
    const beyond = await at()
      .ack(seat, seq + 100)
      .catch((error: unknown) => error);
    expect(beyond).to.be.instanceOf(SeatFailure).and.include({ code: 'ack_out_of_range', problem: undefined });
    proxy.fail('POST /v1/me/inbox/ack', 'drop_answer', 1);
    const lost = await at()
      .ack(seat, seq)
      .catch((error: unknown) => error);
    expect(lost).to.be.instanceOf(SeatFailure).and.include({ code: 'server_unreachable', problem: undefined });
    expect(await at().ack(seat, seq)).to.deep.equal({ cursor: seq });
  });

  const keepsToEight = async () => {
    await follow();
    proxy.fail('PUT /v1/me/presence', 'hold');
    const before = proxy.connections;
    const many = Array.from({ length: 20 }, () => at().presence(seat, 'idle'));
    await until(() => proxy.held === MAX_SOCKETS, 'eight are under way');
    expect(proxy.connections - before).to.be.at.most(MAX_SOCKETS);
    proxy.heal();
    await Promise.all(many);
  };

  it('tells an older server that a session waits, though not with what', async () => {
    await follow();
    const asks = () => at().presence(seat, 'waiting', 'all', { for: 'question', question: 'Which one?' });
    const shown = () => server.dana.ok('getMember', { params: { board: board.name, member: seat.member_id } });
    await asks();
    expect(await shown()).to.have.nested.property('waiting.question', 'Which one?');
    const details = { field: 'waiting', problem: notKnown(['presence', 'delivery']) };
    const error = { code: 'invalid_request', message: 'waiting: is not known here.', hint: '', details };
    proxy.fail('PUT /v1/me/presence', { status: 400, json: { error } }, 1);
    await asks();
    expect(await shown()).to.include({ presence: 'waiting', delivery: 'all' });
    expect((await shown()).waiting).to.have.all.keys('since');
    proxy.fail('PUT /v1/me/presence', { status: 429, code: 'rate_limited' }, 1);
    expect(await asks().catch((error: unknown) => error)).to.be.instanceOf(SeatFailure);
  });

  it('writes the line of a plan, and tells which one stands', async () => {
    await say('one');
    expect(await at().standingLine(seat)).to.equal(null);
    const set = await at().line(seat, 'Read the code');
    expect(set).to.include({ text: 'Read the code', source: 'plan' });
    expect(await at().standingLine(seat)).to.deep.equal(set);
    await agent.ok('clearMyLine', {});
    expect(await at().standingLine(seat)).to.equal(null);
  });

  it('tells of lines that say files, and of no others', async () => {
    await follow();
    const told: string[] = [];
    machine.told.events.on('lines', ({ member_id }) => told.push(member_id));
    const [plans, files] = [await newAgent(server.dana, board.name), await newAgent(server.dana, board.name)];
    const before = await newAgent(server.dana, board.name);
    const line = { kind: 'working' as const, text: 'Read the code' };
    await before.ok('setMyLine', { body: { ...line, paths: ['b.ts'] } });
    await at().claims(seat);
    await until(() => told.length === 1, 'the stream is open again');
    await at().claims(seat);
    const toldOf = async (change: () => Promise<unknown>, times: number) => {
      await change();
      const { seq } = await say('and so on');
      await until(() => told.length >= times, 'it is told of');
      await readElsewhere(seq);
      expect(told).to.deep.equal(Array(times).fill(seat.member_id));
    };
    await toldOf(() => plans.ok('setMyLine', { body: { ...line, source: 'plan' } }), 1);
    await toldOf(() => files.ok('setMyLine', { body: { ...line, paths: ['a.ts'] } }), 2);
    await toldOf(() => plans.ok('clearMyLine', {}), 2);
    await toldOf(() => files.ok('clearMyLine', {}), 3);
    await toldOf(() => before.ok('setMyLine', { body: line }), 4);
    proxy.cutStreams();
    await until(() => !at().view().connected, 'the stream is closed');
    await before.ok('setMyLine', { body: { ...line, paths: ['b.ts'] } });
    await machine.pass((ms) => ms === 750);
    await until(() => told.length === 5, 'the stream is open again');
    await at().claims(seat);
    await toldOf(() => before.ok('clearMyLine', {}), 6);
  });

  it('leaves out a claim that is longer than it may be, and no other', async () => {
    const [long, usual] = [await newAgent(server.dana, board.name), await newAgent(server.dana, board.name)];
    const line = { kind: 'working' as const, text: 'Read the code' };
    // The server takes the secret out, which makes the path longer.
    await long.ok('setMyLine', { body: { ...line, paths: [`${'x'.repeat(184)}/xoxb-0123456789`] } });
    await usual.ok('setMyLine', { body: { ...line, paths: ['a.ts'] } });
    expect((await at().claims(seat)).map(({ paths }) => paths)).to.deep.equal([['a.ts']]);
  });

  it('keeps to eight connections for requests', keepsToEight);

  it('that is opening misses no head that moves before it is ready', async () => {
    proxy.fail(STREAM, 'silent', 1);
    at().watch(seat);
    await until(() => at().view().connected, 'the stream is open');
    // This read is younger than the stream, and older than the message.
    await at().read(seat);
    const { seq } = await say('in between');
    proxy.inject('head', { board: board.name, board_id: board.id, seq });
    proxy.inject('ready', {});
    await machine.told.until('inbox in between');
  });

  it('that the machine slept through shows since when it is there again by the time of day', async () => {
    await follow();
    const later = '2026-03-03T07:01:00.000Z';
    machine.world.wallNow = () => Date.parse(later);
    proxy.cutStreams();
    await machine.pass((ms) => ms === 750);
    await until(() => at().view().since === later, 'it is connected again');
  });

  describe('that breaks', () => {
    it('comes back after a growing pause and reads every seat once', async () => {
      await follow();
      const lost = machine.told.reads.length;
      proxy.fail(STREAM, 'reset', 2);
      proxy.cutStreams();
      // Half of the range above a half: 1 s, 2 s, 4 s times 0.75.
      expect(await machine.pass()).to.equal(750);
      expect(await machine.pass()).to.equal(1_500);
      await say('while nobody heard');
      expect(await machine.pass()).to.equal(3_000);
      await machine.told.until('inbox while nobody heard');
      await until(() => at().view().connected, 'it is connected');
      expect(at().view().reconnects).to.equal(1);
      expect(machine.told.reads.length - lost).to.be.at.most(2);
    });

    it('reads a seat whose head had moved only once when it is open again', async () => {
      await follow();
      proxy.fail(STREAM, 'silent', 1);
      proxy.cutStreams();
      await machine.pass((ms) => ms === 750);
      await until(() => proxy.count(STREAM) === 2 && at().view().connected, 'the stream is open again');
      const { seq } = await say('in between');
      const read = proxy.count(INBOX);
      proxy.inject('head', { board: board.name, board_id: board.id, seq });
      proxy.inject('ready', {});
      await machine.told.until('inbox in between');
      // Comes after every read that was begun before.
      await at().read(seat);
      expect(proxy.count(INBOX) - read).to.equal(2);
    });

    it('obeys Retry-After, but not for longer than five minutes', async () => {
      proxy.fail(STREAM, { status: 429, code: 'rate_limited', retryAfter: 7 }, 1);
      proxy.fail(STREAM, { status: 503, code: 'unavailable', retryAfter: 86_400 }, 1);
      at().watch(seat);
      expect(await machine.pass()).to.equal(7_000);
      expect(await machine.pass()).to.equal(300_000);
      await until(() => at().view().connected, 'it is connected');
      expect(machine.told.problems).to.deep.equal([]);
    });

    describe('of this machine’s own server', () => {
      const listensAt = (url: string) =>
        writePrivate(join(machine.folders.data, 'server.addr'), `127.0.0.1:${new URL(url).port}\n`);

      beforeEach(async () => {
        await proxy.down();
        proxy = await new FaultProxy(server.url, server.dataDir).listen();
        machine.owns(server);
        listensAt(proxy.url);
        await machine.knows(proxy.url, serverId, server.dana, { mode: 'local', urls: [proxy.url] });
        seat = await machine.holds(proxy.url, board, agent);
      });

      it('is taken up at once when it says that it runs again, at whatever port', async () => {
        await follow();
        await proxy.down();
        await until(() => machine.pauses().length === 1, 'it pauses');
        // It comes back at another port; the seat is still the one that was known at the first.
        const moved = await new FaultProxy(server.url, server.dataDir).listen();
        listensAt(moved.url);
        writePrivate(join(machine.folders.data, 'server.pid'), '{}\n');
        await until(() => at().view().connected, 'it is connected without the pause');
        await say('after the move');
        await machine.told.until('inbox after the move');
        expect(moved.count(STREAM)).to.equal(1);
        await moved.down();
        await proxy.listen();
      });

      it('gives nothing to a stranger who takes its port, and goes on when it is back', async () => {
        await follow();
        const port = Number(new URL(proxy.url).port);
        await proxy.down();
        // The stranger has every answer of the true server, and not its data folder.
        const stranger = await new FaultProxy(server.url).listen(port);
        for (let tries = 0; tries < 4; tries++) await machine.pass();
        await until(() => stranger.count('GET /v1/info') >= 4, 'it was asked');
        expect(machine.told.problems).to.deep.equal(['server_unreachable']);
        expect(stranger.seen.filter(({ token }) => token !== undefined)).to.deep.equal([]);
        await stranger.down();
        await proxy.listen();
        await until(async () => {
          if (machine.pauses().length > 0) await machine.pass();
          return at().view().connected;
        }, 'it is connected');
        await say('after the stranger');
        await machine.told.until('inbox after the stranger');
      });

      it('keeps to eight connections for requests', keepsToEight);
    });

    it('counts as dead after a minute without a byte', async () => {
      await follow();
      machine.clock.advance(60_000);
      await machine.pass((ms) => ms === 750);
      await until(() => proxy.count(STREAM) === 2 && at().view().connected, 'it is connected again');
    });

    it('is done without where it is opened and nothing comes: each time, the seats are read', async () => {
      await follow();
      proxy.fail(STREAM, 'silent');
      proxy.cutStreams();
      await machine.pass((ms) => ms === 750);
      await until(() => proxy.count(STREAM) === 2 && at().view().connected, 'the stream is open again');
      for (const body of ['one', 'two']) {
        await say(body);
        const streams = proxy.count(STREAM);
        machine.clock.advance(60_000);
        await machine.told.until(new RegExp(`^inbox .*${body}$`));
        await until(() => proxy.count(STREAM) === streams + 1 && at().view().connected, 'it is opened again');
      }
    });

    it('makes a server unreachable after three failures in a row, and no other one', async () => {
      const other = await new FaultProxy(server.url).listen();
      await machine.knows(other.url, serverId, server.dana);
      const otherAgent = await newAgent(server.dana, board.name, { name: 'elsewhere' });
      const otherSeat = await machine.holds(other.url, board, otherAgent);
      await follow();
      machine.servers.at(other.url).watch(otherSeat);
      await until(() => machine.servers.at(other.url).view().connected, 'the other is connected');
      await proxy.down();
      while (machine.told.problems.length === 0) await machine.pass();
      expect(machine.told.problems).to.deep.equal(['server_unreachable']);
      await say('to both');
      await until(() => machine.told.reads.at(-1)?.member_id === otherSeat.member_id, 'the other seat reads on');
      await proxy.listen();
      await until(async () => {
        if (machine.pauses().length > 0) await machine.pass();
        return at().view().connected;
      }, 'it is connected');
      await until(() => machine.told.problems.at(-1) === null, 'it is reachable again');
      await until(() => machine.told.reads.at(-1)?.member_id === seat.member_id, 'and the seat was read');
      await other.down();
    });

    const body = '<p>Sign in to the network</p>';
    for (const [what, fault] of [
      ['a page', { status: 200, body }],
      ['a long page', { status: 200, body: body + 'x'.repeat(200_000) }],
      ['a page to sign in', { status: 401, body }],
      ['a page that forbids', { status: 403, body }],
      ['words of its own', { status: 200, json: { maintenance: true } }],
    ] as const) {
      it(`goes on with the person’s key soon after a network that answered in the server’s place with ${what}`, async () => {
        await follow();
        proxy.fail(() => true, fault);
        proxy.cutStreams();
        for (let n = 0; n < 2; n++) await machine.pass((ms) => ms <= 60_000);
        await machine.told.until('problem server_unreachable');
        proxy.heal();
        await machine.pass((ms) => ms <= 60_000);
        await until(() => at().view().connected && at().view().feed === 'stream', 'the stream is open again');
        await say('after it');
        await machine.told.until('inbox after it');
        expect(machine.told.problems).to.deep.equal(['server_unreachable', null]);
      });
    }

    it('tries a read that failed again by itself', async () => {
      await follow();
      proxy.fail(INBOX, { status: 500 }, 2);
      await say('one');
      expect(await machine.pass()).to.equal(750);
      expect(await machine.pass()).to.equal(1_500);
      await machine.told.until('inbox one');
    });

    it('tries a read that was not answered in time again by itself', async () => {
      await follow();
      proxy.fail(INBOX, 'hold', 1);
      await say('one');
      await until(() => proxy.held === 1, 'the read is under way');
      machine.clock.advance(15_000);
      await machine.pass((ms) => ms === 750);
      await machine.told.until('inbox one');
    });

    it('tries a reading of notices that failed again by itself, and lets no older one overtake a newer', async () => {
      await follow();
      proxy.fail('GET /v1/me/notices', 'reset', 2);
      const told = machine.told.log.filter((line) => line.startsWith('notices')).length;
      proxy.inject('notice', { board_id: board.id, member_id: seat.member_id });
      expect(await machine.pass()).to.equal(750);
      expect(await machine.pass()).to.equal(1_500);
      await machine.told.until(/^notices/, told + 1);
      proxy.fail('GET /v1/me/notices', 'hold', 1);
      proxy.inject('notice', { board_id: board.id, member_id: seat.member_id });
      await until(() => proxy.held === 1, 'one is under way');
      const asked = proxy.count('GET /v1/me/notices');
      proxy.inject('notice', { board_id: board.id, member_id: seat.member_id });
      await at().read(seat);
      expect(proxy.count('GET /v1/me/notices')).to.equal(asked);
      proxy.heal();
      await machine.told.until(/^notices/, told + 3);
    });

    it('is taken up again as soon as a request of a seat works', async () => {
      await follow();
      proxy.fail(STREAM, 'reset', 1);
      proxy.cutStreams();
      await until(() => machine.pauses().length === 1, 'it pauses');
      await machine.pass();
      await until(() => machine.pauses().includes(1_500), 'it pauses again');
      await at().read(seat);
      await until(() => at().view().connected, 'it is connected without the pause');
    });
  });

  describe('whose credentials end', () => {
    it('stops asking for a seat whose token was refused, until there is another', async () => {
      await follow();
      const delegation = await server.dana.ok('createDelegation', { body: { name: 'laptop' } });
      void delegation;
      proxy.fail((seen) => seen.token === agent.token, { status: 401, code: 'unauthorized' });
      await say('one');
      await machine.told.until('problem unauthorized');
      const asked = proxy.count(INBOX);
      await say('two');
      const refused = await at()
        .read(seat)
        .catch((error: unknown) => error);
      expect(refused).to.be.instanceOf(SeatFailure).and.include({ code: 'unauthorized', problem: 'unauthorized' });
      expect(proxy.count(INBOX)).to.equal(asked);
      // Another token of the same seat, as another login brings it.
      const again = await newAgent(server.dana, board.name, { name: 'again' });
      await machine.holds(proxy.url, board, { ...again, memberId: agent.memberId, token: again.token } as Agent);
      await machine.told.until('token');
      await machine.told.until('problem null');
    });

    it('goes on by waits of its seats when the person’s key ends, and they stop if it was theirs', async () => {
      const key = await server.dana.ok('createKey', { body: { name: 'other' } });
      const other = Object.assign(Object.create(Object.getPrototypeOf(server.dana)), server.dana, { token: key.token });
      await machine.knows(proxy.url, serverId, other);
      await follow();
      await server.dana.ok('revokeKey', { params: { key: key.id } });
      await until(() => at().view().feed === 'poll', 'the seat waits for itself');
      await say('one');
      await machine.told.until('inbox one');
      expect(machine.told.problems).to.deep.equal([]);
      // The same key is not shown again until something changes.
      expect(
        proxy.seen.filter(({ path, token }) => path.startsWith('/v1/stream') && token === key.token).length,
      ).to.be.at.most(2);
      await machine.knows(proxy.url, serverId, server.dana);
      await until(() => at().view().feed === 'stream', 'the new key is used');
    });

    it('shows a refused key again after five minutes, and rests where there is none by then', async () => {
      const key = await server.dana.ok('createKey', { body: { name: 'refused' } });
      const other = Object.assign(Object.create(Object.getPrototypeOf(server.dana)), server.dana, { token: key.token });
      await machine.knows(proxy.url, serverId, other);
      proxy.fail((seen) => seen.token === key.token, { status: 401, code: 'unauthorized' });
      at().watch(seat);
      await until(() => at().view().feed === 'poll', 'the seat waits for itself');
      const shown = () => proxy.seen.filter(({ token }) => token === key.token).length;
      expect(shown()).to.equal(1);
      machine.clock.advance(300_000);
      await until(() => shown() === 2, 'it was shown again');
      await until(() => machine.pauses().some((ms) => ms > 200_000), 'it rests');
      await machine.knows(proxy.url, serverId, null);
      machine.clock.advance(300_001);
      await until(() => machine.pauses().includes(300_000), 'it rests as long again');
      const turns = machine.clock.held.length;
      await new Promise((resolve) => setImmediate(resolve));
      expect(machine.clock.held.length).to.be.at.most(turns + 2);
      expect(shown()).to.equal(2);
    });

    it('uses no key that is forgotten here or replaced, though its stream is open', async () => {
      const streams = () => proxy.count(STREAM);
      await follow();
      await machine.holds(proxy.url, board, await newAgent(server.dana, board.name));
      await say('one');
      await machine.told.until('inbox one');
      expect(streams()).to.equal(1);
      await machine.knows(proxy.url, serverId, server.dana, {
        key: { id: 'key_2', name: 'laptop', expires_at: null, store: 'file', token: server.dana.token! },
      });
      await until(() => streams() === 2 && at().view().connected, 'the stream is opened with the other key');
      await machine.knows(proxy.url, serverId, null);
      await until(() => at().view().feed === 'poll', 'the seat waits for itself');
      await say('two');
      await machine.told.until('inbox one|two');
      expect(streams()).to.equal(2);
    });

    it('is connected to no server that was forgotten here', async () => {
      await follow();
      const before = machine.lines.length;
      await updateCredentials(machine.folders, ({ servers }) => {
        delete servers[proxy.url];
      });
      await machine.told.until('problem unauthorized');
      await until(() => machine.pauses().length > 0 || at().view().feed === 'none', 'it rests');
      expect(at().view()).to.include({ feed: 'none', connected: false });
      machine.clock.advance(300_000);
      expect(machine.lines.slice(before)).to.deep.equal([]);
      await machine.knows(proxy.url, serverId, server.dana);
      await machine.holds(proxy.url, board, agent);
      await until(() => at().view().feed === 'stream', 'it is known again');
      await machine.told.until('problem null');
    });

    it('makes the seats of a revoked key unauthorized', async () => {
      const key = await server.dana.ok('createKey', { body: { name: 'theirs' } });
      const owner = Object.assign(Object.create(Object.getPrototypeOf(server.dana)), server.dana, { token: key.token });
      const theirs = await newAgent(owner, board.name, { name: 'theirs' });
      await machine.knows(proxy.url, serverId, owner);
      seat = await machine.holds(proxy.url, board, theirs);
      await follow();
      await server.dana.ok('revokeKey', { params: { key: key.id } });
      await machine.told.until('problem unauthorized');
      await say('one');
      expect(machine.told.log).to.not.include('inbox one');
    });

    it('ends a seat that was removed, and only that', async () => {
      const sibling = await newAgent(server.dana, board.name, { name: 'sibling' });
      const other = await machine.holds(proxy.url, board, sibling);
      await follow();
      at().watch(other);
      await server.dana.ok('removeMember', { params: { board: board.name, member: agent.name } });
      await machine.told.until('problem agent_removed');
      await say('after');
      await machine.told.until('inbox after');
      expect(machine.told.reads.at(-1)?.member_id).to.equal(other.member_id);
      await until(() => machine.credentials.token(proxy.url, seat.member_id) === null, 'its token is dropped');
      expect(machine.credentials.token(proxy.url, other.member_id)).to.equal(sibling.token);
      expect(machine.told.problems).to.deep.equal(['agent_removed']);
    });

    it('ends the seats of a deleted board, and reads on for the others of the session', async () => {
      const second = await newBoard(server.dana);
      const there = await newAgent(server.dana, second.name);
      const other = await machine.holds(proxy.url, second, there);
      await follow();
      at().watch(other);
      await server.dana.ok('archiveBoard', { params: { board: board.name } });
      await server.dana.ok('deleteBoard', { params: { board: board.name } });
      await machine.told.until('problem board_gone');
      await post(server.dana, second.name, 'still here');
      await machine.told.until('inbox still here');
      expect(machine.credentials.token(proxy.url, seat.member_id)).to.equal(agent.token);
    });

    it('delivers from an archived board and acknowledges there', async () => {
      await follow();
      const { seq } = await say('before');
      await server.dana.ok('archiveBoard', { params: { board: board.name } });
      await at().read(seat);
      expect(machine.told.reads.at(-1)?.read.inbox.messages.map(({ body }) => body)).to.deep.equal(['before']);
      expect(await at().ack(seat, seq)).to.deep.equal({ cursor: seq });
      await at().presence(seat, 'idle');
      expect(machine.told.problems).to.deep.equal([]);
    });

    it('takes a board that cannot be seen any more for no more than a reason to look', async () => {
      const maya = await server.person('maya');
      await server.dana.ok('addBoardPerson', { params: { board: board.name }, body: { handle: 'maya' } });
      const hers = await newAgent(maya, board.name, { name: 'hers' });
      await machine.knows(proxy.url, serverId, maya);
      seat = await machine.holds(proxy.url, board, hers);
      await follow();
      // It comes late, about a seat that is fine: the read shows it.
      proxy.inject('board_unavailable', { board_id: seat.board_id, member_id: seat.member_id });
      await machine.told.until('inbox ', 2);
      expect(machine.told.problems).to.deep.equal([]);
      await say('still');
      await machine.told.until('inbox still');
    });

    it('begins anew when a session binds a seat that was over', async () => {
      await follow();
      proxy.fail(INBOX, { status: 404, code: 'board_not_found' }, 1);
      await say('one');
      await machine.told.until('problem board_gone');
      at().watch(seat);
      await machine.told.until('problem null');
      await machine.told.until('inbox one');
    });
  });

  describe('to an address where another server answers', () => {
    it('sends it no credential, and waits for the person', async () => {
      const stranger = await startTestServer('sqlite');
      await follow();
      proxy.retarget(stranger.url);
      const before = proxy.seen.length;
      proxy.cutStreams();
      await machine.pass();
      await machine.told.until('problem server_identity_changed');
      const refused = await at()
        .read(seat)
        .catch((error: unknown) => error);
      expect(refused).to.include({ code: 'server_identity_changed' });
      const since = proxy.seen.slice(before);
      expect(since.map(({ token }) => token).filter(Boolean)).to.deep.equal([]);
      expect(since.every(({ path }) => path === '/v1/info')).to.equal(true);
      expect(
        machine.lines.filter((line) => line.startsWith('server_identity_changed')),
        machine.lines.join(),
      ).to.have.length(1);
      expect(at().view()).to.include({ feed: 'none', connected: false, last_error: 'server_identity_changed' });
      // The old one is back, and the person has looked.
      proxy.retarget(server.url);
      await machine.knows(proxy.url, serverId, server.dana, { name: 'looked-at' });
      await machine.told.until('problem null');
      await until(() => at().view().connected, 'it is connected');
      await stranger.stop();
    });

    it('ends no seat because of what a stranger says', async () => {
      const stranger = await startTestServer('sqlite');
      await follow();
      // Behind the back of the stream, which stays with the old one.
      proxy.retarget(stranger.url);
      const refused = await at()
        .read(seat)
        .catch((error: unknown) => error);
      expect(refused).to.be.instanceOf(SeatFailure);
      await machine.told.until('problem server_identity_changed');
      expect(machine.told.problems).to.not.include('unauthorized');
      await stranger.stop();
    });
  });

  describe('without a person’s key', () => {
    beforeEach(() => machine.knows(proxy.url, serverId, null));

    it('has each seat wait for itself, and asks for notices after each answer', async () => {
      at().watch(seat);
      await until(() => proxy.seen.some(({ path }) => path.includes('wait=50')), 'the seat waits');
      expect(at().view()).to.include({ feed: 'poll', connected: true });
      const before = proxy.count('GET /v1/me/notices');
      await say('one');
      await machine.told.until('inbox one');
      await until(() => proxy.count('GET /v1/me/notices') > before, 'its notices were read');
      expect(proxy.count(STREAM)).to.equal(0);
    });

    it('reads a seat again once a wait tells that its brake was released', async () => {
      const free = await agent.ok('readInbox');
      const braked = { until: new Date(machine.world.now() + 3_600_000).toISOString(), reason: 'wakes' };
      const isWait = (path: string) => path.includes('wait=50');
      proxy.fail(
        ({ path }) => path.startsWith('/v1/me/inbox') && !isWait(path),
        { status: 200, json: { ...free, braked } },
        1,
      );
      proxy.fail(({ path }) => isWait(path), { status: 200, json: free });
      at().watch(seat);
      await until(() => machine.told.reads.length === 1, 'it was read');
      await machine.pass((ms) => ms <= 1_000);
      await until(() => machine.told.reads.length === 2, 'it was read again');
    });

    it('waits for no more than 32 seats at once', async () => {
      const seats: SeatIdentity[] = [];
      for (let n = 0; n < 34; n++) {
        const each = await newAgent(server.dana, board.name, { name: `many-${n}` });
        seats.push(await machine.holds(proxy.url, board, each));
      }
      for (const each of seats) at().watch(each);
      const waiting = () => proxy.seen.filter(({ path }) => path.includes('wait=50')).length;
      await until(() => waiting() === 32, '32 wait');
      await until(() => machine.told.reads.length >= 34, 'all were read');
      expect(waiting()).to.equal(32);
    });

    it('reads again what a wait told of, when the first reading of it failed', async () => {
      at().watch(seat);
      await until(() => proxy.seen.some(({ path }) => path.includes('wait=50')), 'the seat waits');
      await until(() => machine.told.reads.length === 1, 'it was read');
      proxy.fail(({ path }) => path.startsWith('/v1/me/inbox?') && !path.includes('wait='), 'reset', 1);
      await say('one');
      await machine.pass((ms) => ms < 5_000);
      await machine.told.until('inbox one');
    });

    it('waits less often while what wakes it is not acknowledged for long, so that the server does not brake the seat', async () => {
      const other = await newAgent(server.dana, board.name, { name: 'other' });
      at().watch(seat);
      await until(() => proxy.seen.some(({ path }) => path.includes('wait=50')), 'the seat waits');
      const pause = async (to: string) => {
        const { seq } = await post(other, board.name, 'x', { to: [to] });
        return { seq, ms: await machine.pass((ms) => ms < 60_000) };
      };
      // What wakes nobody is not acknowledged before something else does; the server does not count it.
      for (let n = 1; n <= 13; n++) expect(await pause('all')).to.include({ ms: 1_000 });
      for (let n = 1; n <= 12; n++) expect(await pause(`@${agent.name}`)).to.include({ ms: 1_000 });
      const { seq, ms } = await pause(`@${agent.name}`);
      expect(ms).to.equal(25_000);
      await agent.ok('ackInbox', { body: { up_to: seq } });
      expect(await pause(`@${agent.name}`)).to.include({ ms: 1_000 });
    });

    it('goes on trying where a network answers in the server’s place, and says that it is unreachable', async () => {
      const portal = await startTlsProxy('http', () => Number(new URL(server.url).port));
      try {
        await machine.knows(portal.url, serverId, null);
        const elsewhere = await machine.holds(portal.url, board, agent);
        machine.servers.at(portal.url).watch(elsewhere);
        for (let n = 0; n < 4; n++) await machine.pass((ms) => ms < 60_000);
        await until(() => machine.told.problems.length > 0, 'a problem is told');
        expect(machine.told.problems.at(-1)).to.deep.equal('server_unreachable');
        expect(machine.servers.at(portal.url).view()).to.include({ feed: 'poll', connected: false });
      } finally {
        await portal.close();
      }
    });

    it('pauses after a wait that failed', async () => {
      proxy.fail((seen) => seen.path.includes('wait=50'), { status: 502 }, 2);
      at().watch(seat);
      expect(await machine.pass((ms) => ms < 5_000)).to.equal(750);
      expect(await machine.pass((ms) => ms < 5_000)).to.equal(1_500);
      await say('one');
      await machine.told.until('inbox one');
    });
  });

  describe('with the key of somebody else than the person of a seat', () => {
    const waits = () => proxy.seen.filter(({ path }) => path.includes('wait=50')).length;

    it('has the seat wait for itself, whether that person is on its board or not', async () => {
      const joe = await server.person('joe');
      await server.dana.ok('addBoardPerson', { params: { board: board.name }, body: { handle: 'joe' } });
      await machine.knows(proxy.url, serverId, joe);
      await follow();
      // The stream tells joe of messages there, and nothing of the notices and the mode of an agent that is not joe's.
      await until(() => waits() === 1, 'the seat waits');
      await say('one');
      await machine.told.until('inbox one');
      await server.dana.ok('removeBoardPerson', { params: { board: board.name, handle: 'joe' } });
      await say('two');
      await machine.told.until('inbox one|two');
      await server.dana.ok('addBoardPerson', { params: { board: board.name }, body: { handle: 'joe' } });
      await say('three');
      await machine.told.until('inbox one|two|three');
    });

    it('goes on with its waits when credentials that others could have written are safe again', async () => {
      await machine.knows(proxy.url, serverId, await server.person('kim'));
      await follow();
      await until(() => waits() === 1, 'the seat waits');
      const modes = () => machine.told.log.filter((line) => line.startsWith('mode')).length;
      const before = modes();
      chmodSync(credentialsPath(machine.folders), 0o644);
      await say('meanwhile');
      await until(() => modes() > before, 'the wait is over');
      chmodSync(credentialsPath(machine.folders), 0o600);
      await machine.told.until('inbox meanwhile');
    });
  });

  it('has no seat wait for itself because its person was renamed, before the stream was opened again or since', async () => {
    const eva = await server.person('eva');
    const own = await newBoard(eva);
    await machine.knows(proxy.url, serverId, eva);
    seat = await machine.holds(proxy.url, own, await newAgent(eva, own.name));
    const seen = (path: RegExp) => proxy.seen.filter((each) => path.test(each.path)).length;
    await follow();
    await until(() => seen(/\/me$/) === 2, 'both handles are read');
    await eva.ok('renamePerson', { params: { handle: 'eva' }, body: { handle: 'evi' } });
    proxy.cutStreams();
    await machine.pass((ms) => ms === 750);
    await until(() => seen(/\/me$/) === 3, 'the person’s is read again');
    await until(() => at().view().connected, 'it is connected again');
    await eva.ok('renamePerson', { params: { handle: 'evi' }, body: { handle: 'evita' } });
    const later = await machine.holds(proxy.url, own, await newAgent(eva, own.name, { name: 'later' }));
    at().watch(later);
    await until(() => seen(/\/me$/) === 5, 'those that hold now are read');
    // Comes after what follows from them.
    await at().read(seat);
    await at().read(later);
    expect(seen(/wait=50/)).to.equal(0);
  });

  it('asks nothing with credentials that others could have written, and goes on when they are safe again', async () => {
    await follow();
    const { seq } = await say('before');
    await machine.told.until('inbox before');
    chmodSync(credentialsPath(machine.folders), 0o644);
    const before = proxy.count('GET /v1/me/');
    const refused = await at()
      .read(seat)
      .catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(SeatFailure).and.include({ code: 'credentials_unsafe', problem: undefined });
    await say('meanwhile');
    await readElsewhere(seq);
    expect(proxy.count('GET /v1/me/')).to.equal(before);
    chmodSync(credentialsPath(machine.folders), 0o600);
    await machine.told.until('inbox meanwhile');
    expect(machine.told.problems).to.deep.equal([]);
  });

  it('reads notices again that came while others could have written the credentials', async () => {
    await follow();
    const told = machine.told.log.filter((line) => line.startsWith('notices')).length;
    chmodSync(credentialsPath(machine.folders), 0o644);
    proxy.inject('notice', { board_id: board.id, member_id: seat.member_id });
    // The stream tells of this after the notice.
    await readElsewhere((await say('one')).seq);
    chmodSync(credentialsPath(machine.folders), 0o600);
    await machine.told.until(/^notices/, told + 1);
  });

  it('begins without credentials that are safe, and connects once they are', async () => {
    chmodSync(credentialsPath(machine.folders), 0o644);
    at().watch(seat);
    await until(() => machine.pauses().length > 0, 'it pauses');
    expect(proxy.seen).to.deep.equal([]);
    chmodSync(credentialsPath(machine.folders), 0o600);
    await until(() => at().view().feed === 'stream' && at().view().connected, 'it is connected');
    await say('now');
    await machine.told.until('inbox now');
  });

  it('rejects an invalid inbox answer, and reads on with the next one', async () => {
    await follow();
    proxy.fail(INBOX, { status: 200, body: '<p>Sign in to the network</p>' }, 1);
    expect(
      await at()
        .read(seat)
        .catch((error: unknown) => error),
    ).to.include({ code: 'server_unexpected' });
    for (const json of [{}, { messages: [{}] }, [], 'x']) {
      proxy.fail(INBOX, { status: 200, json }, 1);
      const refused = await at()
        .read(seat)
        .catch((error: unknown) => error);
      expect(refused).to.be.instanceOf(SeatFailure).and.include({ code: 'server_unexpected', problem: undefined });
    }
    proxy.inject('read', {
      board: board.name,
      board_id: board.id,
      agent: 'x',
      member_id: seat.member_id,
      read_up_to: 'all',
    });
    proxy.inject('delivery', { board_id: board.id, member_id: seat.member_id, mode: 'loud', revision: 1 });
    proxy.inject('head', { board: board.name, board_id: board.id, seq: 'last' });
    await say('all the same');
    await machine.told.until('inbox all the same');
    expect(machine.told.problems).to.deep.equal([]);
    expect(machine.told.log.filter((line) => /all$|loud/.test(line))).to.deep.equal([]);
  });

  it('reads a braked seat again every five minutes, whatever this machine’s clock says of the end', async () => {
    await follow();
    const later = new Date(machine.world.now() + 8 * 3_600_000).toISOString();
    const json = { ...(await agent.ok('readInbox')), braked: { until: later, reason: 'wakes' } };
    proxy.fail(INBOX, { status: 200, json }, 1);
    await at().read(seat);
    const reads = machine.told.reads.length;
    // The machine slept for hours, and its clock stood still.
    expect(await machine.pass((ms) => ms > 60_000)).to.equal(300_000);
    await machine.told.until(/^inbox/, reads + 1);
  });

  it('reads a seat less and less often that is braked after the end by this machine’s clock, which is ahead', async () => {
    await follow();
    const ended = new Date(machine.world.now() - 3_600_000).toISOString();
    const free = await agent.ok('readInbox');
    proxy.fail(INBOX, { status: 200, json: { ...free, braked: { until: ended, reason: 'wakes' } } });
    await at().read(seat);
    const pauses: number[] = [];
    for (let n = 0; n < 11; n++) {
      const reads = machine.told.reads.length;
      pauses.push(await machine.pass());
      await machine.told.until(/^inbox/, reads + 1);
    }
    expect(pauses).to.deep.equal([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((seconds) => seconds * 1_000));
  });

  it('does without notices where the server does not know them', async () => {
    proxy.fail('GET /v1/me/notices', { status: 404, code: 'not_found' });
    at().watch(seat);
    await until(() => at().view().connected, 'it is connected');
    await say('one');
    await machine.told.until('inbox one');
    expect(machine.told.problems).to.deep.equal([]);
  });

  it('stops when it is closed, in the middle of everything', async () => {
    await follow();
    proxy.fail(INBOX, 'hold');
    await say('one');
    await until(() => proxy.held === 1, 'a read is under way');
    await machine.servers.close();
    proxy.release();
    await until(() => proxy.openStreams === 0, 'the stream is closed');
    expect(at().view().connected).to.equal(false);
  });

  it('stops when it is closed, while the server does not even say who it is', async () => {
    proxy.fail('GET /v1/info', 'hold');
    at().watch(seat);
    await until(() => proxy.held > 0, 'it asks');
    await machine.servers.close();
    await until(() => proxy.connections === 0, 'nothing is open');
  });
});
