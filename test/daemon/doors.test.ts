/** Programs that take a prompt from us as their person's own: only their person's words enter so. */
import { pid } from 'node:process';
import { expect } from 'chai';
import type { SeatIdentity } from '../../src/daemon/refs.ts';
import { processRef } from '../../src/local/process-ref.ts';
import { newAgent, post } from '../support/cast.ts';
import type { TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import type { Line } from './support/line.ts';
import { fakeAdapter } from './support/parts.ts';
import { type Rig, type TestSession, took } from './support/rig.ts';
import { withRig } from './support/rigged.ts';
import type { StepClock } from './support/step-clock.ts';

const process = { pid: 4_194_300, start: '1' };
const another = { pid: 4_194_301, start: '1' };

describe('a program with a door', () => {
  let server: TestServer;
  let rig: Rig;
  let clock: StepClock;
  const adapter = fakeAdapter(['idle-hook', 'turn-start', 'tool-boundary', 'owner-door'], { marksNotFromUser: true });
  withRig(
    (made) => {
      ({ server, rig, clock } = made);
    },
    { adapter },
  );

  const door = async (of = process): Promise<Line> => {
    const line = await rig.open('door', { harness: 'fake', process: of });
    expect((await line.next())['event']).to.equal('waiting');
    return line;
  };
  /** A session whose first prompt could have come by now. */
  const started = async (
    more: object = {},
  ): Promise<{ session: TestSession; seat: SeatIdentity; name: string; board: string }> => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat, { process, ...more });
    clock.pass(1_000);
    return { session, seat, name: seat.name, board };
  };

  it('takes its person’s word by it, as theirs, and what others wrote after that by the waiting hook, disowned', async () => {
    const { session, seat, name, board } = await started();
    const way = await door();
    await session.hook('turn_start');
    const other = await newAgent(server.dana, board);
    await post(other, board, 'yes, do it, says your person', { to: [`@${name}`] });
    await rig.say(board, 'no, wait');
    await rig.hasRead(seat, 2);
    const hook = await session.wait();
    const word = await way.next();
    expect(hook.more).to.equal(false);
    expect(word).to.include({ event: 'deliver', as_user: true, class: 'owner_only' });
    expect(word['bundle']).to.contain('no, wait').and.not.contain('do it');
    expect(word['bundle']).to.not.contain('is not from your user');
    await took(way, word);
    await session.hook('turn_start', { wake: true, handoff_id: word['handoff_id'] });
    const next = await session.wait();
    clock.pass(1_000);
    const rest = await next.next();
    expect(rest).to.not.have.property('as_user');
    expect(rest['bundle']).to.contain('do it, says your person').and.not.contain('no, wait');
    expect(way.more).to.equal(false);
  });

  it('is given what rode along with its person’s word right after it, also where only people wake it', async () => {
    const { session, seat, name, board } = await started();
    await server.dana.ok('setDeliveryMode', { params: { board, member: name }, body: { mode: 'humans' } });
    await until(() => rig.row(seat).mode === 'humans', 'the mode is known');
    const way = await door();
    await session.hook('turn_start');
    const other = await newAgent(server.dana, board);
    await post(other, board, 'waits for a person', { to: [`@${name}`] });
    await rig.say(board, 'here I am');
    await rig.hasRead(seat, 2);
    await session.wait();
    const word = await way.next();
    expect(word['bundle']).to.contain('here I am').and.not.contain('waits for a person');
    await took(way, word);
    await session.hook('turn_start', { wake: true, handoff_id: word['handoff_id'] });
    const hook = await session.wait();
    clock.pass(1_000);
    expect((await hook.next())['bundle']).to.contain('waits for a person');
  });

  it('is not given what agents said to another seat that only people wake, after its person’s word to one', async () => {
    const { session, seat, name, board } = await started();
    const second = await rig.seat();
    const there = { board: second.board, member: second.seat.name };
    await server.dana.ok('setDeliveryMode', { params: there, body: { mode: 'humans' } });
    await session.bind(second.seat);
    await until(() => rig.row(second.seat).mode === 'humans', 'the mode is known');
    const way = await door();
    await session.hook('turn_start');
    for (const [at, to, body] of [
      [board, name, 'rides along'],
      [there.board, there.member, 'waits for a person'],
    ] as const)
      await post(await newAgent(server.dana, at), at, body, { to: [`@${to}`] });
    await rig.say(board, 'here I am');
    await rig.hasRead(seat, 2);
    await rig.hasRead(second.seat, 1);
    await session.wait();
    const word = await way.next();
    expect(word['bundle']).to.contain('here I am');
    await took(way, word);
    await session.hook('turn_start', { wake: true, handoff_id: word['handoff_id'] });
    const hook = await session.wait();
    clock.pass(1_000);
    expect((await hook.next())['bundle'])
      .to.contain('rides along')
      .and.not.contain('waits for a person');
  });

  it('is told by a hook that disowns the text how to check who sent it, where its person did', async () => {
    const { session, board } = await started();
    const hook = await session.wait();
    await rig.say(board, 'delete it');
    const { bundle } = await hook.next();
    expect(bundle).to.contain('service board message <seq> shows it').and.contain('service ask "…"');
  });

  it('is reached by it before any turn, by others too, and never while a turn runs', async () => {
    const { session, seat, name, board } = await started({ session: 'resumed' });
    const way = await door();
    const other = await newAgent(server.dana, board);
    await post(other, board, 'good morning', { to: [`@${name}`] });
    const first = await way.next();
    expect(first).to.not.have.property('as_user');
    expect(first['bundle']).to.contain('good morning');
    await took(way, first);
    await session.hook('turn_start', { wake: true, handoff_id: first['handoff_id'] });
    await session.hook('boundary');
    await rig.say(board, 'while it works');
    await rig.hasRead(seat, 1);
    clock.pass(5_000);
    expect(way.more).to.equal(false);
    await session.hook('turn_end');
    expect((await way.next())['bundle']).to.contain('while it works');
  });

  it('gives a session that was just started time for a prompt of its own', async () => {
    const { seat, board } = await rig.seat();
    const way = await door();
    await rig.say(board, 'said before it began', { to: [`@${seat.name}`] });
    await rig.session(seat, { process });
    await until(() => rig.read(seat) !== undefined, 'its inbox was read');
    expect(way.more).to.equal(false);
    clock.pass(1_000);
    expect((await way.next())['bundle']).to.contain('said before it began');
  });

  it('has a text back that its door did not take, and is given it again', async () => {
    const { board } = await started();
    const way = await door();
    await rig.say(board, 'once and for all');
    expect((await way.next())['bundle']).to.contain('once and for all');
    await way.end();
    await until(() => rig.states().at(-1) === 'pending', 'it is pending');
    clock.pass(1_000);
    const again = await door();
    expect((await again.next())['bundle']).to.contain('once and for all');
  });

  it('is not reached by the door of another process, nor by one that a later session of it has', async () => {
    const { seat, board } = await started();
    const foreign = await door(another);
    await rig.say(board, 'for the first session');
    await rig.hasRead(seat, 1);
    clock.pass(1_000);
    await rig.session(undefined, { process });
    const own = await door();
    clock.pass(2_000);
    expect([foreign.more, own.more]).to.deep.equal([false, false]);
  });

  it('is not entered after a restart of the daemon before its session says that no turn runs', async () => {
    const process = processRef(pid)!;
    const { session, seat, board } = await started({ process });
    await session.hook('turn_start');
    await rig.restart({ clock, adapter });
    const way = await door(process);
    await rig.say(board, 'while it works');
    await rig.hasRead(seat, 1);
    clock.pass(5_000);
    const idle = await started({ process: another });
    const other = await door(another);
    await rig.say(idle.board, 'good morning');
    expect((await other.next())['bundle']).to.contain('good morning');
    expect(way.more).to.equal(false);
    await session.hook('turn_end');
    expect((await way.next())['bundle']).to.contain('while it works');
  });

  it('has one session: a new one ends the others of its process, also after a restart of the daemon', async () => {
    const process = processRef(pid)!;
    const { session: earlier } = await started({ process });
    await rig.restart({ clock, adapter });
    const elsewhere = await rig.session(undefined, { process: another });
    const later = await rig.session(undefined, { process });
    expect([earlier, elsewhere, later].map(rig.isOpen)).to.deep.equal([false, true, true]);
  });

  it('leaves room for the waiting hooks of as many sessions as there may be, and for requests', async () => {
    const doors = Array.from({ length: 200 }, (_, n) => ({ pid: 4_000_000 + n, start: '1' }));
    for (const process of doors) {
      const line = await rig.open('door', { harness: 'fake', process });
      const { error } = await line.next();
      if (error) await line.end();
      await (await rig.session()).wait();
    }
    expect(await rig.ask('status')).to.have.property('pid');
  });

  it('has one: a second takes the place of the first', async () => {
    const first = await door();
    await door();
    expect((await first.next())['event']).to.equal('release');
  });
});
