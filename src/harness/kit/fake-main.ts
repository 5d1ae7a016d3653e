/** The fake harness as a process: steps come as lines on standard input, results and the trace leave as lines. */
import { createInterface } from 'node:readline';
import { FakeHarness, type FakeOptions, type Step } from './fake-harness.ts';

/** Runs until its input ends. Each step is answered with its number before the next one is begun. */
export async function serveSteps(options: Omit<FakeOptions, 'trace'>): Promise<void> {
  const trace = (line: Record<string, unknown>) => process.stdout.write(`${JSON.stringify(line)}\n`);
  const harness = new FakeHarness({ ...options, trace });
  let last: Promise<void> = Promise.resolve();
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    const { n, ...step } = JSON.parse(line) as Step & { n: number };
    if ((step as { do: string }).do === 'kill') harness.die();
    last = last.then(async () => {
      try {
        trace({ ev: 'step', n, ok: true, ...(await harness.perform(step as Step)) });
      } catch (error) {
        trace({ ev: 'step', n, ok: false, error: (error as Error).message });
      }
    });
  });
  await new Promise<void>((resolve) => lines.on('close', () => resolve()));
  await last;
}
