// One server in a process of its own, so that a test can kill it. Plain JavaScript: a compiled server then starts
// without a loader, and a test that starts it hundreds of times ends soon.
//
// node server-process.mjs <module that exports startServer> <options as JSON>
//
// Prints {"url": …} once it listens. SIGTERM closes it in order. Over IPC it answers {"id": …} with its CPU time and
// memory; {"jump": milliseconds} puts its clock forward or back, and its database's unless "alone". It ends with the
// process that started it, however that one ends.
import { load } from './load.mjs';

const [module, options] = process.argv.slice(2);
const { startServer } = await load(module);
let jumped = 0;
let jumpedAlone = 0;
/** The time of day jumps; how long something takes does not. */
const clock = {
  offset: () => jumped,
  now: () => Date.now() + jumped + jumpedAlone,
  after(ms, fn) {
    const timer = setTimeout(fn, Math.min(Math.max(ms, 0), 2_147_483_647)).unref();
    return () => clearTimeout(timer);
  },
};
const { jumps, ...given } = JSON.parse(options);
const server = await startServer(jumps ? { ...given, clock } : given);

process.on('SIGTERM', () => void server.close().then(() => process.exit(0)));
process.on('disconnect', () => process.exit(1));
process.on('message', ({ id, gc, jump, alone }) => {
  if (jump !== undefined) {
    if (alone) jumpedAlone += jump;
    else jumped += jump;
    return;
  }
  if (gc) globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  process.send({ id, cpuMs: (user + system) / 1000, rss, heapUsed, external });
});
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
