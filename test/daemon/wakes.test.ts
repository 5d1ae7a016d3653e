/** When an idle session is woken, by what, and what becomes of a wake that does not work. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Board } from '../../src/contract/types.ts';
import { processRef } from '../../src/local/process-ref.ts';
import { newAgent, newBoard, post } from '../support/cast.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { fakeAdapter } from './support/parts.ts';
import { Rig, took } from './support/rig.ts';
import { withRig } from './support/rigged.ts';
import { StepClock } from './support/step-clock.ts';

describe('an idle session', () => {
  let server: TestServer;
  let rig: Rig;
  let clock: StepClock;
  withRig((made) => {
    ({ server, rig, clock } = made);
  });

  /** A person's own other agent: what it says to everybody does not concern the session. */
  const peer = (board: string) => newAgent(server.dana, board);

  it('is woken by what concerns it alone, and gets the rest with that', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const hook = await session.wait();
    const other = await peer(board);
    await post(other, board, 'to everybody');
    await post(other, board, 'to you', { to: [`@${seat.name}`] });
    const { bundle } = await hook.next();
    expect(bundle).to.contain('to you').and.contain('to everybody');
    expect(hook.more).to.equal(false);
  });

  it('in mode all is woken by every message, in humans by people, in off by nothing', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const other = await peer(board);
    const params = { board, member: seat.name };
    const mode = async (name: string) => {
      await server.dana.ok('setDeliveryMode', { params, body: { mode: name } });
      await until(() => rig.row(seat).mode === name, `the mode is ${name}`);
    };
    await mode('all');
    let hook = await session.wait();
    await post(other, board, 'first of a peer');
    const first = await hook.next();
    expect(first['bundle']).to.contain('first of a peer');
    await took(hook, first);
    await session.hook('turn_start', { wake: true, handoff_id: first['handoff_id'] });
    await mode('humans');
    hook = await session.wait();
    await post(other, board, 'second of a peer');
    const { seq } = await rig.say(board, 'of a person');
    const second = await hook.next();
    expect(second['bundle']).to.contain('second of a peer').and.contain('of a person');
    await took(hook, second);
    await session.hook('turn_start', { wake: true, handoff_id: second['handoff_id'] });
    await mode('off');
    hook = await session.wait();
    await rig.acked(seat, seq);
    await rig.say(board, 'while it is off');
    await rig.seen(seat, seq + 1);
    clock.pass(5_000);
    expect(hook.more).to.equal(false);
    // Its turn begins with the line about the mode and nothing else.
    const start = await session.hook('turn_start');
    expect(start['nudge']).to.contain('off');
    expect(start).to.not.have.property('bundle');
  });

  it('gathers what arrives around a delivery into one further bundle', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const hook = await session.wait();
    await rig.say(board, 'number 0');
    const first = await hook.next();
    expect(first['bundle']).to.contain('number 0');
    for (let n = 1; n <= 9; n++) await rig.say(board, `number ${n}`, n === 9 ? { urgent: true } : {});
    await took(hook, first);
    await session.hook('turn_start', { wake: true, handoff_id: first['handoff_id'] });
    const again = await session.wait();
    await rig.hasRead(seat, 9);
    clock.pass(200);
    const second = await again.next();
    const text = String(second['bundle']);
    for (let n = 1; n <= 9; n++) expect(text).to.contain(`number ${n}`);
    expect(text.indexOf('number 9')).to.be.below(text.indexOf('number 1'));
    expect(text).to.not.contain('number 0');
  });

  it('that is busy is waited for, and gets one bundle at its next wait', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await session.hook('turn_start');
    const other = await peer(board);
    await post(other, board, 'one', { to: [`@${seat.name}`] });
    const { seq } = await post(other, board, 'two', { to: [`@${seat.name}`] });
    await rig.seen(seat, seq);
    expect(rig.states()).to.deep.equal([]);
    const hook = await session.wait();
    clock.pass(1_000);
    const { bundle } = await hook.next();
    expect(bundle).to.contain('one').and.contain('two');
  });

  it('has one waiting hook: a second releases the first', async () => {
    const session = await rig.session();
    const first = await session.wait();
    await session.wait();
    expect(await first.next()).to.include({ event: 'release' });
    await until(() => first.closed, 'it is closed');
  });

  it('prompt typed as the turn ends: the late wait is released, and no text enters the new turn by accident', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const started = clock.nowUs();
    await session.hook('turn_start');
    const late = await session.open('wait', { started });
    expect(await late.next()).to.include({ event: 'waiting' });
    expect(await late.next()).to.include({ event: 'release' });
    await rig.say(board, 'not into the running turn');
    expect((await session.ask('agents'))['turn']).to.equal('busy');
  });

  it('lets go of its waiting hook when a prompt is typed', async () => {
    const session = await rig.session();
    const hook = await session.wait();
    await session.hook('turn_start');
    expect(await hook.next()).to.include({ event: 'release' });
  });

  it('wake swallowed by the harness: stalled, and handed again at the next prompt that is no wake, at most twice, then believed', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await session.hook('turn_start');
    const { seq } = await rig.say(board, 'hello');
    for (let round = 0; round < 3; round++) {
      const hook = await session.wait();
      const carry = await hook.next();
      expect(carry['bundle']).to.contain('hello');
      await took(hook, carry);
      clock.pass(10_000);
      const { stalled } = (await rig.ask('status')) as { stalled: { handoff_id: string; seqs: number[] }[] };
      expect(stalled.map(({ handoff_id, seqs }) => [handoff_id, ...seqs])).to.deep.equal([[carry['handoff_id'], seq]]);
      // A prompt that is no echo, whose own text does not get there either.
      const typed = await session.open('turn_start', { started: clock.nowUs() });
      const given = await typed.next();
      await typed.end();
      if (round < 2) expect(given['bundle'], `round ${round}`).to.contain('hello');
      else expect(given).to.not.have.property('bundle');
      await until(() => rig.states().at(-1) !== 'handed', 'it is not on its way any more');
    }
    await rig.acked(seat, seq);
    expect(readFileSync(rig.logFile, 'utf8').match(/wake_echo_missing/g)).to.have.length(1);
  });

  it('wake swallowed by the harness while the daemon was away: reported as stalled by the next one too', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat, { process: processRef(process.pid)! });
    await session.hook('turn_start');
    const hook = await session.wait();
    await rig.say(board, 'hello');
    const carry = await hook.next();
    await took(hook, carry);
    await rig.restart({ clock });
    expect((await rig.ask('status'))['stalled'] ?? []).to.deep.equal([]);
    clock.pass(10_000);
    const { stalled } = (await rig.ask('status')) as { stalled: { handoff_id: string }[] };
    expect(stalled.map(({ handoff_id }) => handoff_id)).to.deep.equal([carry['handoff_id']]);
    expect((await session.hook('turn_start'))['bundle']).to.contain('hello');
  });

  it('mode set to `off` between the wake-up and handing: the fresh read drops the hand', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await server.dana.ok('setDeliveryMode', { params: { board, member: seat.name }, body: { mode: 'off' } });
    await rig.say(board, 'too late');
    const hook = await session.wait();
    await rig.hasRead(seat, 1);
    clock.pass(2_000);
    expect(hook.more).to.equal(false);
    expect(rig.states()).to.deep.equal([]);
  });

  it('hook killed by the harness after the answer: no `received`, so it is pending at once and the same messages come again', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await rig.say(board, 'hello');
    const killed = await session.wait();
    const first = await killed.next();
    await killed.end();
    await until(() => rig.states()[0] === 'pending', 'it is pending again');
    const hook = await session.wait();
    const second = await hook.next();
    // The selection stands, so the text is the same down to its id.
    expect(second).to.deep.equal(first);
  });

  it('of a program with its own queue is handed there, and tried again where that fails', async () => {
    const answers: Awaited<ReturnType<ReturnType<typeof fakeAdapter>['hand']>>[] = [
      { retry: 'gone' },
      { later: 'locked' },
      'accepted_confirmed',
    ];
    const ids: string[] = [];
    const adapter = fakeAdapter(['queue'], {
      hand: async (_session, _text, id) => {
        ids.push(id);
        return answers.shift() ?? { retry: 'absent' };
      },
    });
    clock = new StepClock();
    await rig.restart({ clock, adapter });
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const { seq } = await rig.say(board, 'hello');
    await until(() => rig.states()[0] === 'retry', 'the first attempt failed');
    clock.pass(2_000);
    await until(() => rig.states()[0] === 'pending', 'it is locked');
    clock.pass(10_000);
    await rig.acked(seat, seq);
    expect(new Set(ids).size).to.equal(1);
    // Five attempts, then somebody has to look.
    await rig.say(board, 'another');
    for (let attempt = 0; attempt < 5; attempt++) {
      await until(() => ids.length >= 4 + attempt, `attempt ${attempt}`);
      await until(() => ['retry', 'attention'].includes(rig.states().at(-1)!), 'it failed');
      clock.pass(20_000);
    }
    await until(() => rig.states().at(-1) === 'attention', 'it needs attention');
    expect((await rig.ask('status'))['attention']).to.have.length(1);
    answers.push('accepted_confirmed');
    await session.ask('end');
    await session.ask('register', { source: 'resume' });
    await until(() => rig.states().at(-1) === 'done', 'it was tried again');
  });
});

describe('a wake', () => {
  let server: TestServer;
  let rig: Rig;
  let board: Board;

  before(async () => {
    server = await startTestServer('sqlite');
  });
  after(() => server.stop());
  afterEach(() => rig.stop());

  it('is counted, with the time from the post to it', async () => {
    rig = await new Rig(server).start();
    board = await newBoard(server.dana);
    const { seat } = await rig.seat(board);
    const session = await rig.session(seat);
    const hook = await session.wait();
    await rig.say(board.name, 'hello');
    await hook.next();
    const { metrics } = (await rig.ask('status')) as { metrics: Record<string, number> };
    expect(metrics).to.include({ wakes: 1, handed: 1 });
    expect(metrics).to.have.property('deliver_p50_ms');
  });
});
