// A server in a process of its own that dies between a commit that concerns a board and telling the other processes of it.
//
// node silent-process.mjs <module that exports startServer> <options as JSON>
//
// Prints {"url": …} once it listens.
import { createRequire } from 'node:module';
import { load } from './load.mjs';

const [module, options] = process.argv.slice(2);
const { Client } = createRequire(import.meta.url)('pg');
const { query } = Client.prototype;
Client.prototype.query = function (...parameters) {
  const [statement] = parameters;
  if (statement?.name === 'notify' && String(statement.values?.[1]).includes('"board:')) {
    process.kill(process.pid, 'SIGKILL');
    // The signal may come a moment later; nothing may happen until then.
    for (;;);
  }
  return query.apply(this, parameters);
};

const { startServer } = await load(module);
const server = await startServer(JSON.parse(options));
process.on('disconnect', () => process.exit(1));
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
