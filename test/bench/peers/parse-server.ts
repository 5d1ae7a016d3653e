/**
 * Parse Server as a peer: one class of messages that only signed-in users create and read, on Postgres, with its live queries in
 * the same process.
 *
 * parse-server.ts <options as JSON: folder where it is installed, db, idempotency>
 *
 * It is installed with the router 2.2.0: it reaches into that package's inner files, which are others in 2.3.0, and its live queries then
 * take no session. Prints {"url": …} once it listens; answers over IPC what it used, as the product's server does in these benchmarks.
 */
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

const { folder, db, idempotency } = JSON.parse(process.argv[2] ?? '') as {
  folder: string;
  db: string;
  idempotency: boolean;
};
// Its advice about options goes elsewhere than the address, which is read from here.
const say = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr);
// Before its options are read, its log is in a folder of the working directory.
process.env['PARSE_SERVER_LOGS_FOLDER'] = 'null';
const require = createRequire(join(folder, 'package.json'));
const { ParseServer } = require('parse-server');
const express = createRequire(require.resolve('parse-server'))('express');

const signedIn = { requiresAuthentication: true };
const app = express();
const http = createServer(app);
await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
const server = new ParseServer({
  appId: 'bench',
  masterKey: 'bench-master',
  maintenanceKey: 'bench-maintenance',
  databaseURI: db,
  serverURL: `${url}/parse`,
  liveQuery: { classNames: ['Message'] },
  ...(idempotency ? { idempotencyOptions: { paths: ['classes/.*'], ttl: 300 } } : {}),
  silent: true,
  logLevel: 'error',
  logsFolder: null,
  schema: {
    definitions: [
      {
        className: 'Message',
        fields: { body: { type: 'String', required: true } },
        classLevelPermissions: {
          find: signedIn,
          get: signedIn,
          count: signedIn,
          create: signedIn,
          update: {},
          delete: {},
          addField: {},
        },
      },
    ],
  },
});
await server.start();
app.use('/parse', server.app);
await ParseServer.createLiveQueryServer(http, {
  appId: 'bench',
  masterKey: 'bench-master',
  serverURL: `${url}/parse`,
  logLevel: 'error',
});

process.on('SIGTERM', () => process.exit(0));
process.on('disconnect', () => process.exit(1));
process.on('message', ({ id }: { id: number }) => {
  const { rss, heapUsed, external } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  process.send?.({ id, cpuMs: (user + system) / 1000, rss, heapUsed, external });
});
say(`${JSON.stringify({ url })}\n`);
