/** Presence, places and lines: what is told of a seat, how often, and what is made good. */
import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import type { AgentLine, AgentWork, DeliveryMode } from '../../src/contract/types.ts';
import type { SeatIdentity, SessionView } from '../../src/daemon/refs.ts';
import { type ReportedTo, Reports } from '../../src/daemon/reports/reports.ts';
import { SeatFailure, type ServerEvents } from '../../src/daemon/server-link/link.ts';
import { TestDaemonClock } from '../support/daemon-clock.ts';
import { anInbox, someWork } from '../support/messages.ts';

const ORIGIN = 'https://team.example.com';
const seatOf = (n: number): SeatIdentity => ({
  origin: ORIGIN,
  member_id: `mem_${n}`,
  board_id: `brd_${n}`,
  board: `board-${n}`,
  name: 'claude',
});
const seat = seatOf(1);
const aLine = (more: Partial<AgentLine> = {}): AgentLine => ({
  ...{
    kind: 'working',
    text: 'T',
    until: null,
    task: null,
    set_by: 'claude',
    source: 'task',
    at: '2026-03-02T09:00:00.000Z',
  },
  ...more,
});

describe('reports of a seat', () => {
  let clock: TestDaemonClock;
  let told: string[];
  let logged: string[];
  let failing: SeatFailure | null;
  /** The line that the server has. */
  let standing: AgentLine | null;
  let lookUp: () => Promise<AgentLine | null>;
  let reports: Reports;
  let servers: ServerEvents;

  beforeEach(() => {
    clock = new TestDaemonClock();
    told = [];
    logged = [];
    failing = null;
    standing = null;
    lookUp = async () => standing;
    const say = async (text: string): Promise<void> => {
      told.push(text);
      if (failing) throw failing;
    };
    const queue = () => expect.fail('no queue is reported here');
    const origin: ReportedTo = {
      presence: (ref, presence, mode, waiting) =>
        say([ref.member_id, presence, mode, waiting?.question].filter(Boolean).join(' ')),
      location: (ref, at) => say(`${ref.member_id} at ${at.folder}`),
      line: async (ref, text) => {
        await say(`${ref.member_id} line ${text}`);
        standing = aLine({ text, source: 'plan', at: new Date(clock.now()).toISOString() });
        return standing;
      },
      standingLine: () => lookUp(),
      queueEpoch: queue,
      claimQueue: queue,
      reportQueue: queue,
    };
    servers = new EventEmitter();
    reports = new Reports({
      servers: { at: () => origin },
      clock,
      log: { write: (event, fields) => void logged.push(`${event} ${JSON.stringify(fields)}`) },
      journal: { queueFence: () => null, saveQueueFence: () => {} },
    });
    reports.listen(servers);
  });
  afterEach(() => reports.close());

  const view = (more: Partial<SessionView> = {}): SessionView => ({
    key: 'fake:s1',
    harness: 'fake',
    session: 's1',
    boot: '1',
    open: true,
    turn: 'idle',
    turned: true,
    needsPerson: null,
    seats: [seat],
    ...more,
  });
  const works = (of: SeatIdentity, work: AgentWork) =>
    servers.emit('inbox', of, { inbox: anInbox([], { work }), completeUpTo: null, sentUs: 0, atUs: 0 });
  const since = async (work: () => void, ms = 0): Promise<string[]> => {
    const before = told.length;
    work();
    await clock.advance(ms);
    return told.slice(before);
  };

  it('say at once that it works, waits for its person or is gone, and a little later that it is idle', async () => {
    expect(await since(() => reports.session(view()), 499)).to.deep.equal([]);
    expect(await since(() => {}, 1)).to.deep.equal(['mem_1 idle']);
    await clock.advance(2_000);
    expect(await since(() => reports.session(view({ turn: 'busy' })))).to.deep.equal(['mem_1 working']);
    await clock.advance(2_000);
    for (const question of ['Bash: make', 'Bash: make test']) {
      const asking = view({ turn: 'busy', needsPerson: { for: 'permission', question } });
      expect(await since(() => reports.session(asking))).to.deep.equal([`mem_1 waiting ${question}`]);
      await clock.advance(2_000);
      expect(await since(() => reports.session(asking))).to.deep.equal([]);
    }
    expect(await since(() => reports.session(view({ open: false })))).to.deep.equal(['mem_1 no_session']);
  });

  it('do not flicker where a turn goes on at once', async () => {
    reports.session(view({ turn: 'busy' }));
    await clock.advance(2_000);
    const said = await since(() => {
      reports.session(view({ turn: 'idle' }));
      reports.session(view({ turn: 'busy' }));
    }, 2_000);
    expect(said).to.deep.equal([]);
  });

  it('are renewed every minute while they hold, and not for a session that is gone', async () => {
    const busy = () => reports.session(view({ turn: 'busy' }));
    expect(await since(busy, 180_000)).to.deep.equal(Array(4).fill('mem_1 working'));
    reports.session(view({ open: false }));
    await clock.advance(1_000);
    expect(await since(() => {}, 600_000)).to.deep.equal([]);
    expect(clock.timers()).to.deep.equal([]);
  });

  it('are no more than one a second, the newest', async () => {
    const said = await since(() => {
      for (let n = 0; n < 50; n++)
        reports.session(view({ turn: 'busy', needsPerson: n % 2 === 0 ? { for: 'question' } : null }));
    }, 3_000);
    expect(said).to.deep.equal(['mem_1 waiting', 'mem_1 working']);
  });

  it('carry the mode that is applied, and follow it when it changes', async () => {
    const working = (mode?: DeliveryMode) => reports.session(view({ turn: 'busy', seats: [{ ...seat, mode }] }));
    expect(await since(() => working('all'), 2_000)).to.deep.equal(['mem_1 working all']);
    expect(await since(() => working('off'), 2_000)).to.deep.equal(['mem_1 working off']);
  });

  it('that are lost are made good with the next one', async () => {
    failing = new SeatFailure('server_unreachable', 'x');
    reports.session(view({ turn: 'busy' }));
    await clock.advance(0);
    failing = null;
    expect(await since(() => {}, 60_000)).to.deep.equal(['mem_1 working']);
    expect(logged).to.deep.equal(['presence_failed {"seats":["mem_1"],"what":"presence","code":"server_unreachable"}']);
  });

  it('of a place and a plan that are lost are repeated until they arrive', async () => {
    failing = new SeatFailure('server_unreachable', 'x', undefined, true);
    reports.session(view({ turn: 'busy', cwd: '/one' }));
    reports.plan(view(), { text: 'Read the code' });
    await clock.advance(1_000);
    failing = null;
    const said = await since(() => {}, 600_000);
    expect(said.filter((each) => / at | line /.test(each))).to.have.members([
      'mem_1 at /one',
      'mem_1 line Read the code',
    ]);
  });

  for (const [how, end] of [
    ['its session ends', () => reports.session(view({ open: false }))],
    ['its session gives the seat up', () => reports.released(seat)],
  ] as const) {
    it(`show no plan after ${how}, whether it waits or is repeated`, async () => {
      const plans = ['Read the code', 'Write a test'];
      reports.session(view({ turn: 'busy' }));
      for (const text of plans) reports.plan(view(), { text });
      await clock.advance(2_000);
      expect(await since(end, 600_000)).to.deep.equal(['mem_1 no_session']);
      reports.session(view({ turn: 'busy' }));
      failing = new SeatFailure('server_unreachable', 'x', undefined, true);
      for (const text of plans.slice(1)) reports.plan(view(), { text });
      await clock.advance(2_000);
      expect(await since(end, 600_000)).to.deep.equal(['mem_1 no_session']);
      expect(clock.timers()).to.deep.equal([]);
    });
  }

  describe('make a line of a plan once more', () => {
    const lines = (): number => told.filter((each) => each.includes(' line ')).length;
    const plan = async (): Promise<number> => {
      reports.plan(view(), { text: 'Read the code' });
      await clock.advance(10_000);
      return lines();
    };
    beforeEach(async () => {
      reports.session(view({ turn: 'busy' }));
      expect([await plan(), await plan()]).to.deep.equal([1, 1]);
    });

    it('where the presence was lost meanwhile, and with it the line', async () => {
      failing = new SeatFailure('server_unreachable', 'x', undefined, true);
      await clock.advance(240_000);
      failing = null;
      await clock.advance(60_000);
      expect([lines(), await plan(), await plan()]).to.deep.equal([1, 2, 2]);
    });

    it('where its session ended and goes on', async () => {
      reports.session(view({ open: false }));
      await clock.advance(10_000);
      reports.session(view({ turn: 'busy' }));
      expect([await plan(), await plan()]).to.deep.equal([2, 2]);
      reports.released(seat);
      await clock.advance(10_000);
      reports.session(view({ turn: 'busy' }));
      expect([await plan(), await plan()]).to.deep.equal([3, 3]);
    });

    it('where the machine slept for as long as a line lasts', async () => {
      clock.sleep(180_000);
      await clock.advance(60_000);
      expect([lines(), await plan(), await plan()]).to.deep.equal([1, 2, 2]);
    });
  });

  it('of a place and a plan that the server does not take are not repeated', async () => {
    failing = new SeatFailure('server_outdated', 'x');
    reports.session(view({ cwd: '/one' }));
    reports.plan(view(), { text: 'Read the code' });
    await clock.advance(1_000);
    const said = await since(() => {}, 600_000);
    expect(said.filter((each) => / at | line /.test(each))).to.deep.equal([]);
  });

  it('stop for a seat that is over', async () => {
    failing = new SeatFailure('agent_removed', 'x', 'agent_removed');
    const reported = await since(() => reports.session(view({ turn: 'busy', cwd: '/one' })), 600_000);
    expect(reported).to.deep.equal(['mem_1 working', 'mem_1 at /one']);
  });

  it('say that nobody is there any more when a seat is given up, and who is there when another session takes it', async () => {
    reports.session(view({ turn: 'busy' }));
    await clock.advance(2_000);
    expect(await since(() => reports.released(seat))).to.deep.equal(['mem_1 no_session']);
    await clock.advance(2_000);
    expect(await since(() => reports.session(view({ key: 'fake:s2', turn: 'busy' })))).to.deep.equal(['mem_1 working']);
  });

  it('tell the place at the start, after a change and in a new life, no more than once a minute', async () => {
    const at = (cwd: string, boot = '1') => reports.session(view({ turn: 'busy', cwd, boot }));
    const places = () => told.filter((each) => each.includes(' at '));
    at('/one');
    await clock.advance(10_000);
    at('/one');
    at('/two');
    at('/three');
    await clock.advance(49_000);
    expect(places()).to.deep.equal(['mem_1 at /one']);
    await clock.advance(1_000);
    expect(places()).to.deep.equal(['mem_1 at /one', 'mem_1 at /three']);
    at('/three', '2');
    await clock.advance(60_000);
    expect(places()).to.have.length(3);
    reports.session(view({ open: false, cwd: '/four' }));
    reports.session(view({ cwd: 'x'.repeat(4_097) }));
    await clock.advance(60_000);
    expect(places()).to.have.length(3);
  });

  it('tell the place again when the seat has a new token, because another machine had it', async () => {
    const places = () => told.filter((each) => each.includes(' at '));
    reports.session(view({ turn: 'busy', cwd: '/one' }));
    await clock.advance(90_000);
    servers.emit('token', seat);
    await clock.advance(0);
    expect(places()).to.deep.equal(['mem_1 at /one', 'mem_1 at /one']);
    reports.session(view({ open: false }));
    servers.emit('token', seat);
    await clock.advance(90_000);
    expect(places()).to.have.length(2);
  });

  it('make a line of a plan, when it changed and every ten seconds at most', async () => {
    const plan = (text: string, seats = [seat]) => reports.plan(view({ seats }), { text });
    const lines = () => told.filter((each) => each.includes(' line '));
    plan('Read the code');
    plan('Read the code');
    plan('Write a\ttest\n');
    plan('');
    await clock.advance(9_999);
    expect(lines()).to.deep.equal(['mem_1 line Read the code']);
    await clock.advance(1);
    expect(lines()).to.deep.equal(['mem_1 line Read the code', 'mem_1 line Write a test']);
    plan('ü'.repeat(200));
    await clock.advance(10_000);
    expect(lines().at(-1)).to.equal(`mem_1 line ${'ü'.repeat(120)}`);
    plan(`${'ü'.repeat(118)}👩\u200d🔧`);
    await clock.advance(10_000);
    expect(lines().at(-1)).to.equal(`mem_1 line ${'ü'.repeat(118)}👩`);
    plan('\u200b \u200bRun the\u202e tests\u200b');
    await clock.advance(10_000);
    expect(lines().at(-1)).to.equal('mem_1 line Run the tests');
  });

  describe('with a plan that had to wait', () => {
    const lines = () => told.filter((each) => each.includes(' line '));
    const plan = (text: string) => reports.plan(view(), { text });
    beforeEach(async () => {
      works(seat, someWork());
      reports.session(view({ turn: 'busy' }));
      plan('Read the code');
      await clock.advance(2_000);
    });

    for (const [what, said] of [
      ['a pause', aLine({ kind: 'paused', source: 'command' })],
      ['a task', aLine()],
      ['the end of the line', null],
    ] as const) {
      it(`leave ${what} that the agent said later, and show the plan when it is told again`, async () => {
        plan('Write a test');
        standing = said;
        await clock.advance(600_000);
        expect(lines()).to.deep.equal(['mem_1 line Read the code']);
        plan('Write a test');
        await clock.advance(0);
        expect(lines()).to.deep.equal(['mem_1 line Read the code', 'mem_1 line Write a test']);
      });
    }

    it('show it after a line that was set before, which no read of the inbox told of', async () => {
      for (const [n, text] of ['Write a test', 'Run it'].entries()) {
        standing = aLine({ kind: 'paused', source: 'command', at: `2026-03-02T08:0${n}:00.000Z` });
        plan(text);
        await clock.advance(10_000);
        expect(lines().at(-1)).to.equal(`mem_1 line ${text}`);
      }
    });

    it('show it where it is told again after the line that was set meanwhile', async () => {
      plan('Write a test');
      standing = aLine({ kind: 'paused', source: 'command' });
      await clock.advance(5_000);
      plan('Write a test');
      await clock.advance(3_000);
      expect(lines()).to.deep.equal(['mem_1 line Read the code', 'mem_1 line Write a test']);
    });

    it('show it where nothing was said since', async () => {
      standing = aLine();
      works(seat, someWork({ line: standing }));
      plan('Write a test');
      await clock.advance(10_000);
      expect(lines()).to.deep.equal(['mem_1 line Read the code', 'mem_1 line Write a test']);
      failing = new SeatFailure('server_unreachable', 'x', undefined, true);
      plan('Run it');
      await clock.advance(20_000);
      failing = null;
      await clock.advance(20_000);
      expect(new Set(lines().splice(2))).to.deep.equal(new Set(['mem_1 line Run it']));
    });

    it('show it where the server cleared the line in an outage', async () => {
      failing = new SeatFailure('server_unreachable', 'x', undefined, true);
      lookUp = () => Promise.reject(failing);
      plan('Write a test');
      await clock.advance(200_000);
      expect(lines()).to.deep.equal(['mem_1 line Read the code']);
      standing = null;
      lookUp = async () => standing;
      failing = null;
      await clock.advance(20_000);
      expect(lines()).to.deep.equal(['mem_1 line Read the code', 'mem_1 line Write a test']);
    });

    it('do not write it where the session ends while the line is looked up', async () => {
      plan('Write a test');
      const looked = Promise.withResolvers<AgentLine | null>();
      lookUp = () => looked.promise;
      await clock.advance(10_000);
      reports.session(view({ open: false }));
      looked.resolve(standing);
      await clock.advance(600_000);
      expect(lines()).to.deep.equal(['mem_1 line Read the code']);
    });
  });

  it('give a plan to the seat that started a task last, and to none where none did', async () => {
    const seats = [seatOf(1), seatOf(2), seatOf(3)];
    const plan = (text: string) => since(() => reports.plan(view({ seats }), { text }), 0);
    expect(await plan('Nobody')).to.deep.equal([]);
    const current_task = { id: 'tsk_1', ref: 'PAY-1', title: 'T', owner: true, stands: null };
    works(seats[0]!, someWork({ current_task, line: aLine({ at: '2026-03-02T09:00:00.000Z' }) }));
    works(seats[1]!, someWork({ current_task, line: aLine({ at: '2026-03-02T10:00:00.000Z' }) }));
    works(seats[2]!, someWork({ line: aLine({ at: '2026-03-02T11:00:00.000Z' }) }));
    expect(await plan('Second')).to.deep.equal(['mem_2 line Second']);
  });
});
