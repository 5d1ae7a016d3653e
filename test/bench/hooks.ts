/** How long a harness waits for a hook that finds nothing to do, against an empty Node program started in the same way. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Claims } from '../../src/daemon/claims/claims.ts';
import { realClock } from '../../src/daemon/clock.ts';
import type { Log } from '../../src/daemon/log.ts';
import type { Servers } from '../../src/daemon/server-link/servers.ts';
import type { Session } from '../../src/daemon/sessions/session.ts';
import { ScriptedDaemon } from '../daemon/support/scripted-daemon.ts';
import { type Figure, median, round } from './measure.ts';

const RUNS = 40;
/** Most that it may add to ask who else is on a file, in the hook and in the daemon together. */
const CLAIMS_MS = 25;
const WARM_UP = 3;
const program = fileURLToPath(new URL('../../bin/run.js', import.meta.url));
const bundle = fileURLToPath(new URL('../../dist/hook.cjs', import.meta.url));

export async function hooks(): Promise<Figure[]> {
  if (!existsSync(bundle)) {
    process.stdout.write('hooks: skipped, because there is no dist/; run `npm run build` first\n');
    return [];
  }
  const daemon = await new ScriptedDaemon().listen();
  const env = { PATH: process.env.PATH, HOME: daemon.home, SERVICE_HOME: daemon.home };
  const input = JSON.stringify({ session_id: 'bench', hook_event_name: 'PostToolBatch', cwd: '/', tool_name: 'Bash' });
  try {
    const edit = { tool_calls: [{ tool_name: 'Edit', tool_input: { file_path: join(daemon.home, 'src/http.ts') } }] };
    const edits = JSON.stringify({ session_id: 'bench', hook_event_name: 'PostToolBatch', cwd: '/', ...edit });
    const times = { node: [] as number[], hook: [] as number[], added: [] as number[] };
    for (let n = 0; n < RUNS + WARM_UP; n++) {
      const node = await run(['-e', '0'], env, '');
      const hook = await run([program, 'hook', 'claude-code', 'tool'], env, input);
      if (n < WARM_UP) continue;
      times.node.push(node);
      times.hook.push(hook);
      const without = await run([program, 'hook', 'claude-code', 'tool'], env, edits);
      times.added.push((await run([program, 'hook', 'claude-code', 'tool', 'claims'], env, edits)) - without);
    }
    const ratio = median(times.hook) / median(times.node);
    const p95 = times.hook.sort((a, b) => a - b)[Math.ceil(RUNS * 0.95) - 1]!;
    const added = median(times.added) + (await answering());
    const kib = await waitingMemory(daemon, env);
    return [
      { name: 'hooks: node -e 0', value: `${round(median(times.node), 0)} ms` },
      { name: 'hooks: nothing to do, to node', value: round(ratio), ratio, target: { op: '<=', value: 1.6 } },
      { name: 'hooks: nothing to do, p95', value: `${round(p95, 0)} ms`, ratio: p95, target: { op: '<=', value: 150 } },
      {
        name: 'hooks: who else is on a file, added: hook p50 and daemon p95',
        value: `${round(added, 1)} ms`,
        ratio: added,
        target: { op: '<=', value: CLAIMS_MS },
      },
      {
        name: 'hooks: a waiting one, resident',
        value: `${round(kib / 1024, 0)} MiB`,
        ratio: kib / 1024,
        target: { op: '<=', value: 60 },
      },
    ];
  } finally {
    daemon.close();
  }
}

function run(args: string[], env: NodeJS.ProcessEnv, input: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'ignore', 'pipe'] });
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => {
      errors += chunk.toString();
    });
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0 && errors === '') resolve(performance.now() - start);
      else reject(new Error(`${args.join(' ')} ended with ${code}: ${errors}`));
    });
  });
}

/** Milliseconds the daemon takes for a file that a session has not changed before, p95: 50 lines of 20 globs each are known. */
async function answering(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-claims-'));
  execFileSync('git', ['init', '--quiet', folder]);
  execFileSync('git', ['-C', folder, 'remote', 'add', 'origin', 'https://example.com/api.git']);
  const claims = Array.from({ length: 50 }, (_, n) => ({
    ...{ agent: `agent-${n}`, member_id: `mem_${n}`, owner: 'dana', board: 'general', board_id: 'brd_1' },
    ...{ repo: 'example.com/api', line: 'on it', task: null, since: new Date().toISOString(), own: false },
    paths: Array.from({ length: 20 }, (_, i) => `{src,test}/**/part-${n}-*/{a,b}-${i}*.ts`),
  }));
  const known = new Claims({
    clock: realClock,
    log: { write: () => {} } as unknown as Log,
    servers: { at: () => ({ claims: async () => claims }) } as unknown as Servers,
  });
  const seat = { row: { origin: 'http://localhost', member_id: 'mem_own' } };
  const session = {
    seats: new Set([seat]),
    edited: new Map(),
    pendingLines: [],
    row: { open: true },
  } as unknown as Session;
  const times: number[] = [];
  for (let n = 0; n < RUNS + WARM_UP; n++) {
    session.edited.clear();
    const start = performance.now();
    await known.atBoundary(session, [`src/part/part-x-${n}/a-${n}.ts`], folder);
    if (n >= WARM_UP) times.push(performance.now() - start);
  }
  rmSync(folder, { recursive: true });
  return times.sort((a, b) => a - b)[Math.ceil(RUNS * 0.95) - 1]!;
}

/** KiB that a hook holds while it waits. */
async function waitingMemory(daemon: ScriptedDaemon, env: NodeJS.ProcessEnv): Promise<number> {
  const waiting = new Promise<void>((resolve) => {
    daemon.answers.wait = (_, peer) => {
      peer.send({ event: 'waiting' });
      resolve();
    };
  });
  const child = spawn(process.execPath, [program, 'hook', 'claude-code', 'wait'], {
    env,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.stdin.end(JSON.stringify({ session_id: 'bench', hook_event_name: 'Stop' }));
  await waiting;
  const line = readFileSync(`/proc/${child.pid}/status`, 'utf8').match(/^VmRSS:\s+(\d+) kB/m);
  child.kill('SIGKILL');
  return Number(line?.[1] ?? 0);
}
