/** What servers are told of a program's own queue: claimed once, numbered, renewed while it holds, and never taken back. */
import { expect } from 'chai';
import type { QueueFence } from '../../src/daemon/journal/rows.ts';
import type { PortDeps } from '../../src/daemon/ports.ts';
import { QueueReport } from '../../src/daemon/reports/queue.ts';
import { Reports } from '../../src/daemon/reports/reports.ts';
import type { Connection } from '../../src/daemon/server-link/connection.ts';
import { type QueueLabel, SeatFailure } from '../../src/daemon/server-link/link.ts';
import { Api } from '../support/api.ts';
import { newAgent, newBoard, post } from '../support/cast.ts';
import { TestDaemonClock } from '../support/daemon-clock.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { fakeAdapter } from './support/parts.ts';
import { Rig } from './support/rig.ts';
import { StepClock } from './support/step-clock.ts';

const seat = { origin: 'https://team.example.com', member_id: 'mem_1' };
const one = { message_id: 'msg_1', seq: 1 };
const two = { message_id: 'msg_2', seq: 2 };
const here = { session: 'codex:s1', boot: 'b1' };

/** A server's side of the fence, as far as a reporter can see it. */
class Fence {
  epoch = 0;
  revision = 0;
  label: QueueLabel | null = null;
  readonly told: string[] = [];
  /** The next request is answered like this; `lost` has its effect all the same. */
  fails: ('ok' | 'lost' | 'unreachable' | 'server_outdated')[] = [];

  async queueEpoch() {
    this.#fail('read');
    return { epoch: this.epoch };
  }

  async claimQueue(_seat: unknown, claim: QueueLabel & { expected_epoch: number }) {
    const lost = this.#fail('claim');
    if (claim.expected_epoch !== this.epoch) throw conflict();
    Object.assign(this, { epoch: this.epoch + 1, revision: 0, label: claim });
    if (lost) throw new SeatFailure('server_unreachable', 'lost');
    return { epoch: this.epoch };
  }

  reportQueue: Connection['reportQueue'] = async (_seat, { session, boot, epoch, revision, messages }) => {
    const lost = this.#fail(`${epoch}.${revision} ${messages.map(({ seq }) => seq).join(',')}`);
    const mine = this.label?.session === session && this.label.boot === boot && this.epoch === epoch;
    if (!mine || revision <= this.revision) throw conflict();
    this.revision = revision;
    if (lost) throw new SeatFailure('server_unreachable', 'lost');
  };

  #fail(what: string): boolean {
    this.told.push(what);
    const next = this.fails.shift();
    if (next === 'unreachable') throw new SeatFailure('server_unreachable', 'not reached');
    if (next === 'server_outdated') throw new SeatFailure('server_outdated', 'what is this?');
    return next === 'lost';
  }
}

const conflict = () => new SeatFailure('queue_report_conflict', 'somebody else');

describe('the report of a program’s own queue', () => {
  let clock: TestDaemonClock;
  let fence: Fence;
  let kept: QueueFence | null;
  let failures: string[];
  let report: QueueReport;

  const start = () =>
    new QueueReport({
      seat,
      at: () => fence,
      journal: {
        queueFence: () => kept,
        saveQueueFence: (row) => {
          kept = row;
        },
      },
      clock,
      onError: (error) => void failures.push((error as SeatFailure).code),
    });
  beforeEach(() => {
    clock = new TestDaemonClock();
    fence = new Fence();
    kept = null;
    failures = [];
    report = start();
  });
  afterEach(() => report.stop());
  /** What is told within this time. */
  const within = async (ms: number) => {
    const before = fence.told.length;
    await clock.advance(ms);
    return fence.told.slice(before);
  };

  it('is claimed once, then says what waits with rising numbers, and that nothing does any more', async () => {
    report.set(here, [two, one]);
    expect(await within(499)).to.deep.equal([]);
    expect(await within(1)).to.deep.equal(['read', 'claim', '1.1 1,2']);
    report.set(here, [two]);
    expect(await within(1_000)).to.deep.equal(['1.2 2']);
    report.set(here, []);
    expect(await within(1_000)).to.deep.equal(['1.3 ']);
    expect(await within(300_000)).to.deep.equal([]);
    report.set(here, [one]);
    expect(await within(1_000)).to.deep.equal(['1.4 1']);
    expect(kept).to.include({ epoch: 1, revision: 4, session_key: 'codex:s1', boot: 'b1' });
  });

  it('is repeated every 20 seconds while it holds, well before it would run out after 45', async () => {
    report.set(here, [one]);
    await clock.advance(500);
    expect(await within(19_999)).to.deep.equal([]);
    expect(await within(1)).to.deep.equal(['1.2 1']);
    expect(await within(40_000)).to.deep.equal(['1.3 1', '1.4 1']);
  });

  it('is not made of what is gone before anybody could see it', async () => {
    report.set(here, [one]);
    await clock.advance(400);
    report.set(here, []);
    expect(await within(60_000)).to.deep.equal([]);
    report.clear();
    expect(await within(60_000)).to.deep.equal([]);
  });

  it('goes on after a restart of the daemon with the next number, and without another claim', async () => {
    report.set(here, [one]);
    await clock.advance(500);
    report.stop();
    report = start();
    report.set(here, [one]);
    expect(await within(500)).to.deep.equal(['1.2 1']);
  });

  it('uses no number twice, though an answer is lost', async () => {
    report.set(here, [one]);
    await clock.advance(500);
    fence.fails = ['lost'];
    report.set(here, [one, two]);
    expect(await within(1_000)).to.deep.equal(['1.2 1,2']);
    expect(failures).to.deep.equal(['server_unreachable']);
    expect(await within(20_000)).to.deep.equal(['1.3 1,2']);
    expect(failures).to.have.length(1);
  });

  it('finds its own claim again when the answer to it was lost', async () => {
    fence.fails = ['ok', 'lost'];
    report.set(here, [one]);
    expect(await within(500)).to.deep.equal(['read', 'claim']);
    expect(await within(20_000)).to.deep.equal(['read', '1.1 1']);
    expect(failures).to.deep.equal(['server_unreachable']);
  });

  it('does not take another’s claim for its own when its own never arrived', async () => {
    fence.fails = ['ok', 'unreachable'];
    report.set(here, [one]);
    await clock.advance(500);
    await fence.claimQueue(seat, { session: 'codex:s2', boot: 'b2', expected_epoch: 0 });
    expect(await within(20_000)).to.deep.equal(['read', '1.1 1']);
    expect(failures.at(-1)).to.equal('queue_report_conflict');
    expect(await within(300_000)).to.deep.equal([]);
  });

  it('falls silent where somebody else took over, until another session or life has the seat', async () => {
    report.set(here, [one]);
    await clock.advance(500);
    await fence.claimQueue(seat, { session: 'codex:s2', boot: 'b2', expected_epoch: 1 });
    fence.told.length = 0;
    report.set(here, [one, two]);
    expect(await within(1_000)).to.deep.equal(['1.2 1,2']);
    expect(failures).to.deep.equal(['queue_report_conflict']);
    report.set(here, [two]);
    report.set(here, []);
    report.set(here, [one]);
    expect(await within(600_000)).to.deep.equal([]);
    expect(clock.timers()).to.deep.equal([]);
    report.set({ ...here, boot: 'b3' }, [one]);
    expect(await within(1_000)).to.deep.equal(['read', 'claim', '3.1 1']);
  });

  it('is not tried again on a server that knows no such report', async () => {
    fence.fails = ['server_outdated'];
    report.set(here, [one]);
    expect(await within(600_000)).to.deep.equal(['read']);
  });

  it('names a thousand messages at most, the first ones', async () => {
    const many = Array.from({ length: 1_200 }, (_, n) => ({ message_id: `msg_${n}`, seq: 1_200 - n }));
    report.set(here, many);
    const [, , said] = await within(500);
    expect(said!.split(' ')[1]!.split(',').map(Number)).to.deep.equal(Array.from({ length: 1_000 }, (_, n) => n + 1));
  });
});

describe('what waits in a program’s own queue', () => {
  let server: TestServer;
  let rig: Rig;
  let clock: StepClock;
  let release: (outcome: 'accepted' | 'accepted_confirmed') => void;

  before(async () => {
    server = await startTestServer('sqlite');
  });
  after(() => server.stop());
  beforeEach(async () => {
    clock = new StepClock();
    rig = await new Rig(server).start(options());
  });
  afterEach(() => rig.stop());

  const options = () => ({
    clock,
    adapter: fakeAdapter(['queue', 'turn-start', 'tool-boundary'], {
      hand: () =>
        new Promise<'accepted' | 'accepted_confirmed'>((resolve) => {
          release = resolve;
        }),
    }),
    ports: ({ log, journal }: PortDeps) => ({
      reports: new Reports({ servers: { at: (url) => rig.servers.at(url) }, clock, log, journal }),
    }),
  });

  /** A board with a sender, and a session that holds a seat there. */
  async function cast() {
    const place = await newBoard(server.dana);
    const { seat: held } = await rig.seat(place);
    const sender = await newAgent(server.dana, place.name, { name: 'sender' });
    const session = await rig.session(held);
    const say = (body: string, more = {}) => post(sender, place.name, body, { to: [`@${held.name}`], ...more });
    const receipt = async (seq: number, reader: Api = sender) => {
      const { recipients } = await reader.ok('listReceipts', { params: { board: place.name, seq } });
      return recipients.find(({ member }) => member.id === held.member_id)!;
    };
    return { held, session, say, receipt, sender, board: place.name };
  }
  const handed = () => until(() => rig.states().includes('handed'), 'it was given to the queue');

  it('is shown to the sender while it is there, and not a moment longer', async () => {
    const { session, say, receipt } = await cast();
    const { seq } = await say('into the queue');
    await handed();
    expect(await receipt(seq))
      .to.include({ state: 'pending' })
      .and.not.have.property('queued');
    clock.pass(500);
    await until(async () => 'queued' in (await receipt(seq)), 'the sender sees it');
    const { queued } = await receipt(seq);
    expect(queued!.boundary).to.equal('turn_end');
    expect(await receipt(seq, server.dana)).to.not.have.property('queued');
    // Renewed, it lasts; the server's own time moves on with it.
    server.clock.advance(40_000);
    clock.pass(20_000);
    await until(async () => (await receipt(seq)).queued!.expires_at > queued!.expires_at, 'it is renewed');
    release('accepted_confirmed');
    await until(async () => (await receipt(seq)).state === 'received', 'it is acknowledged');
    expect(await receipt(seq)).to.not.have.property('queued');
    await session.ask('end');
  });

  it('stays there while its session is in another turn and an earlier message keeps it from being acknowledged', async () => {
    const { held, session, say, receipt, sender } = await cast();
    const { origin, board, name, member_id } = held;
    const asked = await post(
      new Api(server.url, rig.machine.credentials.token(origin, member_id)!),
      board,
      'a question',
    );
    // Somebody waits for exactly this answer, so it is not handed, and what follows it cannot be acknowledged.
    await rig.open('hold', { agent: { server: origin, board, name, member_id }, reply_to: asked.id });
    const answer = await post(sender, board, 'the answer', { reply_to: asked.id });
    const { seq } = await say('behind it');
    await handed();
    release('accepted_confirmed');
    await until(() => rig.states().includes('confirmed'), 'the program has it');
    await session.hook('turn_start', { turn_id: 1 });
    clock.pass(1_000);
    await until(async () => 'queued' in (await receipt(seq)), 'the sender sees it');
    expect(await receipt(answer.seq)).to.not.have.property('queued');
    const { queued } = await session.ask('queued');
    expect((queued as { seq: number }[]).map((one) => one.seq)).to.deep.equal([seq]);
    // Its prompt begins the next turn: it is in the session now.
    const [{ id }] = rig.rows<{ id: string }>("SELECT id FROM handoffs WHERE path = 'queue'") as [{ id: string }];
    await session.hook('turn_end', { turn_id: 1 });
    await session.hook('turn_start', { wake: true, handoff_id: id });
    clock.pass(1_000);
    await until(async () => !('queued' in (await receipt(seq))), 'it has left the queue');
    expect((await session.ask('queued'))['queued'] ?? []).to.deep.equal([]);
    expect((await receipt(seq)).state).to.equal('pending');
  });

  it('is said of the next session that has the seat, under a claim of its own', async () => {
    const { held, session, say, receipt } = await cast();
    const { seq } = await say('first');
    await handed();
    clock.pass(500);
    await until(async () => 'queued' in (await receipt(seq)), 'the sender sees it');
    const other = await rig.session(held);
    clock.pass(1_000);
    await until(async () => {
      const [row] = rig.rows<{ session_key: string; epoch: number }>('SELECT session_key, epoch FROM queue_fence');
      return row?.session_key === other.key && row.epoch === 2;
    }, 'the other one reports');
    await until(async () => 'queued' in (await receipt(seq)), 'the sender sees it again');
    await session.ask('end');
    await other.ask('end');
    clock.pass(1_000);
    await until(async () => !('queued' in (await receipt(seq))), 'nobody keeps it any more');
  });

  it('is reported on by a daemon that starts again, and taken back where the session is gone', async () => {
    const { session, say, receipt } = await cast();
    const { seq } = await say('over a restart');
    await handed();
    clock.pass(500);
    await until(async () => 'queued' in (await receipt(seq)), 'the sender sees it');
    const revision = () => rig.rows<{ revision: number }>('SELECT revision FROM queue_fence')[0]!.revision;
    const before = revision();
    const restarted = rig.restart(options());
    // It gives the program's command a little time, which passes.
    clock.pass(6_000);
    await restarted;
    // What was given and not accepted is given once more.
    await handed();
    clock.pass(1_000);
    await until(() => revision() > before, 'it goes on');
    expect(rig.rows<{ epoch: number }>('SELECT epoch FROM queue_fence')).to.deep.equal([{ epoch: 1 }]);
    await session.ask('end');
    clock.pass(1_000);
    await until(async () => !('queued' in (await receipt(seq))), 'it is taken back');
  });
});
