/**
 * Stands in for Claude Code, Codex and omp, by the name that is its first word: updates itself, keeps a queue, knows its
 * threads, and does what a prompt `Run: …` tells it, in a session. What it shall do wrong stands in ~/agents.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const [name, verb, ...args] = process.argv.slice(2);
const file = (what) => join(process.env.HOME, 'agents', `${name}.${what}`);
const newest = { claude: '2.1.200 (Claude Code)', codex: 'codex-cli 0.170.0', omp: 'omp/18.6.1' };
const after = (flag) => args[args.indexOf(flag) + 1];

if (verb === 'update') {
  writeFileSync(file('version'), newest[name]);
  rmSync(file('queueless'), { force: true });
} else if (verb === 'queue') {
  const why = file(`fails-${after('--thread')}`);
  if (existsSync(why)) {
    console.error(readFileSync(why, 'utf8'));
    process.exit(1);
  }
} else if (verb === 'app-server') {
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    const reply = (body) => console.log(JSON.stringify({ id, ...body }));
    if (method === 'initialize') reply({ result: {} });
    if (method !== 'thread/read') return;
    const { threadId } = params;
    if (existsSync(file(`absent-${threadId}`))) reply({ error: { message: `thread not found: ${threadId}` } });
    else
      reply({
        result: { thread: { id: threadId, source: existsSync(file(`child-${threadId}`)) ? { subAgent: {} } : 'cli' } },
      });
  });
} else {
  const words = [verb, ...args];
  const prompt = words.find((word) => word?.startsWith('Run: '));
  const at = words.findIndex((word) => /^(--)?resume$/.test(word));
  const id = words.slice(at + 1).find((word) => at >= 0 && !word.startsWith('-')) ?? `fresh-${process.pid}`;
  const session =
    name === 'codex'
      ? { CODEX_THREAD_ID: id, CODEX_SESSION_ID: id }
      : { SERVICE_SESSION: `claude-code:${id}`, CLAUDECODE: '1' };
  const env = { ...process.env, ...session };
  const shell = (line, input) => spawnSync('/bin/sh', ['-c', line], { env, input, encoding: 'utf8' });
  const { hooks } =
    name === 'claude' ? JSON.parse(readFileSync(join(env.HOME, '.claude', 'settings.json'), 'utf8')) : {};
  for (const { hooks: entries } of hooks?.SessionStart ?? [])
    for (const { command } of entries)
      shell(command, JSON.stringify({ session_id: id, hook_event_name: 'SessionStart', source: 'resume', cwd: '/' }));
  if (!prompt) process.exit(0);
  const { status, stdout, stderr } = shell(prompt.slice('Run: '.length));
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exit(status ?? 1);
}
