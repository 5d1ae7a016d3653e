/** This machine's own server in the process of the tests. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../../src/local/folders.ts';
import { type RunningServer, startServer } from '../../../src/server/serve.ts';
import { freePort } from '../../support/free-port.ts';
import { migrated } from '../../support/server.ts';

/** The server of an empty data folder, where the commands of its machine find it as one that they started. */
export async function serveOwn(dataDir: string): Promise<RunningServer> {
  makeFolder(dataDir);
  writeFileSync(join(dataDir, 'service.db'), await migrated(), { mode: 0o600 });
  const port = await freePort();
  return startServer({ dataDir, host: '127.0.0.1', port, portFixed: true, logTo: { write: () => {} } });
}
