/** A launcher of a test: starts what it is asked to as processes of their own, and notes each request. */
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const text = readFileSync(0, 'utf8');
appendFileSync(join(folder, 'requests.ndjson'), text);
const { op, swarm, agent, argv, env, dir, handle } = JSON.parse(text);
const path = (name) => join(folder, name);
const behaves = existsSync(path('behaves.json')) ? JSON.parse(readFileSync(path('behaves.json'), 'utf8')) : {};
const answer = (value) => console.log(JSON.stringify(value));
const alive = (pid) => {
  try {
    process.kill(pid, 0);
    // Where nobody asks after it, one that has ended keeps its number.
    return !existsSync('/proc') || !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};
const note = path(`${swarm}-${agent}.pid`);
const noted = existsSync(note) ? Number(readFileSync(note, 'utf8')) : 0;

if (behaves[op]) answer(behaves[op]);
else if (op === 'info') answer({ v: 1, name: 'local', modes: ['interactive', 'headless'] });
else if (op === 'start' && noted && alive(noted))
  answer({ error: { code: 'already_running', message: `${agent} runs`, handle: String(noted) } });
else if (op === 'start') {
  if (behaves.hangs) writeFileSync(path('hanging.pid'), String(process.pid));
  const log = openSync(path(`${agent}.log`), 'a');
  const options = { env: { ...process.env, ...env }, cwd: dir, detached: true, stdio: ['ignore', log, log] };
  const child = spawn(argv[0], argv.slice(1), options);
  child.unref();
  writeFileSync(note, String(child.pid));
  // The agent runs, and whoever asked for it will never hear of it.
  if (behaves.hangs) setTimeout(() => {}, 100_000);
  else answer({ handle: String(child.pid), attach: `less ${agent}.log`, pid: child.pid });
} else if (op === 'status') answer({ state: alive(Number(handle)) ? 'running' : 'exited' });
else {
  const pid = Number(handle);
  if (alive(pid)) process.kill(pid, 'SIGTERM');
  const end = Date.now() + 8_000;
  while (alive(pid) && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 20));
  answer({ state: 'exited' });
}
