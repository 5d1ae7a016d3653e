/** What most suites of the daemon begin with. */
import { startTestServer, type TestServer } from '../../support/server.ts';
import { Rig } from './rig.ts';
import { StepClock } from './step-clock.ts';

interface Rigged {
  server: TestServer;
  rig: Rig;
  clock: StepClock;
}

/** Call inside `describe`: a server for all its tests, and a daemon with a clock of its own for each. @param use takes them before each. */
export function withRig(use: (made: Rigged) => void): void {
  let server: TestServer;
  let rig: Rig;
  before(async () => {
    server = await startTestServer('sqlite');
  });
  after(() => server.stop());
  beforeEach(async () => {
    const clock = new StepClock();
    rig = await new Rig(server).start({ clock });
    use({ server, rig, clock });
  });
  afterEach(() => rig.stop());
}
