// Runs a start or a recovery in a process of its own and ends it without warning before its n-th step: a step is a call
// that changes a key file or its folder, or a commit while a key is pending.
//
// node crash-process.mjs <n> <module> <function> <options as JSON> <key file>
//
// Prints how many steps there were, when it got to its end.
import fs from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { dirname } from 'node:path';
import { load } from './load.mjs';

const [at, module, name, options, file] = process.argv.slice(2);
const require = createRequire(import.meta.url);
let steps = 0;

function step() {
  steps++;
  if (steps !== Number(at)) return;
  process.kill(process.pid, 'SIGKILL');
  // The signal may come a moment later; nothing may happen until then.
  for (;;);
}

const concerns = (path) => typeof path === 'string' && (path.startsWith(file) || path === dirname(file));
const watched = new Set();
const real = { ...fs };
fs.openSync = (path, ...rest) => {
  if (!concerns(path)) return real.openSync(path, ...rest);
  step();
  const descriptor = real.openSync(path, ...rest);
  watched.add(descriptor);
  return descriptor;
};
fs.closeSync = (descriptor) => {
  watched.delete(descriptor);
  return real.closeSync(descriptor);
};
for (const call of ['writeFileSync', 'fsyncSync'])
  fs[call] = (target, ...rest) => {
    if (watched.has(target)) step();
    return real[call](target, ...rest);
  };
for (const call of ['linkSync', 'unlinkSync'])
  fs[call] = (path, ...rest) => {
    if (concerns(path)) step();
    return real[call](path, ...rest);
  };
syncBuiltinESMExports();

const commit = () => {
  if (real.existsSync(`${file}.pending`)) step();
};
const Sqlite = require('better-sqlite3');
const statement = Object.getPrototypeOf(new Sqlite(':memory:').prepare('COMMIT'));
const { run } = statement;
statement.run = function (...parameters) {
  if (this.source === 'COMMIT') commit();
  return run.apply(this, parameters);
};
const { Client } = require('pg');
const { query } = Client.prototype;
Client.prototype.query = function (...parameters) {
  if (parameters[0] === 'COMMIT') commit();
  return query.apply(this, parameters);
};

const made = await (await load(module))[name]({ ...JSON.parse(options), logTo: { write() {} } });
await made?.close?.();
process.stdout.write(`${steps}\n`);
