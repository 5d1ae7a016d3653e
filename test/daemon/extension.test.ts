/** Harnesses whose extension holds the connection, and runners, which speak the same. */
import { expect } from 'chai';
import { issueTicket } from '../../src/launch/ticket.ts';
import { newAgent, post } from '../support/cast.ts';
import type { TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import type { Line } from './support/line.ts';
import { fakeAdapter } from './support/parts.ts';
import { type Rig, TestSession, took } from './support/rig.ts';
import { withRig } from './support/rigged.ts';
import type { StepClock } from './support/step-clock.ts';

describe('an extension', () => {
  let server: TestServer;
  let rig: Rig;
  let clock: StepClock;
  const adapter = fakeAdapter(['extension', 'turn-start', 'tool-boundary'], { liveness: 'connection' });

  withRig(
    (made) => {
      ({ server, rig, clock } = made);
    },
    { adapter },
  );

  let count = 0;
  const aSession = () => new TestSession(rig, { harness: 'fake', session: `ext-${++count}`, boot: '00000000000000ee' });

  async function connected(session: TestSession, more = {}): Promise<Line> {
    const line = await session.open('hello', { source: 'startup', ...more });
    const welcome = await line.next();
    expect(welcome).to.include({ event: 'welcome' });
    return line;
  }

  /** The daemon has noticed the end of earlier connections once it answers on a later one. */
  const noticed = () => rig.ask('status');

  async function seated(): Promise<{
    session: TestSession;
    line: Line;
    board: string;
    seat: Awaited<ReturnType<Rig['seat']>>['seat'];
  }> {
    const { seat, board } = await rig.seat();
    const session = aSession();
    const line = await connected(session);
    await session.bind(seat);
    return { session, line, board, seat };
  }

  it('brings the ticket its session was started with', async () => {
    const { seat } = await rig.seat();
    const agent = { server: seat.origin, board: seat.board, name: seat.name };
    const launch = issueTicket(rig.paths.launches, agent, 'fake');
    const line = await aSession().open('hello', { source: 'startup', launch });
    expect((await line.next())['seats']).to.have.length(1);
    const other = await aSession().open('hello', { source: 'startup', launch });
    expect(await other.next()).not.to.have.property('seats');
  });

  it('is given bundles while its session is idle, and its word is the receipt', async () => {
    const { line, board, seat } = await seated();
    const { seq } = await rig.say(board, 'hello');
    const carry = await line.next();
    expect(carry).to.include({ event: 'deliver' });
    await took(line, carry);
    await rig.acked(seat, seq);
    // A further word for the same text changes nothing.
    expect(await line.send({ op: 'received', handoff_id: carry['handoff_id'] }).next()).to.include({ event: 'ok' });
    expect(rig.states()).to.deep.equal(['done']);
  });

  it('is told which bundles only agents wrote, and may put those off while a person’s word comes at once', async () => {
    const { line, board, seat } = await seated();
    const peer = await newAgent(server.dana, board);
    const say = (body: string) => post(peer, board, body, { to: [`@${seat.name}`] });
    const putOff = (carry: Record<string, unknown>, ms: number) =>
      line.send({ op: 'failed', handoff_id: carry['handoff_id'], later: true, agents_after_ms: ms });
    const stated = (state: string) => until(() => rig.states().at(-1) === state, state);

    await say('ping');
    const first = await line.next();
    expect(first).to.include({ by_agents: true });
    putOff(first, 60_000);
    await stated('pending');
    await say('pong');
    clock.pass(59_000);
    expect(line.more).to.equal(false);
    clock.pass(1_000);
    const second = await line.next();
    expect(second).to.include({ by_agents: true, handoff_id: first['handoff_id'] });
    putOff(second, 60_000);
    await stated('pending');
    const { seq } = await rig.say(board, 'stop that');
    const third = await line.next();
    expect(third).to.not.have.property('by_agents');
    expect(third['bundle']).to.include('ping').and.to.include('pong').and.to.include('stop that');
    await took(line, third);
    await rig.acked(seat, seq);
    // What agents write after it waits for the rest of that time.
    await say('and on');
    await rig.seen(seat, seq + 1);
    clock.pass(50_000);
    expect(line.more).to.equal(false);
    clock.pass(10_000);
    expect((await line.next())['bundle']).to.include('and on');
  });

  it('that puts agents’ messages off is given a person’s word five times at most, too', async () => {
    const { line, board, seat } = await seated();
    await post(await newAgent(server.dana, board), board, 'ping', { to: [`@${seat.name}`] });
    const { handoff_id: id } = await line.next();
    line.send({ op: 'failed', handoff_id: id, later: true, agents_after_ms: 600_000 });
    await until(() => rig.states().at(-1) === 'pending', 'it is put off');
    await rig.say(board, 'stop that');
    for (let n = 1; n <= 5; n++) {
      const { handoff_id } = await line.next();
      line.send({ op: 'failed', handoff_id, reason: 'exit 1' });
      await until(() => rig.states().at(-1) === (n < 5 ? 'retry' : 'attention'), `failure ${n} is noted`);
      clock.pass(60_000);
    }
    await noticed();
    expect(line.more).to.equal(false);
  });

  it('is told at once that a seat was taken also while a bundle is on its way to it', async () => {
    const { line, board, seat } = await seated();
    await rig.say(board, 'hello');
    expect(await line.next()).to.include({ event: 'deliver' });
    await rig.session(seat);
    expect(await line.next())
      .to.include({ event: 'seats' })
      .and.have.nested.property('lost[0].name', seat.name);
  });

  it('is told at once that a seat was taken or has ended, and its session again until it took that', async () => {
    const { session, line, seat, board } = await seated();
    const other = await rig.session(seat);
    const told = await line.next();
    expect(told).to.include({ event: 'seats' }).and.have.nested.property('lost[0].member_id', seat.member_id);
    expect(told['note']).to.contain('another session took');
    expect((await session.hook('turn_start'))['nudge']).to.equal(told['note']);
    expect(await session.hook('boundary')).to.not.have.property('nudge');
    await session.bind(seat);
    expect((await other.hook('boundary'))['nudge']).to.contain('another session took');
    await server.dana.ok('removeMember', { params: { board, member: seat.name } });
    const ended = await line.next();
    expect(ended['note']).to.equal(`service: you are no longer on ${board}`);
    expect(ended).to.have.nested.property('seats[0].problem', 'agent_removed');
    await took(line, ended);
    expect(await session.hook('turn_start')).to.not.have.property('nudge');
  });

  it('hears after a lost connection of a mode that was changed meanwhile', async () => {
    const { session, line, board, seat } = await seated();
    await line.end();
    await noticed();
    await server.dana.ok('setDeliveryMode', { params: { board, member: seat.name }, body: { mode: 'all' } });
    await until(() => rig.row(seat).mode === 'all', 'the mode is known');
    await connected(session, { resumed: true });
    expect((await session.hook('turn_start'))['nudge']).to.contain('Delivery is now all');
  });

  it('is given nothing while a turn runs, and what waited when it is over', async () => {
    const { session, line, board, seat } = await seated();
    line.send({ op: 'prompt' });
    await until(async () => (await session.ask('agents'))['turn'] === 'busy', 'it is busy');
    const { seq } = await rig.say(board, 'later');
    await rig.seen(seat, seq);
    expect(line.more).to.equal(false);
    const midway = await session.hook('boundary');
    expect(midway['bundle']).to.contain('later');
    line.send({ op: 'needs_person', what: 'question' }).send({ op: 'turn_end' });
    await until(async () => (await session.ask('agents'))['turn'] === 'idle', 'it is idle');
  });

  it('gets what it did not confirm again with the same id, and one that it had added is not given twice', async () => {
    const { session, line, board, seat } = await seated();
    const { seq } = await rig.say(board, 'hello');
    const carry = await line.next();
    await line.end();
    await until(() => rig.states()[0] === 'pending', 'it is pending');
    const again = await connected(session, { resumed: true });
    expect(await again.next()).to.deep.equal(carry);
    await again.end();
    await until(() => rig.states()[0] === 'pending', 'it is pending again');
    // This time it had been added, and only the word of it was lost.
    await rig.restart({ clock });
    const third = await session.open('hello', { source: 'startup', resumed: true });
    third.send({ op: 'received', handoff_id: carry['handoff_id'] });
    await rig.acked(seat, seq);
    expect(rig.states()).to.deep.equal(['done']);
  });

  it('that works on a text holds up no stop, and confirms it to the next daemon', async () => {
    const { session, line, board, seat } = await seated();
    const { seq } = await rig.say(board, 'hello');
    const carry = await line.next();
    const waits: number[] = [];
    const { after } = clock;
    clock.after = (ms, run) => {
      waits.push(ms);
      return after(ms, run);
    };
    await rig.daemon.stop(true);
    expect(waits).to.not.include(25);
    await rig.start({ clock, adapter });
    const again = await session.open('hello', { source: 'startup', resumed: true });
    again.send({ op: 'received', handoff_id: carry['handoff_id'] });
    await rig.acked(seat, seq);
  });

  it('that connects again gets what it failed to take five times', async () => {
    const { session, line, board, seat } = await seated();
    const { seq } = await rig.say(board, 'hello');
    for (let n = 1; n <= 5; n++) {
      const { handoff_id } = await line.next();
      line.send({ op: 'failed', handoff_id, reason: 'exit 1' });
      await until(() => rig.states().at(-1) === (n < 5 ? 'retry' : 'attention'), `failure ${n} is noted`);
      clock.pass(60_000);
    }
    await line.end();
    await noticed();
    const again = await connected(session, { resumed: true });
    const carry = await again.next();
    expect(carry['bundle']).to.contain('hello');
    await took(again, carry);
    await rig.acked(seat, seq);
  });

  it('may be away for five seconds, then its session is over', async () => {
    const { session, line } = await seated();
    await line.end();
    await noticed();
    clock.pass(4_000);
    const back = await connected(session, { resumed: true });
    clock.pass(4_000);
    expect(rig.isOpen(session)).to.equal(true);
    await back.end();
    await noticed();
    clock.pass(5_000);
    expect(rig.isOpen(session)).to.equal(false);
  });

  it('that a new daemon hears nothing of has no session any more', async () => {
    const { session } = await seated();
    const back = aSession();
    await connected(back);
    await rig.restart({ clock, adapter });
    await connected(back, { resumed: true });
    clock.pass(10_000);
    expect(rig.isOpen(session)).to.equal(true);
    clock.pass(5_000);
    expect(rig.isOpen(session)).to.equal(false);
    expect(rig.isOpen(back)).to.equal(true);
  });

  it('says goodbye for its session', async () => {
    const { session, line } = await seated();
    line.send({ op: 'goodbye' });
    await until(() => !rig.isOpen(session), 'it is closed');
    expect(await line.next()).to.include({ event: 'release' });
  });

  it('is released by a second one of its session', async () => {
    const session = aSession();
    const first = await connected(session);
    await connected(session, { resumed: true });
    expect(await first.next()).to.include({ event: 'release' });
  });

  it('is welcomed with its seats, its mode and a note', async () => {
    const { session, seat } = await seated();
    const line = await session.open('hello', { source: 'resume' });
    const welcome = await line.next();
    expect(welcome).to.include({ event: 'welcome', boot: '00000000000000ee', mode: 'focused' });
    expect(welcome['note']).to.contain(seat.name);
    expect(welcome['seats']).to.have.length(1);
  });
});
