/** Checks that no message is lost when the daemon is killed at any step, or when its network fails. */
import { type FaultPoint, faultPoints } from '../../src/daemon/faults.ts';
import { type Check, must, wakes } from './check.ts';
import type { Fault, FaultProxy } from './fault-proxy.ts';
import { type SeatedSession, startSession } from './seated.ts';

/** After this point the receipt is on disk, and the message is not delivered again. */
const durable = faultPoints.indexOf('confirm.recorded');
/** Up to this point the session has not seen a text: what waits in it connects to the next daemon, without a prompt. */
const lastUnseen = faultPoints.indexOf('hand.exposed');

export const crashCheck: Check = {
  id: 'crash',
  needs: wakes,
  run: async (world, sessions) => {
    const { proxy } = await world.startServer();
    await world.command(['daemon', 'start']);
    // Only the kit may start daemons here, so that the one with the fault runs.
    const seat = await startSession(world, { env: { SERVICE_NO_AUTOSTART: '1' } });
    try {
      await crashAtEachPoint(seat);
      await failNetwork(seat, proxy);
    } finally {
      proxy.heal();
      await world.daemon.kill();
      // Sessions may start a daemon only a limited number of times.
      await world.command(['daemon', 'start']);
    }
    sessions.pass(seat);
  },
};

/** Kills the daemon at every step of one message's delivery; each time a new daemon continues. */
async function crashAtEachPoint(seat: SeatedSession): Promise<void> {
  const { driver, world } = seat;
  const body = 'kit-crash-first';
  let message: { seq: number } | null = null;
  for (const point of faultPoints) {
    await world.daemon.start({ faults: `${point}:kill` });
    const before = driver.count(body);
    message ??= await seat.personSays(body);
    await untilCrashed(seat, point, message);
    const times = driver.count(body);
    const early = times === 0 && (await seat.cursor()) >= message.seq;
    must(!early, `killed at ${point}, it had acknowledged a message that the session does not have`);
    must(times - before <= 1, `killed at ${point}, it delivered one message ${times - before} times`);
    const received = faultPoints.indexOf(point) > durable;
    must(!received || times === before, `killed at ${point}, it delivered a received message again`);
  }
  await world.daemon.start();
  const times = driver.count(body);
  must(times > 0, 'after all crashes the session does not have the message');
  await seat.untilAcknowledged(message!, 20_000);
  await seat.prompt();
  await seat.untilDone(20_000);
  must(driver.count(body) === times, 'a received message was delivered again');
  const next = await seat.personSays('kit-after-crashes');
  await driver.expectContext('kit-after-crashes', 'the next message');
  await seat.untilAcknowledged(next);
  must(driver.count('kit-after-crashes') === 1, 'the next message was delivered more than once');
}

/**
 * Waits until the daemon has crashed at the point: by itself if the session can be woken, else after a prompt. If the message
 * is acknowledged already, another message has to reach the point.
 */
async function untilCrashed(seat: SeatedSession, point: FaultPoint, message: { seq: number }): Promise<void> {
  const { world } = seat;
  const ended = () => world.daemon.ended;
  const needsPrompt = faultPoints.indexOf(point) > lastUnseen;
  let another = false;
  for (let tries = 0; tries < 20; tries++) {
    // A client that lost its daemon reconnects after at most five seconds.
    if (await world.within(ended, needsPrompt && tries < 2 ? 500 : 2_000)) return;
    if (!another && (await seat.cursor()) >= message.seq) {
      another = true;
      await seat.personSays('kit-behind-the-crash');
    }
    await seat.prompt();
  }
  must(ended(), `the daemon did not reach ${point}`);
}

const ack = 'POST /v1/me/inbox/ack';
/** Faults between the daemon and the server, in requests whose loss could lose or repeat a message. */
const faults: { name: string; rules: [path: string, fault: Fault][] }[] = [
  {
    name: 'late, broken and cut reads',
    rules: [
      ['GET /v1/me/inbox', { delayMs: 300 }],
      ['GET /v1/me/inbox', 'reset'],
      ['GET /v1/me/inbox', 'cut'],
    ],
  },
  { name: 'a lost acknowledgement', rules: [[ack, 'drop_answer']] },
  {
    name: 'refused acknowledgements',
    rules: [
      [ack, { status: 429, code: 'rate_limited', retryAfter: 1 }],
      [ack, { status: 404, code: 'not_found' }],
    ],
  },
  {
    name: 'failing acknowledgements',
    rules: [
      [ack, { status: 503, code: 'server_stopping' }],
      [ack, { status: 403, code: 'forbidden' }],
    ],
  },
  { name: 'a stream that is cut and refused', rules: [['GET /v1/stream', { status: 401, code: 'unauthorized' }]] },
];

async function failNetwork(seat: SeatedSession, proxy: FaultProxy): Promise<void> {
  const { driver } = seat;
  for (const [n, { name, rules }] of faults.entries()) {
    await seat.untilDone(20_000);
    const body = `kit-fault-${n}`;
    const before = rules.map(([path]) => proxy.count(path));
    for (const [path, fault] of rules) proxy.fail(path, fault, 1);
    if (rules.some(([path]) => path.includes('/v1/stream'))) proxy.cutStreams();
    const message = await seat.personSays(body);
    await driver.expectContext(body, `a message despite ${name}`, 20_000);
    await seat.untilAcknowledged(message, 20_000);
    must(driver.count(body) === 1, `with ${name}, a message was delivered more than once`);
    must(
      rules.every(([path], k) => proxy.count(path) > before[k]!),
      `the daemon sent no request that met ${name}`,
    );
    proxy.heal();
  }
}
