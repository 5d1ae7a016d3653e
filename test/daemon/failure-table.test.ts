/** Rows of the contract's table of failures that are about servers, keys, seats and machines: what each one comes to. */
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { SeatIdentity } from '../../src/daemon/refs.ts';
import { serverPorts } from '../../src/daemon/server-ports.ts';
import type { Api } from '../support/api.ts';
import { newAgent, newBoard, post } from '../support/cast.ts';
import type { FaultProxy } from '../support/fault-proxy.ts';
import { noteSecrets } from '../support/secrets.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { errorOf } from './support/error-of.ts';
import { fakeAdapter } from './support/parts.ts';
import { Rig, type RigOptions, TestSession, took } from './support/rig.ts';
import { withProxy } from './support/rigged.ts';
import type { StepClock } from './support/step-clock.ts';

const ACK = 'POST /v1/me/inbox/ack';

describe('where it fails', () => {
  let server: TestServer;
  let proxy: FaultProxy;
  let rig: Rig;
  let clock: StepClock;
  const more: (() => Promise<unknown>)[] = [];

  withProxy((made) => {
    ({ server, proxy, rig, clock } = made);
  });
  afterEach(async () => {
    for (const end of more.splice(0)) await end();
  });

  /** With true reports, delegation and pairing. */
  const whole = (one = rig, options: RigOptions = {}): RigOptions => {
    const { folders, home } = one.machine;
    return {
      clock,
      ports: (connecting) => serverPorts({ folders, env: { SERVICE_HOME: home }, version: '0.0.1' }, connecting),
      ...options,
    };
  };
  const problem = (seat: SeatIdentity, one = rig) => one.row(seat).problem;
  const connected = (one = rig) => one.connected();
  const withKey = (token: string): Api =>
    Object.assign(Object.create(Object.getPrototypeOf(server.dana)), server.dana, { token }) as Api;
  const passing = <T>(work: Promise<T>, one = rig): Promise<T> => {
    const timer = setInterval(() => one.machine.pauses().length > 0 && void one.machine.pass(), 5);
    return work.finally(() => clearInterval(timer));
  };

  it('server down: that origin backs off; others continue; sessions keep working; on return one inbox read per seat; nothing lost, nothing double', async () => {
    await rig.start({ clock });
    const other = await startTestServer('sqlite');
    more.push(() => other.stop());
    const { seat, board } = await rig.seat();
    await rig.machine.knows(other.url, (await other.nobody.ok('getInfo')).server_id, other.dana);
    const far = await newBoard(other.dana);
    const farSeat = await rig.machine.holds(other.url, far, await newAgent(other.dana, far.name));
    const session = await rig.session(seat);
    await session.bind(farSeat);
    await connected();
    await proxy.down();
    const { seq } = await rig.say(board, 'while it was away');
    await until(() => rig.machine.pauses().length > 0, 'it backs off');
    // The session works on, and its other server delivers.
    expect(await session.hook('turn_start')).to.not.have.property('error');
    const said = await post(other.dana, far.name, 'from the other one');
    await rig.seen(farSeat, said.seq);
    expect((await session.hook('boundary'))['bundle']).to.contain('from the other one');
    await session.hook('turn_end');
    const hook = await session.wait();
    await proxy.listen();
    const reads = proxy.count('GET /v1/me/inbox');
    const carry = await passing(hook.next());
    expect(carry['bundle']).to.contain('while it was away').and.not.contain('from the other one');
    expect(proxy.count('GET /v1/me/inbox') - reads).to.be.at.most(2);
    await took(hook, carry);
    await session.hook('turn_start', { wake: true, handoff_id: carry['handoff_id'] });
    await session.hook('boundary');
    await rig.acked(seat, seq);
    const given = rig.rows<{ message_id: string }>(
      "SELECT m.message_id FROM part_messages AS m JOIN handoffs AS h ON h.id = m.handoff_id WHERE h.state = 'done'",
    );
    expect(new Set(given.map(({ message_id }) => message_id)).size).to.equal(given.length);
  });

  it('server answers with another `server_id`: no credential sent; seats `server_identity_changed`', async () => {
    await rig.start(whole());
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await connected();
    // Another program listens at the address now, and keeps what it is sent.
    const heard: string[] = [];
    const stranger: Server = createServer((request, answer) => {
      heard.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
      answer.writeHead(200, { 'content-type': 'application/json' });
      answer.end(JSON.stringify({ server_id: 'srv_01K5A00000000000000000STRA', name: 'stranger', version: '9.9.9' }));
    });
    const port = Number(new URL(proxy.url).port);
    await proxy.down();
    await new Promise<void>((resolve) => stranger.listen(port, '127.0.0.1', resolve));
    expect((stranger.address() as AddressInfo).port).to.equal(port);
    await rig.say(board, 'never for the stranger');
    await until(() => problem(seat) === 'server_identity_changed', 'the seat has its problem');
    const start = await session.hook('turn_start');
    expect(start).to.not.have.property('bundle');
    const refused = await session.ask('join', { agent: { server: proxy.url, board } });
    expect(errorOf(refused)).to.be.a('string');
    clock.pass(120_000);
    expect(heard.length).to.be.at.least(1);
    for (const line of heard)
      expect(line)
        .to.match(/^GET \/v1\/info /)
        .and.not.match(/authorization|ab[abd]_/i);
    await new Promise((resolve) => stranger.close(resolve));
    await proxy.listen();
  });

  for (const [how, end] of [
    ['revoked', async (key: { id: string }) => void (await server.dana.ok('revokeKey', { params: { key: key.id } }))],
    ['expired', async () => void server.clock.advance(2 * 86_400_000)],
  ] as const) {
    it(`person's key revoked or expired (${how}): stream ends; its seats get 401 and stop; delegation dropped; hooks silent; queued handoffs ended; after a login unread is intact`, async () => {
      const expires = how === 'expired' ? { ttl_seconds: 3_600 } : {};
      const key = await server.dana.ok('createKey', { body: { name: `key-${how}`, ...expires } });
      noteSecrets(key.token);
      const owner = withKey(key.token);
      const { server_id } = await server.nobody.ok('getInfo');
      await rig.machine.knows(proxy.url, server_id, owner);
      await rig.start(whole());
      const board = await newBoard(server.dana);
      const session = await rig.session();
      // Through the delegation, so that there is one to drop.
      const joined = await session.ask('join', { agent: { server: proxy.url, board: board.name } });
      const { id: member_id, name } = joined['member'] as { id: string; name: string };
      const seat = { origin: proxy.url, member_id, board_id: board.id, board: board.name, name };
      await connected();
      const hook = await session.wait();
      await rig.say(board.name, 'on its way when the key ended');
      const carry = await hook.next();
      await hook.end();
      await until(() => rig.states()[0] === 'pending', `it has to be given again: ${carry['handoff_id']}`);
      await end(key);
      await until(() => problem(seat) === 'unauthorized', 'the seat has stopped');
      expect(rig.states()).to.deep.equal(['ended']);
      const { seq } = await rig.say(board.name, 'while nobody was signed in');
      const asked = proxy.count('GET /v1/me/inbox');
      expect(await session.hook('turn_start')).to.deep.equal({ v: 1, turn_id: 1 });
      expect(await session.hook('boundary')).to.deep.equal({ v: 1 });
      expect(proxy.count('GET /v1/me/inbox')).to.equal(asked);
      expect(errorOf(await session.ask('join', { agent: { server: proxy.url, board: board.name } }))).to.be.oneOf([
        'delegation_revoked',
        'login_required',
      ]);
      expect(existsSync(`${rig.paths.state}/pairing.json`)).to.equal(false);
      expect((await rig.ask('status'))['agents']).to.have.nested.property('[0].problem', 'unauthorized');
      // Signed in again, the session joins as what it was.
      await rig.machine.knows(proxy.url, server_id, server.dana);
      const again = await session.ask('join', { agent: { server: proxy.url, board: board.name } });
      expect(again).to.have.nested.property('member.id', member_id);
      await until(() => problem(seat) === null, 'it goes on');
      const start = await session.hook('turn_start');
      expect(start['bundle']).to.contain('on its way when the key ended').and.contain('while nobody was signed in');
      await session.hook('boundary');
      await rig.acked(seat, seq);
    });
  }

  it('agent left: final for that seat; siblings continue; one line in the session’s next context', async () => {
    await rig.start({ clock });
    const gone = await rig.seat();
    const stays = await rig.seat();
    const session = await rig.session(gone.seat);
    await session.bind(stays.seat);
    await connected();
    const token = rig.machine.credentials.token(gone.seat.origin, gone.seat.member_id)!;
    await withKey(token).ok('leaveSeat', {});
    await until(() => problem(gone.seat) === 'agent_removed', 'it has ended');
    const { seq } = await rig.say(stays.board, 'for the sibling');
    const start = await session.hook('turn_start');
    expect(start['nudge']).to.contain(`service: you are no longer on ${gone.board}`);
    expect(start['bundle']).to.contain('for the sibling');
    await session.hook('boundary');
    await rig.acked(stays.seat, seq);
    expect((await session.hook('turn_start'))['nudge'] ?? '').to.not.contain('no longer');
  });

  it('board hidden: own-token 404, seat `board_gone`; no ack of unseen content', async () => {
    await rig.start({ clock });
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await connected();
    await rig.say(board, 'first');
    const before = await rig.cursor(seat);
    const own = rig.machine.credentials.token(seat.origin, seat.member_id);
    proxy.fail(({ token }) => token === own, { status: 404, code: 'board_not_found' });
    await rig.say(board, 'unseen');
    await until(() => problem(seat) === 'board_gone', 'its board is gone');
    const hook = await session.wait();
    clock.pass(10_000);
    expect(hook.more).to.equal(false);
    expect(proxy.count(ACK)).to.equal(0);
    expect(await rig.cursor(seat)).to.equal(before);
    expect(rig.rows('SELECT * FROM received')).to.deep.equal([]);
  });

  it('`board_unavailable` for a seat that is fine: re-read shows access; nothing stops', async () => {
    await rig.start({ clock });
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await connected();
    const hook = await session.wait();
    const reads = proxy.count('GET /v1/me/inbox');
    // It was said when the person was off the board, and comes when they are on it again.
    for (const about of [{ member_id: seat.member_id }, {}])
      proxy.inject('board_unavailable', { board_id: seat.board_id, ...about });
    await proxy.reached('GET /v1/me/inbox', reads + 1);
    const { seq } = await rig.say(board, 'still here');
    const carry = await hook.next();
    expect(carry['bundle']).to.contain('still here');
    await took(hook, carry);
    await session.hook('turn_start', { wake: true, handoff_id: carry['handoff_id'] });
    await session.hook('boundary');
    await rig.acked(seat, seq);
    expect(problem(seat)).to.equal(null);
  });

  it('session gone for good: messages stay unread on the server; presence `no_session`; nothing else', async () => {
    await rig.start(whole());
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await connected();
    const member = () => server.dana.ok('getMember', { params: { board, member: seat.name } });
    const hook = await session.wait();
    await rig.say(board, 'hello');
    await took(hook, await hook.next());
    await session.ask('end');
    const before = await rig.cursor(seat);
    await rig.say(board, 'and more');
    await until(async () => {
      clock.pass(1_000);
      return (await member()).presence === 'no_session';
    }, 'nobody is there');
    for (let minute = 0; minute < 20; minute++) clock.pass(60_000);
    expect(await rig.cursor(seat)).to.equal(before);
    const token = rig.machine.credentials.token(seat.origin, seat.member_id)!;
    const { messages } = await withKey(token).ok('readInbox');
    expect(messages.map(({ body }) => body)).to.deep.equal(['hello', 'and more']);
    expect(rig.states()).to.deep.equal(['pending']);
    expect(proxy.count(ACK)).to.equal(0);
    expect(problem(seat)).to.equal(null);
  });

  it('session moved to another machine: the newest delegated join rotates the token; the old machine gets 401 and stops; its unacked evidence is dropped, the server cursor decides', async () => {
    await rig.start(whole());
    const there = new Rig(server);
    await there.start(whole(there));
    more.push(() => there.stop());
    const board = await newBoard(server.dana);
    const joinFrom = async (one: Rig) => {
      const session = new TestSession(one, { harness: 'fake', session: 'the-moved-one', boot: '00000000000000ad' });
      await session.ask('register', { source: 'resume' });
      const joined = await session.ask('join', { agent: { server: one.origin, board: board.name } });
      const { id, name } = joined['member'] as { id: string; name: string };
      return { session, seat: { origin: one.origin, member_id: id, board_id: board.id, board: board.name, name } };
    };
    const old = await joinFrom(rig);
    await connected();
    await rig.say(board.name, 'received and not acknowledged');
    await old.session.hook('turn_start');
    proxy.fail(ACK, { status: 503, retryAfter: 1 });
    await old.session.hook('boundary');
    await until(() => rig.states()[0] === 'confirmed', 'it is confirmed');
    // The same session goes on at another machine.
    const moved = await joinFrom(there);
    expect(moved.seat.member_id).to.equal(old.seat.member_id);
    proxy.heal();
    const { seq } = await rig.say(board.name, 'at the new place');
    await until(() => {
      clock.pass(5_000);
      return problem(old.seat) === 'unauthorized';
    }, 'the old machine has stopped');
    const cursor = await there.cursor(moved.seat);
    clock.pass(300_000);
    expect(await there.cursor(moved.seat)).to.equal(cursor);
    expect(await old.session.hook('turn_start')).to.not.have.property('bundle');
    // What nobody acknowledged comes at the new place.
    const start = await moved.session.hook('turn_start');
    expect(start['bundle']).to.contain('received and not acknowledged').and.contain('at the new place');
    expect(await there.cursor(moved.seat)).to.equal(cursor);
    // Back at the old one before that was confirmed: the server says what is unread, not what was known here.
    const back = await joinFrom(rig);
    await until(() => problem(back.seat) === null, 'it works again here');
    expect(await rig.cursor(back.seat)).to.equal(cursor);
    const again = await back.session.hook('turn_start');
    expect(again['bundle']).to.contain('received and not acknowledged').and.contain('at the new place');
    await back.session.hook('boundary');
    await rig.acked(back.seat, seq);
    await until(() => {
      clock.pass(5_000);
      return problem(moved.seat, there) === 'unauthorized';
    }, 'the other machine has stopped');
  });

  it('what a queue never took is tried again as soon as its seat is bound again', async () => {
    let present = false;
    const adapter = fakeAdapter(['queue'], {
      hand: async () => (present ? 'accepted_confirmed' : { retry: 'harness_target_absent' }),
    });
    await rig.start({ clock, adapter });
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const { seq } = await rig.say(board, 'hello');
    await until(() => {
      clock.pass(20_000);
      return rig.states()[0] === 'attention';
    }, 'it needs attention');
    present = true;
    await session.bind(seat);
    await until(() => {
      clock.pass(1_000);
      return rig.states().at(-1) === 'done';
    }, 'it is done');
    expect(rig.row(seat).cursor).to.equal(seq);
  });

  it('queue target absent: attempts with growing pauses, then `attention` with the reason; retried when the session registers again', async () => {
    const at: number[] = [];
    let present = false;
    const adapter = fakeAdapter(['queue'], {
      hand: async () => {
        at.push(clock.nowUs() / 1e6);
        return present ? 'accepted_confirmed' : { retry: 'harness_target_absent' };
      },
    });
    await rig.start({ clock, adapter });
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const { seq } = await rig.say(board, 'hello');
    for (let n = 1; n <= 5; n++) {
      await until(
        () => rig.rows<{ attempts: number }>('SELECT attempts FROM handoffs')[0]?.attempts === n,
        `attempt ${n}`,
      );
      // In small steps, so that each is tried when it is due.
      if (n === 5) break;
      await until(
        () => {
          clock.pass(100);
          return at.length > n;
        },
        `attempt ${n + 1} is due`,
      );
    }
    expect(at).to.have.length(5);
    const gaps = at.slice(1).map((time, n) => time - at[n]!);
    for (const [n, gap] of gaps.entries()) expect(gap, `pause ${n}`).to.be.within(0.7 * 2 ** n, 1.3 * 2 ** n + 0.4);
    expect(rig.states()).to.deep.equal(['attention']);
    const { attention } = (await rig.ask('status')) as { attention: { reason: string; seqs: number[] }[] };
    expect(attention.map(({ reason, seqs }) => [reason, seqs])).to.deep.equal([['harness_target_absent', [seq]]]);
    for (let minute = 0; minute < 10; minute++) clock.pass(60_000);
    expect(at).to.have.length(5);
    expect(await rig.cursor(seat)).to.be.below(seq);
    present = true;
    await session.ask('register', { source: 'resume', boot: 'dddddddddddddddd' });
    await rig.acked(seat, seq);
    expect(at).to.have.length(6);
  });

  it('harness locked or busy: waiting; no attempt counted', async () => {
    let tries = 0;
    const adapter = fakeAdapter(['queue'], {
      hand: async () => (++tries <= 12 ? { later: 'database is locked' } : 'accepted_confirmed'),
    });
    await rig.start({ clock, adapter });
    const { seat, board } = await rig.seat();
    await rig.session(seat);
    const { seq } = await rig.say(board, 'hello');
    await until(() => {
      clock.pass(1_000);
      return tries > 12;
    }, 'it was free in the end');
    await rig.acked(seat, seq);
    expect(rig.rows('SELECT attempts, state FROM handoffs')).to.deep.equal([{ attempts: 0, state: 'done' }]);
    expect(((await rig.ask('status')) as { metrics: Record<string, number> }).metrics['attention'] ?? 0).to.equal(0);
  });

  it('profile or harness update breaks an assumption: what is no wake any more is `delivery_stalled`, and pull still works', async () => {
    await rig.start({ clock });
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await session.hook('turn_start');
    const hook = await session.wait();
    const { seq } = await rig.say(board, 'nobody wakes');
    await took(hook, await hook.next());
    clock.pass(10_000);
    expect((await rig.ask('status'))['stalled']).to.have.length(1);
    // The session pulls: nothing is held back from it, and nothing comes twice afterwards.
    const inbox = await session.open('inbox', { agent: { server: seat.origin, board, name: seat.name }, peek: true });
    expect(await inbox.next()).to.include({ held: true });
    const own = withKey(rig.machine.credentials.token(seat.origin, seat.member_id)!);
    expect((await own.ok('readInbox')).messages.map(({ body }) => body)).to.deep.equal(['nobody wakes']);
    await own.ok('ackInbox', { body: { up_to: seq } });
    await inbox.end();
    await until(() => rig.row(seat).cursor >= seq, 'the cursor is known');
    const start = await session.hook('turn_start');
    expect(start).to.not.have.property('bundle');
    await session.hook('boundary');
    expect(
      rig.states().every((state) => ['done', 'ended'].includes(state)),
      rig.states().join(),
    ).to.equal(true);
  });
});
