/** Processes told from later ones with their number. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { isGone, processRef } from '../../src/local/process-ref.ts';
import { until } from './support/home.ts';

describe('a process', () => {
  it('is gone when it has ended, also while its parent has not heard of it', async () => {
    // The shell becomes a program that never asks after the child it has from before.
    const parent = spawn('/bin/sh', ['-c', 'sleep 60 & echo $!; exec sleep 60']);
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const ref = processRef(Number(line.toString()))!;
    expect(isGone(ref)).to.equal(false);
    process.kill(ref.pid, 'SIGKILL');
    await until('its end', () => isGone(ref));
    expect(processRef(ref.pid)).to.equal(null);
    parent.kill('SIGKILL');
  });

  it('with the number of another one is that one no more', () => {
    const own = processRef(process.pid)!;
    expect([isGone(own), isGone({ ...own, start: '1' })]).to.deep.equal([false, true]);
  });
});
