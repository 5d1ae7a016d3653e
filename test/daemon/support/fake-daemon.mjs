/** Stands in for the daemon where only its client is tested: a lock, a socket, `status` and `shutdown`. */
import { appendFileSync, chmodSync, mkdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import Database from 'better-sqlite3';

const state = join(process.env.SERVICE_HOME, 'state');
const version = process.argv[2];
mkdirSync(state, { recursive: true, mode: 0o700 });
const lock = new Database(join(state, 'daemon.lock'), { timeout: 0 });
try {
  lock.pragma('journal_mode = MEMORY');
  lock.exec('BEGIN EXCLUSIVE');
} catch {
  process.exit(0);
}
// A database that nothing refers to is closed by the garbage collector.
process.on('exit', () => lock.close());
appendFileSync(join(state, 'runs'), `${JSON.stringify({ version, env: Object.keys(process.env) })}\n`);
const socket = join(state, 'daemon.sock');
rmSync(socket, { force: true });
process.umask(0o177);
createServer((peer) => {
  peer.on('error', () => {});
  peer.on('data', (data) => {
    const { op } = JSON.parse(data.toString());
    if (op === 'status') peer.write(`${JSON.stringify({ v: 1, pid: process.pid, build: { version } })}\n`);
    else peer.write('{"v":1}\n');
    if (op === 'shutdown') setTimeout(() => process.exit(0), 30);
  });
}).listen(socket, () => chmodSync(socket, 0o600));
setTimeout(() => process.exit(0), 60_000).unref();
