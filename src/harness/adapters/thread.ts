/** Asks Codex's app server whether a thread exists and is not a subagent's. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Target } from '../../daemon/adapter.ts';
import type { Env } from '../../local/folders.ts';
import { parseJson } from '../../local/json.ts';

const TIMEOUT_MS = 10_000;
const INITIALIZE = 1;
const READ = 2;

interface Message {
  id?: number;
  result?: { thread?: { source?: unknown; parentThreadId?: unknown; parent_thread_id?: unknown } };
  error?: { message?: unknown };
}

/** Reads a thread. `harness_unavailable` means that Codex could not be asked. */
export function readThread(program: string, thread: string, env: Env, ms = TIMEOUT_MS): Promise<Target> {
  return new Promise((resolve) => {
    const server = spawn(program, ['app-server'], { env: env as NodeJS.ProcessEnv, stdio: ['pipe', 'pipe', 'ignore'] });
    const answer = (target: Target) => {
      clearTimeout(timer);
      resolve(target);
      server.kill('SIGKILL');
    };
    const timer = setTimeout(() => answer({ code: 'harness_unavailable' }), ms);
    server.on('error', () => answer({ code: 'harness_unavailable' }));
    server.on('close', () => answer({ code: 'harness_unavailable' }));
    server.stdin.on('error', () => {});
    const send = (message: object) => server.stdin.write(`${JSON.stringify(message)}\n`);
    createInterface({ input: server.stdout }).on('line', (line) => {
      const message = parseJson(line) as Message | null;
      if (message?.id === INITIALIZE && message.error) answer({ code: 'harness_unavailable' });
      else if (message?.id === INITIALIZE) {
        send({ method: 'initialized', params: {} });
        send({ id: READ, method: 'thread/read', params: { threadId: thread, includeTurns: false } });
      } else if (message?.id === READ) answer(targetOf(message));
    });
    const clientInfo = { name: 'service', title: 'Board service', version: '1' };
    send({ id: INITIALIZE, method: 'initialize', params: { clientInfo } });
  });
}

function targetOf({ result, error }: Message): Target {
  // Codex saves a thread with its first turn; before, another app server does not know it.
  if (error && /not loaded/i.test(String(error.message))) return 'unstarted';
  if (error) {
    const absent = /not found|no rollout|no such|unknown thread|invalid thread|does not exist/i.test(
      String(error.message),
    );
    return { code: absent ? 'harness_target_absent' : 'harness_unavailable' };
  }
  const thread = result?.thread;
  if (!thread) return { code: 'harness_target_absent' };
  const child = Boolean(thread.parentThreadId ?? thread.parent_thread_id) || ofSubagent(thread.source);
  return child ? { code: 'harness_subagent_target' } : 'ok';
}

/** The source of a thread is a word, or an object whose only key is the kind. */
function ofSubagent(source: unknown): boolean {
  const kinds = typeof source === 'object' && source !== null ? Object.keys(source) : [String(source ?? '')];
  return kinds.some((kind) => /^sub.?agent/i.test(kind));
}
