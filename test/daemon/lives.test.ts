/**
 * Random lives of sessions at one daemon, which crashes, on a server that goes away: whatever happens, each message comes
 * to the session that holds its seat, in order, once where the daemon can know it, and is acknowledged only then.
 */
import { startTestServer, type TestServer } from '../support/server.ts';
import { Life } from './support/life.ts';

const LIVES = Number(process.env['LIVES'] ?? 6);
const FIRST = Number(process.env['FIRST'] ?? 1);

describe('random lives of sessions', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer('sqlite');
  });
  after(() => server.stop());

  it(`give each message once, in order, to the session of its seat (seeds ${FIRST} to ${FIRST + LIVES - 1})`, async () => {
    for (let seed = FIRST; seed < FIRST + LIVES; seed++) await new Life(server, seed).run(40);
  });
});
