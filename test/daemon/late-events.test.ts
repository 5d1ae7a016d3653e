/** Hooks that come late, twice, or from another life of their session: none of them brings a text where it must not go. */
import { expect } from 'chai';
import { processRef } from '../../src/local/process-ref.ts';
import type { TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { type Rig, TestSession, took } from './support/rig.ts';
import { withRig } from './support/rigged.ts';
import type { StepClock } from './support/step-clock.ts';

describe('a hook that comes late', () => {
  let server: TestServer;
  let rig: Rig;
  let clock: StepClock;
  withRig((made) => {
    ({ server, rig, clock } = made);
  });

  it('because it had lost the daemon does not make a session idle that has begun a turn since', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const started = clock.nowUs();
    const before = await session.wait({ started });
    await before.end();
    clock.pass(100);
    await session.hook('turn_start');
    const late = await session.open('wait', { started, resumed: true });
    expect(await late.next()).to.include({ event: 'waiting' });
    expect(await late.next()).to.include({ event: 'release' });
    const { seq } = await rig.say(board, 'not into the running turn');
    await rig.seen(seat, seq);
    clock.pass(2_000);
    expect(rig.states()).to.deep.equal([]);
    expect(await session.ask('agents')).to.include({ turn: 'busy' });
  });

  it('because it had lost the daemon opens no session that its program has replaced since', async () => {
    const { seat } = await rig.seat();
    const program = { process: processRef(process.pid)! };
    const session = await rig.session(seat, program);
    const started = clock.nowUs();
    await (await session.wait({ started })).end();
    await session.ask('end', { reason: 'clear' });
    await rig.session(undefined, program);
    // The first try may have started the daemon, and taken as long.
    for (const resumed of [true, false]) {
      const late = await session.open('wait', { started, resumed });
      expect(await late.next()).to.include({ event: 'waiting' });
      expect(await late.next()).to.include({ event: 'release' });
      expect(rig.isOpen(session)).to.equal(false);
    }
  });

  it('that resumes takes back what was given to its lost connection and not accepted', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const started = clock.nowUs();
    const stuck = await session.wait({ started });
    const { seq } = await rig.say(board, 'hello');
    const first = await stuck.next();
    // The old connection is still open as far as the daemon knows.
    const hook = await session.wait({ started, resumed: true });
    clock.pass(2_000);
    const again = await hook.next();
    expect(again['bundle']).to.contain('hello');
    // Its word counts for nothing by now.
    await stuck.send({ op: 'received', handoff_id: first['handoff_id'] }).next();
    expect(rig.rows('SELECT * FROM received')).to.deep.equal([]);
    await took(hook, again);
    await session.hook('turn_start', { wake: true, handoff_id: again['handoff_id'] });
    await session.hook('boundary');
    await rig.acked(seat, seq);
  });

  it('with its word that the text was written keeps no session waiting whose next turn is over by then', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const hook = await session.wait();
    const { seq } = await rig.say(board, 'hello');
    const carry = await hook.next();
    // The daemon hears of all of this only when it is over.
    const [woken, stopped] = [clock.nowUs(), clock.nowUs() + 1];
    clock.pass(3_000);
    await took(hook, carry);
    await session.hook('turn_start', { started: woken, wake: true, handoff_id: carry['handoff_id'] });
    const next = await session.wait({ started: stopped });
    await rig.acked(seat, seq);
    await rig.say(board, 'and this');
    clock.pass(2_000);
    expect((await next.next())['bundle']).to.contain('and this');
  });

  it('of a new process is no repetition, however soon it comes', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat, { process: { pid: process.pid, start: 'long ago' } });
    const first = { ...session.header };
    await session.ask('register', { source: 'resume' });
    const next = new TestSession(rig, { ...first, boot: 'abababababababab', process: processRef(process.pid)! });
    const answer = await next.ask('register', { source: 'resume' });
    expect(answer).to.include({ boot: 'abababababababab' });
    const { seq } = await rig.say(board, 'hello');
    const start = await next.hook('turn_start');
    expect(start['bundle']).to.contain('hello');
    await next.hook('boundary');
    await rig.acked(seat, seq);
  });

  it('for a seat that is no more leaves the line about it to the next one, when nobody heard it', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await session.bind((await rig.seat()).seat);
    await server.dana.ok('removeMember', { params: { board, member: seat.name } });
    await until(() => rig.row(seat).problem === 'agent_removed', 'it has ended');
    const gone = await session.open('turn_start', { started: clock.nowUs() });
    await gone.end();
    await until(async () => (await session.ask('agents'))['turn'] === 'busy', 'the turn is known');
    await session.hook('turn_end');
    const start = await session.hook('turn_start');
    expect(start['nudge']).to.contain(`service: you are no longer on ${board}`);
  });
});
