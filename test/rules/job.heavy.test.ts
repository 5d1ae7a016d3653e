import { expect } from 'chai';
import { processRef } from '../../src/local/process-ref.ts';
import { runJob } from '../support/job.ts';
import { until } from '../support/until.ts';

/** Prints the number of a process that it starts, and ends by itself only with `ends`. */
const script = (ends: boolean) => `
  const { spawn } = require('node:child_process');
  const child = spawn('sleep', ['100'], { stdio: ${ends ? "'ignore'" : "'inherit'"} });
  console.log(child.pid);
  ${ends ? 'child.kill(); child.on("exit", () => process.exit(3));' : ''}`;

describe('a job of the test runner', () => {
  it('that hangs is killed with all it started, and shows what it wrote', async () => {
    const { text, code } = await runJob(['-e', script(false)], process.env, 1_000);
    expect(code).to.equal(null);
    expect(text).to.match(/^\d+\n\nIt was killed after 1 seconds\.\n$/);
    await until(() => processRef(Number.parseInt(text, 10)) === null, 'the process it started ends');
  });

  it('that ends says how, and what it wrote', async () => {
    const { text, code } = await runJob(['-e', script(true)], process.env, 60_000);
    expect([code, /^\d+\n$/.test(text)]).to.deep.equal([3, true]);
  });
});
