/**
 * A process that runs the built program in its own thread, one command after another, as `command-hosts.ts` asks. Each command
 * finds the variables, arguments, folder and modules of a new process. The host says what could not be put away after it.
 */
import { ChildProcess } from 'node:child_process';
import { readdirSync, realpathSync } from 'node:fs';
import { globalAgent } from 'node:http';
import Module, { createRequire, syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import vm from 'node:vm';

const require = createRequire(import.meta.url);
/** What `process.exit` throws, since nothing runs after it. */
const ended = Symbol('the command has ended');
/** The command that runs: its exit code when it has ended, and what it began. */
let job = null;

/** A packed file is compiled once; each command evaluates it anew. */
const scripts = new Map();
vm.Script = new Proxy(vm.Script, {
  construct(Script, [text, options]) {
    const script = scripts.get(options.filename) ?? new Script(text, options);
    scripts.set(options.filename, script);
    return script;
  },
});
Module.enableCompileCache = () => {};
syncBuiltinESMExports();

/** Notes what a command begins, for its end. */
function noted(begin) {
  return function (...words) {
    const begun = begin.apply(this, words);
    job?.begun.add(this === undefined || this === globalThis ? begun : this);
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

/** How a host is when no command runs. */
const listeners = new Map(process.eventNames().map((name) => [name, process.rawListeners(name)]));
const globals = new Set(Object.getOwnPropertyNames(globalThis));
const umask = process.umask();
const openFiles = () => readdirSync('/proc/self/fd').length;
const open = openFiles();

function begin({ args, env, cwd, program }) {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
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
