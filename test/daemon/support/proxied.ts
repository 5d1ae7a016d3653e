/** A machine whose daemon reaches a true server through a proxy that fails as it is told, with a clock that is moved on. */
import { FaultProxy } from '../../support/fault-proxy.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { Rig } from './rig.ts';
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
  before(async () => {
    it.server = await startTestServer('sqlite');
  });
  after(() => it.server.stop());
  beforeEach(async () => {
    it.clock = newClock();
    it.proxy = await new FaultProxy(it.server.url).listen();
    it.rig = new Rig(it.server);
    it.rig.origin = it.proxy.url;
    await it.rig.start({ clock: it.clock });
  });
  afterEach(async () => {
    it.proxy.heal();
    await it.rig.stop();
    await it.proxy.down();
  });
  return it;
}
