/** What a seat is told of its requests: it wakes by decisions, rides along else, and is never lost nor told twice. */
import { expect } from 'chai';
import { addBob, decline, held, type Scene, scene } from '../api/approvals/cast.ts';
import { type Agent, newAgent, newBoard, post } from '../support/cast.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { fakeAdapter } from './support/parts.ts';
import { Rig, took } from './support/rig.ts';
import { StepClock } from './support/step-clock.ts';

describe('notices of a seat', () => {
  let server: TestServer;
  let proxy: FaultProxy;
  let rig: Rig;
  let clock: StepClock;
  let s: Scene;

  before(async () => {
    server = await startTestServer('sqlite');
  });
  after(() => server.stop());
  beforeEach(async () => {
    clock = new StepClock();
    s = await scene(server);
    proxy = await new FaultProxy(server.url).listen();
    rig = new Rig(server);
    rig.origin = proxy.url;
    const { server_id } = await server.nobody.ok('getInfo');
    await rig.machine.knows(rig.origin, server_id, s.ana);
    await rig.start({ clock });
  });
  afterEach(async () => {
    proxy.heal();
    await rig.stop();
    await proxy.down();
  });

  const notices = async () => (await s.agent.ok('listNotices')).notices;
  const session = async () => {
    const seat = await rig.machine.holds(rig.origin, s.board, s.agent);
    return { seat, session: await rig.session(seat) };
  };

  it('wake an idle session by a decision, come again after a restart, and never after they were acknowledged', async () => {
    const { session: one } = await session();
    const approval = await held(s.agent, addBob(s));
    const hook = await one.wait();
    await decline(s.ana, approval);
    const carry = await hook.next();
    const text = String(carry['bundle']);
    expect(text).to.contain(approval.id).and.contain('declined').and.contain(String(carry['handoff_id']));
    await took(hook, carry);
    expect(await notices()).to.have.length(1);
    // Its boot is gone with the daemon's restart, so nothing can confirm it any more.
    one.header = { ...one.header, boot: 'bbbbbbbbbbbbbbbb' };
    await rig.restart({ clock });
    await one.ask('register', { source: 'resume' });
    const start = await one.hook('turn_start');
    expect(JSON.stringify(start)).to.contain(approval.id);
    await one.hook('boundary');
    await until(async () => (await notices()).length === 0, 'they are acknowledged');
    await until(() => rig.logged('notice_told').length === 1, 'the log says so');
    expect(rig.logged('notice_told')[0]).to.include({ notices: 1 }).and.have.property('handoff');
    await until(() => rig.states().every((state) => ['done', 'ended'].includes(state)), 'the handoffs are over');
    const next = await one.hook('turn_start');
    expect(JSON.stringify(next)).to.not.contain(approval.id);
    await rig.restart({ clock });
    const again = await one.wait({ resumed: true });
    clock.pass(2_000);
    expect(again.more).to.equal(false);
  });

  it('come in mode off with the next turn, beside the messages of other modes, and end with their handoff', async () => {
    const { seat, session: one } = await session();
    const approval = await held(s.agent, addBob(s));
    await s.ana.ok('setDeliveryMode', { params: { board: s.board.name, member: s.agent.name }, body: { mode: 'off' } });
    await until(() => rig.row(seat).mode === 'off', 'the mode is off');
    const hook = await one.wait();
    await decline(s.ana, approval);
    await until(() => rig.noticesOf(seat).length === 1, 'it was read');
    clock.pass(2_000);
    expect(hook.more).to.equal(false);
    const start = await one.hook('turn_start');
    expect(JSON.stringify(start)).to.contain(approval.id);
    await one.hook('boundary');
    await until(async () => (await notices()).length === 0, 'it is acknowledged');
  });

  it('and messages of one bundle are each acknowledged in their own way', async () => {
    const { seat, session: one } = await session();
    const approval = await held(s.agent, addBob(s));
    await decline(s.ana, approval);
    const { seq } = await post(s.ana, s.board.name, 'a message beside it');
    await rig.seen(seat, seq);
    await until(() => rig.noticesOf(seat).length === 1, 'the notice was read');
    const start = await one.hook('turn_start');
    expect(JSON.stringify(start)).to.contain(approval.id).and.contain('a message beside it');
    await one.hook('boundary');
    await rig.acked(seat, seq);
    await until(async () => (await notices()).length === 0, 'the notice is acknowledged');
    await until(() => rig.states().at(-1) === 'done', 'the handoff is done');
  });

  /** A session of two seats that was given a notice of each in one bundle. */
  const givenTwoNotices = async () => {
    const { seat, session: one } = await session();
    const board = await newBoard(s.ana);
    const agent = await newAgent(s.ana, board.name);
    const other = await rig.machine.holds(rig.origin, board, agent);
    await one.bind(other);
    await decline(s.ana, await held(s.agent, addBob(s)));
    await decline(s.ana, await held(agent, addBob({ ...s, board })));
    await until(() => rig.noticesOf(seat).length === 1 && rig.noticesOf(other).length === 1, 'both were read');
    await one.hook('turn_start');
    return { seat, other, agent, one };
  };

  it('of a seat that ends before they are acknowledged hold back no other seat of the bundle', async () => {
    const { seat, agent, one } = await givenTwoNotices();
    proxy.fail('POST /v1/me/notices/ack', { status: 503, retryAfter: 1 });
    await one.hook('boundary');
    await until(() => rig.states()[0] === 'confirmed', 'it is confirmed');
    await s.ana.ok('removeMember', { params: { board: s.board.name, member: s.agent.name } });
    await until(() => rig.row(seat).problem === 'agent_removed', 'one has ended');
    proxy.heal();
    await until(async () => {
      clock.pass(5_000);
      return (await agent.ok('listNotices')).notices.length === 0;
    }, 'the other is acknowledged');
    await until(() => {
      clock.pass(60_000);
      return rig.states()[0] === 'done';
    }, 'the handoff is done');
  });

  it('of a seat whose token is refused hold back no other seat of the bundle, nor the end of an idle daemon', async () => {
    const { seat, agent, one } = await givenTwoNotices();
    proxy.fail('POST /v1/me/notices/ack', { status: 503 });
    await one.hook('boundary');
    await until(() => rig.states()[0] === 'confirmed', 'it is confirmed');
    await rig.machine.holds(rig.origin, s.board, { ...s.agent, token: `${s.agent.token}x` } as Agent);
    proxy.heal();
    clock.pass(2_000);
    await until(async () => (await agent.ok('listNotices')).notices.length === 0, 'the other is acknowledged');
    await until(() => rig.row(seat).problem === 'unauthorized', 'the token was refused');
    await one.ask('end');
    let stopped = false;
    void rig.daemon.stopped.then(() => {
      stopped = true;
    });
    for (let minutes = 0; minutes < 15 && !stopped; minutes++) {
      for (let steps = 0; steps < 12; steps++) {
        clock.pass(5_000);
        await new Promise(setImmediate);
      }
    }
    await until(() => stopped, 'it stopped');
  });

  it('come from a server that once did not know them, as from one that was updated meanwhile', async () => {
    proxy.fail('GET /v1/me/notices', { status: 404, code: 'not_found' });
    const { session: one } = await session();
    await proxy.reached('GET /v1/me/notices', 1);
    proxy.heal();
    const approval = await held(s.agent, addBob(s));
    const hook = await one.wait();
    await decline(s.ana, approval);
    expect((await hook.next())['bundle']).to.contain(approval.id);
  });

  it('are acknowledged for a seat that its session gave up', async () => {
    const { seat, session: one } = await session();
    await decline(s.ana, await held(s.agent, addBob(s)));
    await until(() => rig.noticesOf(seat).length === 1, 'it was read');
    await one.hook('turn_start');
    proxy.fail('POST /v1/me/notices/ack', { status: 503, retryAfter: 1 });
    await one.hook('boundary');
    await until(() => rig.states()[0] === 'confirmed', 'it is confirmed');
    await one.ask('unbind', { agent: { server: seat.origin, board: seat.board, name: seat.name } });
    proxy.heal();
    await until(async () => {
      clock.pass(5_000);
      return (await notices()).length === 0;
    }, 'it is acknowledged');
    await until(() => rig.states()[0] === 'done', 'the handoff is done');
  });

  it('that a program’s queue never takes are tried as often as messages, and again when the session registers', async () => {
    const adapter = fakeAdapter(['queue'], { hand: async () => ({ retry: 'gone' }) });
    await rig.restart({ clock, adapter });
    const { session: one } = await session();
    await decline(s.ana, await held(s.agent, addBob(s)));
    const tries = (count: number) =>
      until(() => {
        clock.pass(20_000);
        return rig.logged('handoff_handed').length >= count;
      }, `${count} tries`);
    await tries(5);
    await until(() => rig.states()[0] === 'attention', 'it needs attention');
    for (let minutes = 0; minutes < 10; minutes++) {
      clock.pass(60_000);
      await rig.ask('status');
    }
    expect(rig.states()).to.deep.equal(['attention']);
    expect(rig.logged('handoff_handed')).to.have.length(5);
    await one.ask('register', { source: 'resume', boot: 'cccccccccccccccc' });
    await tries(6);
  });

  it('that nobody has to be told any more end what waited for attention only because of them', async () => {
    const adapter = fakeAdapter(['queue'], { hand: async () => ({ retry: 'gone' }) });
    await rig.restart({ clock, adapter });
    const { seat, session: one } = await session();
    await decline(s.ana, await held(s.agent, addBob(s)));
    await until(() => {
      clock.pass(20_000);
      return rig.states()[0] === 'attention';
    }, 'it needs attention');
    await one.ask('end');
    const [notice] = await notices();
    await s.agent.ok('ackNotices', { body: { ids: [notice!.id] } });
    rig.serverEvents.emit('notices', seat, []);
    const { attention = [], servers = [] } = await rig.ask('status');
    expect(attention).to.deep.equal([]);
    expect(servers, 'nothing is followed').to.deep.equal([]);
    expect(rig.states()).to.deep.equal(['done']);
  });

  it('that a session was given before it lost the seat come to the session that has it now', async () => {
    const { seat, session: one } = await session();
    const board = await newBoard(s.ana);
    const other = await rig.machine.holds(rig.origin, board, await newAgent(s.ana, board.name));
    await one.bind(other);
    const approval = await held(s.agent, addBob(s));
    await decline(s.ana, approval);
    const { seq } = await post(s.ana, board.name, 'for the other seat');
    await rig.seen(other, seq);
    await until(() => rig.noticesOf(seat).length === 1, 'the notice was read');
    const start = await one.hook('turn_start');
    expect(JSON.stringify(start)).to.contain(approval.id).and.contain('for the other seat');
    const next = await rig.session(seat);
    await one.hook('boundary');
    await rig.acked(other, seq);
    expect(JSON.stringify(await next.hook('turn_start'))).to.contain(approval.id);
    await next.hook('boundary');
    await until(async () => (await notices()).length === 0, 'it is acknowledged');
  });

  it('that no server acknowledges are tried by one timer, however often their seat is reached again', async () => {
    const { seat, session: one } = await session();
    await decline(s.ana, await held(s.agent, addBob(s)));
    await until(() => rig.noticesOf(seat).length === 1, 'it was read');
    await one.hook('turn_start');
    proxy.fail('POST /v1/me/notices/ack', { status: 503 });
    await one.hook('boundary');
    await until(() => rig.states()[0] === 'confirmed', 'it is confirmed');
    for (let times = 0; times < 5; times++) rig.serverEvents.emit('token', seat);
    const tried = () => proxy.count('POST /v1/me/notices/ack');
    await until(() => tried() >= 6, 'each was tried at once');
    const before = tried();
    for (let minutes = 0; minutes < 10; minutes++) {
      clock.pass(60_000);
      await rig.ask('status');
    }
    expect(tried() - before).to.be.at.most(11);
  });
});
