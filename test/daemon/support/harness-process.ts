/**
 * A program that runs an agent as a process of its own, so that a test can kill it. What its session has read stands in a
 * file, as a conversation does, and the next life of the session goes on there.
 *
 * <socket> <way> <session> <transcript> <AgentRef as JSON>; prints a line once it lives.
 */
import { randomBytes } from 'node:crypto';
import { FakeHarness, type Way } from './harness.ts';

const [socket, way, session, transcript, agent] = process.argv.slice(2) as [string, Way, string, string, string];

const boot = randomBytes(8).toString('hex');
const harness = new FakeHarness(socket, { way, transcript, header: { session, boot } });
await harness.register('resume');
await harness.ask('bind', { agent: JSON.parse(agent) });
harness.start();
process.on('disconnect', () => process.exit(1));
process.stdout.write('alive\n');
