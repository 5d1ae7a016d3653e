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

const times = Number(process.env['DAEMON_KILLS'] ?? 2);
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

  for (const point of faultPoints) {
    it(`with kill -9 ${rows[point]} (${point}) loses nothing and acknowledges nothing too early`, async function () {
      this.timeout(20_000 + 10_000 * times);
      // Each way in its turn, at the first, the second and the third time that the point is passed.
      const first = faultPoints.indexOf(point) * 2;
      const tries = Array.from({ length: times }, (_, n) => ({
        way: ways[(first + n) % ways.length]!,
        pass: 1 + (Math.floor(n / ways.length) % 3),
      }));
      await inLanes(tries, lanes, (one) => killedAt(point, one));
    });
  }

  for (const point of faultPoints) {
    it(`but cannot do what is due at ${point} tries again and loses nothing`, async function () {
      this.timeout(40_000);
      const played = await begin({ faults: `${point}:error` });
      const seq = await played.say();
      await until(async () => (await played.cursor()) >= seq, 'it is acknowledged', 20_000);
      expect(played.harness.times(played.posted[0]!.text)).to.be.within(1, 2);
      await endSound(played);
    });
  }

  async function begin(options: { way?: Way; faults?: string }): Promise<Played> {
    const played = await Played.begin(server, options);
    running.add(played);
    return played;
  }

  async function endSound(played: Played): Promise<void> {
    await played.endSound();
    running.delete(played);
  }

  async function killedAt(point: FaultPoint, { way, pass }: { way: Way; pass: number }): Promise<void> {
    const played = await begin({ way, faults: `${point}:kill:${pass}` });
    const { harness } = played;
    await played.say();
    await played.say();
    await until(
      async () => {
        // The point may be passed more often than two messages take.
        if (pass > 1 && !played.daemon.gone && (await played.cursor()) >= played.posted.at(-1)!.seq) await played.say();
        return played.daemon.gone;
      },
      `it passes ${point} by ${way} ${pass} times`,
      20_000,
    );
    await played.honest();
    const confirmed = played.confirmed().map((one) => ({ ...one, times: harness.times(one.text) }));
    await played.restart();
    const { seq } = played.posted.at(-1)!;
    await until(async () => (await played.cursor()) >= seq, `all is acknowledged after ${point} by ${way}`, 20_000);
    for (const { text } of played.posted)
      expect(harness.times(text), `${text} by ${way} after ${point}`).to.be.within(1, 2);
    // What was known to be received is given no second time.
    for (const one of confirmed)
      expect(harness.times(one.text), `${one.text} by ${way} after ${point} again`).to.equal(one.times);
    const last = await played.say();
    await until(async () => (await played.cursor()) >= last, `it goes on by ${way}`, 20_000);
    expect(harness.times(played.posted.at(-1)!.text)).to.equal(1);
    await endSound(played);
  }
});
