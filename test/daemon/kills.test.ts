/**
 * `kill -9` at every step of handing and acknowledging, on every way to a session: no message is lost, none is
 * acknowledged before its session had it, only what was on its way comes twice, and the journal is whole afterwards.
 * `DAEMON_KILLS` is how often each step is tried; the ways take turns. `DAEMON_LANES` is how many are tried side by side.
 */
import { expect } from 'chai';
import { type FaultPoint, faultPoints } from '../../src/daemon/faults.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { type Way, ways } from './support/harness.ts';
import { inLanes, Played } from './support/played.ts';

const times = Number(process.env['DAEMON_KILLS'] ?? 1);
const lanes = Number(process.env['DAEMON_LANES'] ?? 4);

/** What a daemon that is killed between two steps has done, in the words of the table of failures. */
const rows: Record<FaultPoint, string> = {
  'hand.ready': 'before the hook took the text',
  'hand.read': 'before the hook took the text',
  'hand.chosen': 'before the hook took the text',
  'hand.checked': 'before the hook took the text',
  'hand.prepare': 'before the hook took the text',
  'hand.prepared': 'before the hook took the text',
  'hand.exposed': 'before the hook took the text',
  'hand.handed': 'after `handed`, before `received`',
  'accept.received': 'after `handed`, before `received`',
  'accept.recorded': 'after `received`, before confirmation',
  'confirm.evidence': 'after `received`, before confirmation',
  'confirm.recorded': 'after confirmation, before ack',
  'ack.chosen': 'after confirmation, before ack',
  'ack.answered': 'after ack, before journal write',
  'ack.recorded': 'after ack, before journal write',
};

describe('a daemon that is killed', () => {
  let server: TestServer;
  const running = new Set<Played>();

  before(async () => {
    server = await startTestServer('sqlite');
  });
  after(() => server.stop());
  afterEach(async () => {
    // Those that failed.
    for (const played of running) await played.end();
    running.clear();
  });

  for (const [at, point] of faultPoints.entries()) {
    it(`with kill -9 ${rows[point]} (${point}) loses nothing and acknowledges nothing too early`, async function () {
      this.timeout(120_000 + 10_000 * times);
      // Each way in its turn, at the first, the second and the third time that the point is passed.
      const turns = ways.map((way, n) => {
        const rank = (n - 2 * at + 6 * ways.length) % ways.length;
        return { way, rounds: Math.floor(times / ways.length) + (rank < times % ways.length ? 1 : 0) };
      });
      const tried = turns.filter(({ rounds }) => rounds > 0);
      await inLanes(tried, lanes, ({ way, rounds }) => killedAt(point, way, rounds));
    });
  }

  it('but cannot do what is due at a step, at each in turn, tries again and loses nothing', async function () {
    this.timeout(120_000 + 20_000 * faultPoints.length);
    const played = await Played.begin(server);
    running.add(played);
    for (const point of faultPoints) {
      await played.daemon.breaks(played.machine, `${point}:error`);
      await played.say();
      await played.settled();
      played.whole();
      expect(played.harness.times(played.posted.at(-1)!.text), point).to.be.within(1, 2);
    }
    await endSound(played);
  });

  async function endSound(played: Played): Promise<void> {
    await played.endSound();
    running.delete(played);
  }

  async function killedAt(point: FaultPoint, way: Way, rounds: number): Promise<void> {
    const played = await Played.begin(server, { way });
    running.add(played);
    for (let round = 0; round < rounds; round++)
      await killedOnce(played, point, `by ${way} at ${point}`, 1 + (round % 3));
    await endSound(played);
  }

  async function killedOnce(played: Played, point: FaultPoint, what: string, pass: number): Promise<void> {
    const { harness, machine, posted } = played;
    const first = posted.length;
    await played.daemon.breaks(machine, `${point}:kill:${pass}`);
    await played.say();
    await played.say();
    const passes = async (): Promise<boolean> => {
      // It may be passed more often than two messages take.
      if (!played.daemon.gone && (await played.cursor()) >= posted.at(-1)!.seq) await played.say();
      return played.daemon.gone;
    };
    await until(passes, `it is passed ${what}, ${pass} times`);
    await played.honest();
    played.whole();
    const confirmed = played.confirmed().map((one) => ({ ...one, times: harness.times(one.text) }));
    await played.restart();
    await played.settled();
    for (const { text } of posted.slice(first)) expect(harness.times(text), `${text} ${what}`).to.be.within(1, 2);
    // What was known to be received is given no second time.
    for (const one of confirmed) expect(harness.times(one.text), `${one.text} ${what}, again`).to.equal(one.times);
    await played.say();
    await played.settled();
    expect(harness.times(posted.at(-1)!.text), `afterwards, ${what}`).to.equal(1);
  }
});
