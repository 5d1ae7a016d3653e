/** The kit's proxy, with a wait for what tests look for. */
import { FaultProxy as KitProxy } from '../../tools/harness-kit/fault-proxy.ts';
import { until } from './until.ts';

export type { Fault, Seen } from '../../tools/harness-kit/fault-proxy.ts';

export class FaultProxy extends KitProxy {
  /** Waits until `count` of a path has reached `n`. */
  async reached(path: string, n: number): Promise<void> {
    await until(() => this.count(path) >= n, `${n} requests of ${path}, of which there are ${this.count(path)}`);
  }
}
