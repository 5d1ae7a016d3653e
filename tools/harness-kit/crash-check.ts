/** Checks that no message is lost when the daemon is killed at each step, and when its network fails. */
import { faultPoints } from '../../src/daemon/faults.ts';
import { type Check, must, wakes } from './check.ts';
import type { Fault, FaultProxy } from './fault-proxy.ts';
import { Seated } from './seated.ts';

/** From here on the receipt is on the disk, and nothing is handed again. */
const durable = faultPoints.indexOf('confirm.recorded');

export const crashCheck: Check = {
  id: 'crash',
  needs: wakes,
  run: async (world, seats) => {
    const { proxy } = await world.served();
    await world.command(['daemon', 'start']);
    // Only the kit starts daemons here, so that it is always the broken one that runs.
    const seat = await Seated.on(world, { env: { SERVICE_NO_AUTOSTART: '1' } });
    try {
      await throughCrashes(seat);
      await throughFaults(seat, proxy);
    } finally {
      proxy.heal();
      await world.daemon.kill();
      // Sessions start one only so often.
      await world.command(['daemon', 'start']);
    }
    seats.done(seat);
  },
};

/** Kills the daemon at every step of one message's delivery; each time a new daemon continues. */
async function throughCrashes(seat: Seated): Promise<void> {
  const { driver, world } = seat;
  const body = 'kit-crash-first';
  let message: { seq: number } | null = null;
  for (const point of faultPoints) {
    await world.daemon.start({ faults: `${point}:kill` });
    const before = driver.times(body);
    message ??= await seat.says(body);
    await crashed(seat, point, message);
    const times = driver.times(body);
    const early = times === 0 && (await seat.cursor()) >= message.seq;
    must(!early, `killed at ${point}, it had acknowledged what its session did not have`);
    must(times - before <= 1, `killed at ${point}, it handed one message ${times - before} times`);
    const received = faultPoints.indexOf(point) > durable;
    must(!received || times === before, `killed at ${point}, it handed again what was received`);
  }
  await world.daemon.start();
  const times = driver.times(body);
  must(times > 0, 'after all crashes its session does not have the message');
  await seat.acked(message!, 20_000);
  await seat.goesOn();
  await seat.rest(20_000);
  must(driver.times(body) === times, 'what was received was handed again');
  const next = await seat.says('kit-after-crashes');
  await driver.sees('kit-after-crashes', 'the next message');
  await seat.acked(next);
  must(driver.times('kit-after-crashes') === 1, 'the next message came more than once');
}

/**
 * Until the daemon that breaks there is gone: by itself where somebody waits, else by what the session does next. Where the
 * server has been told already, another message has to go that way.
 */
async function crashed(seat: Seated, point: string, message: { seq: number }): Promise<void> {
  const { world } = seat;
  const gone = () => world.daemon.gone;
  for (let tries = 0; tries < 20; tries++) {
    // A client that lost its daemon reconnects after at most five seconds.
    if (await world.within(gone, tries < 2 ? 500 : 2_000)) return;
    if (tries === 1 && (await seat.cursor()) >= message.seq) await seat.says('kit-behind-the-crash');
    await seat.goesOn();
  }
  must(gone(), `the daemon never came to ${point}`);
}

/** What goes wrong between the daemon and the server, on requests whose loss could cost something. */
const ack = 'POST /v1/me/inbox/ack';
const faults: { what: string; meets: [path: string, fault: Fault][] }[] = [
  {
    what: 'late, broken and cut reads',
    meets: [
      ['GET /v1/me/inbox', { delayMs: 300 }],
      ['GET /v1/me/inbox', 'reset'],
      ['GET /v1/me/inbox', 'cut'],
    ],
  },
  { what: 'a lost acknowledgement', meets: [[ack, 'drop_answer']] },
  {
    what: 'refused acknowledgements',
    meets: [
      [ack, { status: 429, code: 'rate_limited', retryAfter: 1 }],
      [ack, { status: 404, code: 'not_found' }],
    ],
  },
  {
    what: 'failing acknowledgements',
    meets: [
      [ack, { status: 503, code: 'server_stopping' }],
      [ack, { status: 403, code: 'forbidden' }],
    ],
  },
  { what: 'a stream that is cut and refused', meets: [['GET /v1/stream', { status: 401, code: 'unauthorized' }]] },
];

async function throughFaults(seat: Seated, proxy: FaultProxy): Promise<void> {
  const { driver } = seat;
  for (const [n, { what, meets }] of faults.entries()) {
    await seat.rest(20_000);
    const body = `kit-fault-${n}`;
    const before = meets.map(([path]) => proxy.count(path));
    for (const [path, fault] of meets) proxy.fail(path, fault, 1);
    if (meets.some(([path]) => path.includes('/v1/stream'))) proxy.cutStreams();
    const message = await seat.says(body);
    await driver.sees(body, `a message in spite of ${what}`, 20_000);
    await seat.acked(message, 20_000);
    must(driver.times(body) === 1, `in spite of ${what}, a message came more than once`);
    must(
      meets.every(([path], k) => proxy.count(path) > before[k]!),
      `the daemon did not meet ${what}`,
    );
    proxy.heal();
  }
}
