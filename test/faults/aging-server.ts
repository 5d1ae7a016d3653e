/** A server whose time can be moved on from outside, by messages `{advance: milliseconds}`: started as a program of its own. */
import { TestClock } from '../support/clock.ts';
import { load } from './load.mjs';

const [module = '', options = '{}', offset = '0'] = process.argv.slice(2);
const clock = new TestClock();
clock.advance(Number(offset));
const { startServer } = await load(module);
const server = await startServer({ ...JSON.parse(options), clock });
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
process.on('message', ({ advance }: { advance: number }) => clock.advance(advance));
// It ends with the process that started it, however that one ends.
process.on('disconnect', () => process.exit(1));
process.on('SIGTERM', () => void server.close().then(() => process.exit(0)));
