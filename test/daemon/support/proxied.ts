/** A machine whose daemon runs and reaches a true server through a proxy, with a clock that is moved on. */
import type { FaultProxy } from '../../support/fault-proxy.ts';
import type { TestServer } from '../../support/server.ts';
import type { Rig } from './rig.ts';
import { withProxy } from './rigged.ts';
import { StepClock } from './step-clock.ts';

export interface Proxied<Clock extends StepClock> {
  server: TestServer;
  proxy: FaultProxy;
  rig: Rig;
  clock: Clock;
}

/** One server for all tests of a `describe`; machine, proxy, clock and a running daemon for each. */
export function proxied(): Proxied<StepClock>;
export function proxied<Clock extends StepClock>(newClock: () => Clock): Proxied<Clock>;
export function proxied(newClock = () => new StepClock()): Proxied<StepClock> {
  const it = {} as Proxied<StepClock>;
  withProxy((made) => {
    Object.assign(it, made);
    return it.rig.start({ clock: it.clock });
  }, newClock);
  return it;
}
