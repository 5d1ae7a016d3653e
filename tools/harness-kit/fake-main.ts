/** The fake harness as a process: steps come as lines on standard input, results and the trace leave as lines. */
import { createInterface } from 'node:readline';
import type { StandIn } from '../../src/harness/load-test-kit.ts';
import { FakeHarness } from './fake-harness.ts';
import type { Step } from './steps.ts';

/** Runs until its input ends. Each step is answered with its number before the next one is begun. */
export async function serveSteps(options: StandIn): Promise<void> {
  const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
  const harness = new FakeHarness({ ...options, trace: say });
  let last: Promise<void> = Promise.resolve();
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    const { step: number, ...step } = JSON.parse(line) as Step & { step: number };
    // A crash waits for nothing.
    if ((step as Step).do === 'kill') harness.die();
    last = last.then(async () => {
      try {
        say({ step: number, ok: true, ...(await harness.perform(step as Step)) });
      } catch (error) {
        say({ step: number, ok: false, error: (error as Error).message });
      }
    });
  });
  await new Promise<void>((resolve) => lines.on('close', () => resolve()));
  await last;
  harness.leave();
}
