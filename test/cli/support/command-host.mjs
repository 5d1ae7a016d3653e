/**
 * A process that runs the built program in its own thread, one command after another, as `command-hosts.ts` asks. Each command
 * finds the variables, arguments, folder and modules of a new process. The host says what could not be put away after it.
 */
import { ChildProcess } from 'node:child_process';
import fs, { closeSync, openSync, ReadStream, readdirSync, realpathSync } from 'node:fs';
import { globalAgent } from 'node:http';
import Module, { createRequire, syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import vm from 'node:vm';

const require = createRequire(import.meta.url);
/** What `process.exit` throws, since nothing runs after it. */
const ended = Symbol('the command has ended');
/** The command that runs: its exit code when it has ended, and what it began. */
let job = null;

/** What was loaded of packed files, by their paths: their text, and what evaluates them. */
const texts = new Map();
const scripts = new Map();
const packed = join(import.meta.dirname, '..', '..', '..', 'dist');
const { readFileSync } = fs;
fs.readFileSync = (file, ...options) => {
  if (!String(file).startsWith(packed)) return readFileSync(file, ...options);
  if (!texts.has(file)) texts.set(file, readFileSync(file, ...options));
  return texts.get(file);
};
vm.Script = class {
  constructor(text, { filename }) {
    if (!scripts.has(filename))
      scripts.set(filename, basename(filename) === 'cli.cjs' ? program(text, filename) : library(text, filename));
    this.runInThisContext = () => scripts.get(filename);
  }
};
// What the cache has of them is of no use.
Module.enableCompileCache = () => {};
Module.getCompileCacheDir = () => undefined;
syncBuiltinESMExports();

/** Notes what a command begins, for its end. As in a process that has ended, nothing begins after it. */
function noted(begin) {
  return function (...words) {
    if (job?.code !== null) throw ended;
    const begun = begin.apply(this, words);
    job.begun.add(this === undefined || this === globalThis ? begun : this);
    return begun;
  };
}
Socket.prototype.connect = noted(Socket.prototype.connect);
ChildProcess.prototype.spawn = noted(ChildProcess.prototype.spawn);
for (const name of ['setTimeout', 'setInterval'])
  globalThis[name] = Object.assign(noted(globalThis[name]), globalThis[name]);

process.exit = (code = process.exitCode ?? 0) => {
  if (job?.code === null) end(Number(code));
  throw ended;
};
process.setUncaughtExceptionCaptureCallback((error) => {
  if (error === ended || job?.code !== null) return;
  try {
    if (!process.emit('uncaughtException', error, 'uncaughtException')) {
      console.error(error);
      process.exit(1);
    }
  } catch (thrown) {
    if (thrown !== ended) throw thrown;
  }
});
process.on('message', begin);
process.on('disconnect', () => process.reallyExit(0));

/** Standard input of a command: /dev/null, or a file with what is piped in. */
const nothing = '/dev/null';
const piped = '/proc/self/fd/4';
let input = nothing;
let stdin = null;
Object.defineProperty(process, 'stdin', {
  configurable: true,
  enumerable: true,
  // As Node.js reads a file, but what has read all of it does not close it.
  get: () =>
    (stdin ??= new ReadStream(null, { fd: 0, autoClose: false, fs: { ...fs, close: (_, done) => done(null) } })),
});

function readFrom(file) {
  stdin = null;
  if (file === nothing && input === nothing) return;
  closeSync(0);
  // It takes the lowest number that is free.
  openSync(file, 'r');
  input = file;
}

/** How a host is when no command runs. */
const listeners = new Map(process.eventNames().map((name) => [name, process.rawListeners(name)]));
const globals = new Set(Object.getOwnPropertyNames(globalThis));
const umask = process.umask();
const openFiles = () => readdirSync('/proc/self/fd').length;
const open = openFiles();

function begin({ args, env, cwd, program, ...given }) {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  readFrom(given.piped ? piped : nothing);
  process.argv = [process.execPath, program, ...args];
  process.exitCode = undefined;
  for (const name of Object.keys(require.cache)) delete require.cache[name];
  job = { code: null, begun: new Set() };
  // Where a command has nothing left to wait for, the process ends.
  process.channel.unref();
  require(realpathSync(program));
}

function end(code) {
  job.code = code;
  for (const listener of added('exit')) listener.call(process, code);
  putAway(job);
}

const added = (name) => process.rawListeners(name).filter((listener) => !listeners.get(name)?.includes(listener));

function remains() {
  const waiting = process.getActiveResourcesInfo().filter((name) => name !== 'PipeWrap');
  return [...waiting, ...(openFiles() === open ? [] : ['files']), ...(process.umask() === umask ? [] : ['umask'])];
}

async function putAway({ code, begun }) {
  process.channel.ref();
  for (const one of begun) {
    // A server or a daemon runs on.
    if (one instanceof ChildProcess) one.removeAllListeners();
    else if (one instanceof Socket) one.destroy();
    else clearTimeout(one);
  }
  globalAgent.destroy();
  for (const name of process.eventNames()) for (const listener of added(name)) process.off(name, listener);
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners();
  for (const name of Object.getOwnPropertyNames(globalThis)) if (!globals.has(name)) delete globalThis[name];
  process.chdir('/');
  await pause(0);
  let left = remains();
  // What is being closed is gone in a moment.
  for (let turns = 0; turns < 20 && left.length > 0; turns++) {
    await pause(turns);
    left = remains();
  }
  job = null;
  process.send({ code, left });
}

/** A packed file that holds nothing of a command: what it exports stays. */
function library(text, filename) {
  const evaluate = vm.runInThisContext(text, { filename });
  let kept = null;
  return (exports, require, module, ...where) => {
    if (kept === null) evaluate(exports, require, module, ...where);
    kept ??= module.exports;
    module.exports = kept;
  };
}

/**
 * The packed command line. Each of its modules is evaluated once in every command that uses it, as in a new process; the
 * functions stay, since V8 has compiled them and knows how they are called. ES modules of packages stay whole: they hold
 * nothing of a command, and what one does to its own functions, it cannot do again.
 */
function program(text, filename) {
  const stay = new Map();
  /** The other modules that this command has evaluated, in their order. */
  let evaluated = new Map();
  let requireNow;
  /** What the bundler calls with each module, in place of its own. */
  const module = (parts, stays) => {
    const [[path, run]] = Object.entries(parts);
    const use = () => {
      const seen = stays(path) ? stay : evaluated;
      const known = seen.get(use);
      if (known) return known.exports;
      const module = { exports: {} };
      seen.set(use, module);
      run(module.exports, module);
      return module.exports;
    };
    return use;
  };
  const kinds = {
    __esm: (parts) => module(parts, (path) => path.startsWith('node_modules/')),
    __commonJS: (parts) => module(parts, () => false),
  };
  const marked = Object.keys(kinds).reduce((code, name) => {
    const [before, after, ...more] = code.split(`var ${name}=`);
    if (after === undefined || more.length > 0) throw new Error(`the packed program has not one ${name}`);
    return `${before}var ${name}=ofHost.${name},${name}OfBundle=${after}`;
  }, text);
  const evaluate = vm.runInThisContext(`(ofHost) => ${marked}`, { filename })(kinds);
  let kept = null;
  let atStart = [];
  return (exports, require, module, ...where) => {
    requireNow = require;
    evaluated = new Map();
    if (kept === null) {
      evaluate(exports, (id) => requireNow(id), module, ...where);
      kept = module.exports;
      atStart = [...evaluated.keys()];
    }
    for (const use of atStart) use();
    module.exports = kept;
  };
}
