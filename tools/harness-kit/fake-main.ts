/** The process of a fake harness: reads steps from standard input, and prints their results and the trace, as JSON lines. */
import { createInterface } from 'node:readline';
import type { StandIn } from '../../src/harness/load-test-kit.ts';
import { FakeHarness } from './fake-harness.ts';
import type { Step } from './steps.ts';

/** Performs steps one after the other until the input ends. A result has the number of its step. */
export async function serveSteps(options: StandIn): Promise<void> {
  const print = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
  const harness = new FakeHarness({ ...options, trace: print });
  let last: Promise<void> = Promise.resolve();
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    const { step: number, ...step } = JSON.parse(line) as Step & { step: number };
    // A crash does not wait for earlier steps.
    if ((step as Step).do === 'kill') harness.crash();
    last = last.then(async () => {
      try {
        print({ step: number, ok: true, ...(await harness.perform(step as Step)) });
      } catch (error) {
        print({ step: number, ok: false, error: (error as Error).message });
      }
    });
  });
  await new Promise<void>((resolve) => lines.on('close', () => resolve()));
  await last;
  harness.close();
}
