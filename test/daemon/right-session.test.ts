/** Right session only: a text goes to the session and life that holds the seat, and to nobody else, whoever else asks. */
import { expect } from 'chai';
import { processRef } from '../../src/local/process-ref.ts';
import { newBoard } from '../support/cast.ts';
import { until } from '../support/until.ts';
import { errorOf } from './support/error-of.ts';
import type { Frame } from './support/line.ts';
import { fakeAdapter } from './support/parts.ts';
import { proxied } from './support/proxied.ts';
import { TestSession, took } from './support/rig.ts';

const WORDS = 'words for the right one';

describe('right session only:', () => {
  const on = proxied();

  const seen = (member_id: string, seq: number) => on.rig.seen({ member_id }, seq);
  /** Everything a session may ask for text with. */
  const allWays = async (session: TestSession): Promise<Frame[]> => {
    const frames: Frame[] = [];
    for (const op of ['boundary', 'turn_end', 'turn_start'] as const) frames.push(await session.hook(op));
    const hook = await session.open('wait', { started: on.clock.nowUs() });
    frames.push(await hook.next());
    on.clock.pass(2_000);
    await until(() => hook.closed || hook.more || frames.length > 0, 'it was answered');
    frames.push(...hook.frames);
    await hook.end();
    return frames;
  };
  const silent = (frames: readonly Frame[]) =>
    expect(JSON.stringify(frames)).to.not.contain(WORDS).and.not.contain('#');

  it('a stale boot gets no text and its callbacks confirm nothing', async () => {
    const { seat, board } = await on.rig.seat();
    const session = await on.rig.session(seat);
    const old = new TestSession(on.rig, { ...session.header });
    const stuck = await old.wait();
    const { seq } = await on.rig.say(board, WORDS);
    const carry = await stuck.next();
    // A new life of the session begins while the old hook still writes.
    session.header = { ...session.header, boot: 'cccccccccccccccc' };
    await session.ask('register', { source: 'resume' });
    const late = stuck.send({ op: 'received', handoff_id: carry['handoff_id'] });
    await late.next().catch(() => null);
    expect(on.rig.states()).to.deep.equal(['pending']);
    silent(await allWays(old));
    for (const op of ['turn_start', 'prompt'] as const)
      silent([await old.ask(op, { wake: true, handoff_id: carry['handoff_id'], started: on.clock.nowUs() })]);
    expect(on.rig.states()).to.deep.equal(['pending']);
    expect(on.rig.rows('SELECT * FROM received')).to.deep.equal([]);
    expect(await on.rig.cursor(seat)).to.be.below(seq);
    expect((await session.hook('turn_start'))['bundle']).to.contain(WORDS);
    silent([await old.hook('boundary')]);
    expect(on.rig.states()).to.deep.equal(['handed']);
    await session.hook('boundary');
    await on.rig.acked(seat, seq);
  });

  it('a re-used id of another process, or of another program, gets no text', async () => {
    const { seat, board } = await on.rig.seat();
    const session = await on.rig.session(seat, { process: processRef(process.pid)! });
    const { seq } = await on.rig.say(board, WORDS);
    await seen(seat.member_id, seq);
    const other = new TestSession(on.rig, {
      ...session.header,
      boot: undefined,
      process: { pid: 1, start: 'long ago' },
    });
    silent(await allWays(other));
    // The same id in another program is another session.
    const cousin = new TestSession(on.rig, { ...session.header, harness: 'cousin' });
    await cousin.ask('register', { source: 'startup' });
    silent(await allWays(cousin));
    expect(on.rig.states()).to.deep.equal([]);
    expect((await session.hook('turn_start'))['bundle']).to.contain(WORDS);
  });

  it('a subagent gets no text, by whatever it asks, and confirms nothing', async () => {
    const { seat, board } = await on.rig.seat();
    const session = await on.rig.session(seat);
    await session.hook('turn_start');
    const { seq } = await on.rig.say(board, WORDS);
    await seen(seat.member_id, seq);
    const inner = new TestSession(on.rig, { ...session.header, subagent: 'sub-1' });
    silent(await allWays(inner));
    const hello = await inner.open('hello', { source: 'startup' });
    const refused = await hello.next();
    expect(errorOf(refused)).to.equal('subagent_session');
    expect((await session.hook('boundary'))['bundle']).to.contain(WORDS);
    // What it does next is none of the session's events.
    for (const op of ['boundary', 'turn_end', 'turn_start'] as const) silent([await inner.hook(op)]);
    const inbox = await inner.open('inbox', { agent: { server: seat.origin, board, name: seat.name } });
    await inbox.next();
    await inbox.end();
    expect(on.rig.states()).to.deep.equal(['handed']);
    expect(await on.rig.cursor(seat)).to.be.below(seq);
  });

  it('a harness nested in another one is a session of its own, in both directions', async () => {
    const { seat, board } = await on.rig.seat();
    const { seat: innerSeat, board: innerBoard } = await on.rig.seat(await newBoard(on.server.dana));
    const outer = await on.rig.session(seat, { harness: 'outer', process: processRef(process.pid)! });
    const inner = await on.rig.session(innerSeat, { harness: 'inner', process: processRef(process.pid)! });
    const outerHook = await outer.wait();
    const innerHook = await inner.wait();
    await on.rig.say(board, `${WORDS} of the outer`);
    expect((await outerHook.next())['bundle']).to.contain(`${WORDS} of the outer`);
    await on.rig.say(innerBoard, `${WORDS} of the inner`);
    expect((await innerHook.next())['bundle']).to.contain(`${WORDS} of the inner`);
    expect(JSON.stringify(innerHook.frames)).to.not.contain('of the outer');
    expect(JSON.stringify(outerHook.frames)).to.not.contain('of the inner');
    // The one that is inside says that it is the outer one's part: it is told apart and refused.
    const posing = new TestSession(on.rig, { ...outer.header, subagent: 'inner' });
    silent([await posing.hook('turn_start')]);
  });

  it('a takeover in the middle of a reading hands nothing to the session that lost the seat', async () => {
    const { seat, board } = await on.rig.seat();
    const first = await on.rig.session(seat);
    const hook = await first.wait();
    await until(() => on.proxy.openStreams === 1, 'the stream is open');
    on.proxy.fail('GET /v1/me/inbox', 'hold', 1);
    const { seq } = await on.rig.say(board, WORDS);
    await until(() => on.proxy.held === 1, 'the reading is under way');
    const second = await on.rig.session();
    const bound = second.bind(seat);
    on.proxy.heal();
    await bound;
    const other = await second.wait();
    on.clock.pass(2_000);
    const carry = await other.next();
    expect(carry['bundle']).to.contain(WORDS);
    silent(hook.frames);
    await took(other, carry);
    await second.hook('turn_start', { wake: true, handoff_id: carry['handoff_id'] });
    await second.hook('boundary');
    await on.rig.acked(seat, seq);
    silent(await allWays(first));
  });

  it('a takeover after the text was taken: the old session confirms nothing, and the new one gets it', async () => {
    const { seat, board } = await on.rig.seat();
    const first = await on.rig.session(seat);
    const hook = await first.wait();
    const { seq } = await on.rig.say(board, WORDS);
    await took(hook, await hook.next());
    const second = await on.rig.session(seat);
    await first.hook('boundary');
    expect(await on.rig.cursor(seat)).to.be.below(seq);
    expect(on.rig.rows('SELECT * FROM received')).to.deep.equal([]);
    const start = await second.hook('turn_start');
    expect(start['bundle']).to.contain(WORDS);
    await second.hook('boundary');
    await on.rig.acked(seat, seq);
  });

  it('twenty takeovers among posts: nobody is handed anything after the seat is gone, and nothing is lost', async () => {
    const adapter = fakeAdapter(['idle-hook', 'turn-start', 'tool-boundary'], { wakeEcho: false });
    await on.rig.restart({ clock: on.clock, adapter });
    const { seat, board } = await on.rig.seat();
    const sessions = [await on.rig.session(), await on.rig.session(), await on.rig.session()];
    // Those that do not hold the seat wait as well, and would take whatever came.
    const hooks = await Promise.all(sessions.map((session) => session.wait()));
    const had: string[] = [];
    let last = 0;
    for (let n = 0; n < 20; n++) {
      const at = n % 3;
      await sessions[at]!.bind(seat);
      await hooks[at]!.end();
      await sessions[at]!.hook('turn_end');
      hooks[at] = await sessions[at]!.wait();
      const others = () => JSON.stringify(hooks.filter((_, other) => other !== at).map(({ frames }) => frames));
      const before = others();
      last = (await on.rig.say(board, `post ${n}.`)).seq;
      await seen(seat.member_id, last);
      on.clock.pass(1_500);
      const carry = await hooks[at]!.next();
      had.push(String(carry['bundle']));
      expect(others(), `those that did not hold it at ${n}`).to.equal(before);
      if (!had.at(-1)!.includes(`post ${n}.`)) {
        // What was left over came at once; the new one comes after it.
        await took(hooks[at]!, carry);
        had.push(String((await sessions[at]!.hook('boundary'))['bundle']));
        continue;
      }
      if (n % 4 !== 0) await took(hooks[at]!, carry);
      await hooks[at]!.end();
      if (n % 3 === 2) await sessions[at]!.hook('boundary');
      expect(others(), `those that did not hold it at ${n}`).to.equal(before);
      await sessions[at]!.hook('turn_end');
      hooks[at] = await sessions[at]!.wait();
    }
    for (let n = 0; n < 20; n++) expect(had.join(), `post ${n}`).to.contain(`post ${n}.`);
    await sessions[1]!.hook('turn_start');
    await sessions[1]!.hook('boundary');
    await on.rig.acked(seat, last);
  });
});
