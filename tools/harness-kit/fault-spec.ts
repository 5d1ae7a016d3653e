/** Parses a fault, `<point>:<kill|error|delay>[:<pass>]`. Only test builds of the daemon use it. */
import { type Faults, faultPoints } from '../../src/daemon/faults.ts';

const DELAY_MS = 300;

/** @param text empty for no fault; `pass`: at which pass of the point, from 1. @throws Error for an unknown point or fault */
export function faultsOf(text = ''): Faults {
  const [point, what, pass = '1'] = text.split(':');
  if (text !== '' && !(faultPoints as readonly string[]).includes(point!)) throw new Error(`no such point: ${point}`);
  if (text !== '' && !['kill', 'error', 'delay'].includes(what!)) throw new Error(`no such fault: ${what}`);
  let left = Number(pass);
  return {
    at(passed) {
      if (passed !== point || --left !== 0) return;
      if (what === 'kill') process.kill(process.pid, 'SIGKILL');
      if (what === 'error') throw Object.assign(new Error('disk full'), { code: 'SQLITE_FULL' });
      if (what === 'delay') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, DELAY_MS);
    },
  };
}
