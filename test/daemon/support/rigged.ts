/** What most suites of the daemon begin with: one server for all tests, and a daemon with a clock of its own for each. */
import { FaultProxy } from '../../support/fault-proxy.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { Rig, type RigOptions } from './rig.ts';
import { StepClock } from './step-clock.ts';

interface Rigged {
  server: TestServer;
  rig: Rig;
  clock: StepClock;
}

/** The daemon reaches the server through a proxy that fails as it is told. */
interface Proxied extends Rigged {
  proxy: FaultProxy;
}

/** Call inside `describe`. @param use takes the parts before each test, when the daemon runs. */
export function withRig(use: (made: Rigged) => void, options: RigOptions = {}): void {
  withServer(async (server) => {
    const clock = new StepClock();
    const rig = await new Rig(server).start({ clock, ...options });
    use({ server, rig, clock });
    return () => rig.stop();
  });
}

/** Call inside `describe`. @param use takes the parts before each test; it or the test starts the daemon. */
export function withProxy(use: (made: Proxied) => unknown, newClock = () => new StepClock()): void {
  withServer(async (server) => {
    const proxy = await new FaultProxy(server.url).listen();
    const rig = new Rig(server);
    rig.origin = proxy.url;
    await use({ server, proxy, rig, clock: newClock() });
    return async () => {
      proxy.heal();
      await rig.stop();
      await proxy.down();
    };
  });
}

function withServer(begin: (server: TestServer) => Promise<() => Promise<void>>): void {
  let server: TestServer;
  let end: () => Promise<void>;
  before(async () => {
    server = await startTestServer('sqlite');
  });
  after(() => server.stop());
  beforeEach(async () => {
    end = await begin(server);
  });
  afterEach(() => end());
}
