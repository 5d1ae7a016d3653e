/**
 * Stands in for the program of a harness that a launcher starts: begins a session, or takes one up again, has one turn with
 * the prompt it was given, and stays until it is told to end. What it was started with is written into a file.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, existsSync } from 'node:fs';

const [profile, folder, settings, cli, ...words] = process.argv.slice(2);
const at = words.findIndex((word) => word === '--resume' || word === 'resume');
const resumed = at < 0 ? null : words[at + 1];
const prompt = words[at < 0 ? 0 : at + 2] ?? '';
const session = resumed ?? `s-${randomBytes(6).toString('hex')}`;
const env = Object.entries(process.env).filter(([name]) => /^(SERVICE_|CLAUDE|CODEX|SECRET)/.test(name));
const start = { profile, words, session, resumed, prompt, cwd: process.cwd(), env: Object.fromEntries(env) };
appendFileSync(`${folder}/starts.ndjson`, `${JSON.stringify(start)}\n`);
if (resumed && existsSync(`${folder}/forgets`)) {
  console.log(`No conversation found with session ID: ${resumed}`);
  process.exit(1);
}

const args = ['harness', 'fake', '--profile', profile, '--settings', settings, '--folder', folder];
const child = spawn(process.execPath, [cli, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
child.on('close', () => process.exit(0));
child.stdout.on('data', (part) => appendFileSync(`${folder}/trace-${session}.ndjson`, part));
let n = 0;
const step = (fields) => child.stdin.write(`${JSON.stringify({ n: ++n, ...fields })}\n`);
step({ do: resumed ? 'resume' : 'start', session });
step({ do: 'prompt', text: prompt });
const command = /service status --launch lch_[0-9a-f]{24}/.exec(prompt)?.[0];
if (command) step({ do: 'command', argv: command.split(' ') });
step({ do: 'end_turn' });
for (const signal of ['SIGHUP', 'SIGTERM', 'SIGINT'])
  process.on(signal, () => {
    step({ do: 'quit' });
    child.stdin.end();
    setTimeout(() => child.kill('SIGKILL'), 1_000).unref();
  });
