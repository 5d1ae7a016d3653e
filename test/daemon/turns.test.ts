/** What enters a running turn, what its start and its end take along. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { newAgent, newBoard, post } from '../support/cast.ts';
import type { TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { fakeAdapter } from './support/parts.ts';
import { type Rig, took } from './support/rig.ts';
import { withRig } from './support/rigged.ts';
import type { StepClock } from './support/step-clock.ts';

describe('a turn', () => {
  let server: TestServer;
  let rig: Rig;
  let clock: StepClock;
  withRig((made) => {
    ({ server, rig, clock } = made);
  });

  const seen = (member_id: string, seq: number) => rig.seen({ member_id }, seq);

  it('begins with everything that waits in focused mode', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const other = await newAgent(server.dana, board);
    const { seq } = await post(other, board, 'to everybody');
    const start = await session.hook('turn_start');
    expect(start['bundle']).to.contain('to everybody');
    expect(start['turn_id']).to.equal(1);
    await session.hook('boundary');
    await rig.acked(seat, seq);
  });

  it('takes the owner at its next tool call, in full, and others as a notice without their words, once', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const other = await newAgent(server.dana, board);
    await session.hook('turn_start');
    await post(other, board, 'secret words of a peer', { to: [`@${seat.name}`] });
    const { seq } = await rig.say(board, 'stop that');
    await seen(seat.member_id, seq);
    const first = await session.hook('boundary');
    expect(first['bundle']).to.contain('stop that').and.not.contain('secret words');
    expect(first['notice']).to.contain(other.name).and.not.contain('secret words');
    const second = await session.hook('boundary');
    expect(second).to.deep.equal({ v: 1 });
    await session.hook('turn_end');
    const hook = await session.wait();
    clock.pass(1_000);
    const { bundle } = await hook.next();
    expect(bundle).to.contain('secret words').and.not.contain('stop that');
  });

  it('takes the owner also while git does not say which repository the edited files are in', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'board-slow-git-'));
    const [begun, ended] = [join(folder, 'begun'), join(folder, 'ended')];
    mkdirSync(join(folder, '.git'));
    const script = `#!/bin/sh\ntrap 'touch ${ended}; exit 1' TERM\ntouch ${begun}\nwhile :; do sleep 0.05; done\n`;
    writeFileSync(join(folder, 'git'), script, { mode: 0o755 });
    const { PATH } = process.env;
    process.env.PATH = `${folder}:${PATH}`;
    try {
      const { seat, board } = await rig.seat();
      const session = await rig.session(seat);
      await session.hook('turn_start');
      const { seq } = await rig.say(board, 'stop that');
      await seen(seat.member_id, seq);
      const carry = session.hook('boundary', { claims: true, files: ['a.ts'], cwd: folder });
      await until(() => existsSync(begun), 'git is asked');
      clock.pass(500);
      expect((await carry)['bundle']).to.contain('stop that');
      expect(existsSync(ended), 'git was waited for').to.equal(false);
      await until(() => existsSync(ended), 'git is given up');
    } finally {
      process.env.PATH = PATH;
      rmSync(folder, { recursive: true });
    }
  });

  it('is told of a file that another agent is on without asking the server for messages first', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'board-claimed-'));
    const passed: string[] = [];
    await rig.restart({ clock, faults: { at: (point) => void passed.push(point) } });
    try {
      execFileSync('git', ['init', '--quiet', folder]);
      execFileSync('git', ['-C', folder, 'remote', 'add', 'origin', 'https://example.com/api.git']);
      const { seat, board } = await rig.seat();
      const other = await newAgent(server.dana, board);
      const files = { paths: ['a.ts'], repo: 'example.com/api' };
      await other.ok('setMyLine', { body: { kind: 'working', text: 'Timeouts', ...files } });
      const session = await rig.session(seat);
      await session.hook('turn_start');
      const edit = () => session.hook('boundary', { claims: true, files: ['a.ts'], cwd: folder });
      passed.length = 0;
      expect((await edit())['nudge'])
        .to.contain('a.ts is in ')
        .and.contain('"Timeouts"');
      expect(passed).to.not.include('hand.ready');
      expect(await edit()).to.deep.equal({ v: 1 });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('two hooks of one boundary at once: one gets the text, the other an empty answer', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await session.hook('turn_start');
    const { seq } = await rig.say(board, 'stop that');
    await seen(seat.member_id, seq);
    const both = await Promise.all([session.hook('boundary'), session.hook('boundary')]);
    expect(both.filter((carry) => carry['bundle'] !== undefined)).to.have.length(1);
    expect(both.filter((carry) => Object.keys(carry).length === 1)).to.have.length(1);
  });

  it('is not confirmed by a tool call that began before the text was there', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const { seq } = await rig.say(board, 'hello');
    const started = clock.nowUs();
    await session.hook('turn_start');
    await session.hook('boundary', { started });
    expect(rig.states()).to.deep.equal(['handed']);
    await session.hook('boundary');
    await rig.acked(seat, seq);
  });

  it('that a stop hook continues takes a bundle along, twenty times in a row', async () => {
    const adapter = fakeAdapter(['queue', 'turn-end-hook', 'turn-start', 'tool-boundary']);
    await rig.restart({ clock, adapter });
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await session.hook('turn_start');
    let last = 0;
    for (let n = 1; n <= 21; n++) {
      last = (await rig.say(board, `number ${n}`)).seq;
      await seen(seat.member_id, last);
      // The harness calls all of it one turn, and an agent may be done with a bundle within the second.
      const end = await session.hook('turn_end', { stop_active: n > 1, harness_turn: 'one' });
      clock.pass(20);
      if (n <= 20) expect(end['bundle']).to.contain(`number ${n}`);
      else expect(end).to.deep.equal({ v: 1 });
      expect((await session.ask('agents'))['turn']).to.equal(n <= 20 ? 'busy' : 'idle');
    }
    expect(adapter.given).to.deep.equal([]);
    clock.pass(29_000);
    expect(adapter.given).to.deep.equal([]);
    clock.pass(2_000);
    await rig.acked(seat, last);
    expect(adapter.given).to.have.length(1);
  });

  it('is over where the stop hook ends before it took the bundle, which then comes another way', async () => {
    const adapter = fakeAdapter(['queue', 'turn-end-hook', 'turn-start', 'tool-boundary']);
    await rig.restart({ clock, adapter });
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await session.hook('turn_start');
    const { seq } = await rig.say(board, 'hello');
    await seen(seat.member_id, seq);
    const hook = await session.open('turn_end', { started: clock.nowUs() });
    expect((await hook.next())['bundle']).to.contain('hello');
    await hook.end();
    await rig.acked(seat, seq);
    expect(adapter.given).to.have.length(1);
    expect((await session.ask('agents'))['turn']).to.equal('idle');
  });

  it('that its person enters as the one before it ends is another one, also where the harness calls both the same', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const one = { harness_turn: 'one' };
    const turn = async () => (await session.ask('agents'))['turn'];
    await session.hook('turn_start', one);
    await session.hook('turn_end', one);
    await seen(seat.member_id, (await rig.say(board, 'said in between')).seq);
    // All of it within a second.
    const start = await session.hook('turn_start', one);
    expect(start['bundle']).to.contain('said in between');
    expect(await turn()).to.equal('busy');
    await session.hook('boundary', one);
    await seen(seat.member_id, (await rig.say(board, 'said at work')).seq);
    expect((await session.hook('turn_start', one))['bundle']).to.contain('said at work');
    await session.hook('turn_end', one);
    expect(await turn()).to.equal('idle');
  });

  it('is not over for a stop hook of another turn, or of one that went on', async () => {
    const session = await rig.session();
    const early = clock.nowUs();
    const { turn_id } = await session.hook('turn_start');
    await session.hook('turn_end', { turn_id: Number(turn_id) + 1 });
    expect((await session.ask('agents'))['turn']).to.equal('busy');
    await session.hook('turn_end', { started: early });
    expect((await session.ask('agents'))['turn']).to.equal('busy');
    await session.hook('turn_end', { turn_id });
    expect((await session.ask('agents'))['turn']).to.equal('idle');
  });

  it('lets at most three urgent messages of the person’s other agents in', async () => {
    const adapter = fakeAdapter(['idle-hook', 'turn-start', 'tool-boundary', 'midturn-peer']);
    await rig.restart({ clock, adapter });
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const other = await newAgent(server.dana, board);
    await session.hook('turn_start');
    const urgent = (n: number) => post(other, board, `urgent ${n}`, { to: [`@${seat.name}`], urgent: true });
    for (let n = 1; n <= 4; n++) {
      const { seq } = await urgent(n);
      await seen(seat.member_id, seq);
      const carry = await session.hook('boundary', { capabilities: ['midturn-peer'] });
      if (n <= 3) expect(carry, `urgent ${n}`).to.include({ class: 'midturn_peer' });
      else expect(carry).to.not.have.property('bundle');
      await session.hook('boundary');
    }
    // Counted on the disk: a new daemon counts on.
    await rig.restart({ clock, adapter });
    const { seq } = await urgent(5);
    await seen(seat.member_id, seq);
    expect(await session.hook('boundary', { capabilities: ['midturn-peer'] })).to.not.have.property('bundle');
    await session.hook('turn_end');
    const next = await session.hook('turn_start');
    expect(next['bundle']).to.contain('urgent 4').and.contain('urgent 5');
  });

  it('tells that a session waits for its person until something happens', async () => {
    const { seat } = await rig.seat();
    const session = await rig.session(seat);
    await session.hook('turn_start');
    const asked = (): unknown => rig.reports.views.at(-1)?.needsPerson;
    await session.ask('needs_person', { what: 'permission' });
    expect(asked()).to.deep.equal({ for: 'permission' });
    await session.ask('needs_person', { what: 'permission', question: 'Bash: make', where: 'tmux work:0.1' });
    // A notification that comes later tells less.
    await session.ask('needs_person', { what: 'permission' });
    expect(asked()).to.deep.equal({ for: 'permission', question: 'Bash: make', where: 'tmux work:0.1' });
    await session.ask('needs_person', { what: 'question', question: 'Which one?' });
    expect(asked()).to.deep.equal({ for: 'question', question: 'Which one?' });
    await session.hook('boundary');
    expect(rig.reports.views.at(-1)).to.include({ needsPerson: null, turn: 'busy' });
    await session.ask('plan', { plan: { text: 'writing tests', done: 1, total: 3 } });
    expect(rig.reports.plans).to.deep.equal(['writing tests']);
  });

  it('reports a session as at work from the wake that it took, idle again where none came', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await session.hook('turn_start');
    const hook = await session.wait();
    await rig.say(board, 'hello');
    await took(hook, await hook.next());
    expect(rig.reports.views.at(-1)).to.include({ turn: 'busy' });
    clock.pass(10_000);
    expect(rig.reports.views.at(-1)).to.include({ turn: 'idle' });
  });

  it('gives a giant message by its beginning at a tool call, and whole after that', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await session.hook('turn_start');
    const { seq } = await rig.say(board, 'ä'.repeat(10_000));
    await seen(seat.member_id, seq);
    const cut = await session.hook('boundary');
    expect(cut['bundle']).to.contain('truncated="true"');
    expect(await session.hook('boundary')).to.deep.equal({ v: 1 });
    expect(await rig.cursor(seat)).to.be.below(seq);
    await session.hook('turn_end');
    const hook = await session.wait();
    clock.pass(1_000);
    const whole = await hook.next();
    expect(whole['bundle']).to.contain('ä'.repeat(10_000)).and.not.contain('truncated');
    await took(hook, whole);
    await session.hook('turn_start', { wake: true, handoff_id: whole['handoff_id'] });
    await session.hook('boundary');
    await rig.acked(seat, seq);
    // All of it was given, so there is nothing left to read.
    expect((await rig.ask('status', {}))['truncated'] ?? []).to.deep.equal([]);
  });

  it('tells of a giant message that a turn’s start could only name', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await session.hook('turn_start');
    const { seq } = await rig.say(board, 'ä'.repeat(30_000));
    const { seq: short } = await rig.say(board, 'short');
    await seen(seat.member_id, short);
    const started = await session.hook('turn_start');
    expect(started['bundle']).to.contain(`#${seq} @`).and.contain('short').and.not.contain('ä'.repeat(100));
    await session.hook('boundary');
    await rig.acked(seat, short);
    const { truncated } = (await rig.ask('status', {})) as { truncated: { seq: number }[] };
    expect(truncated.map((one) => one.seq)).to.deep.equal([seq]);
  });

  it('of a session with two seats names both, and each is acknowledged with its own token', async () => {
    const one = await rig.seat();
    const two = await rig.seat(await newBoard(server.dana));
    const session = await rig.session(one.seat);
    await session.bind(two.seat);
    const a = await rig.say(one.board, 'on the first');
    const b = await rig.say(two.board, 'on the second');
    const start = await session.hook('turn_start');
    expect(start['bundle']).to.contain('on the first').and.contain('on the second');
    await session.hook('boundary');
    await rig.acked(one.seat, a.seq);
    await rig.acked(two.seat, b.seq);
  });
});
