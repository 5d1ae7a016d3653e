/** What a session asks its person, as far as its program tells its hooks, and where its person can answer. */
import { spawnSync } from 'node:child_process';
import type { NeedsPerson } from '../daemon/refs.ts';
import { eventOf } from './ask.ts';
import type { Context } from './context.ts';
import type { HookInput } from './input.ts';

const MOST = 2_000;
const TMUX_MS = 500;

/** The fields of a tool's input that say most about what it would do, the first of them that is there. */
const TELLING = ['command', 'file_path', 'notebook_path', 'url', 'query', 'path', 'pattern', 'description'];

/** A notification that asks for nothing in particular is a question. */
export function needOf(context: Context): NeedsPerson {
  const { input } = context;
  const kind = `${eventOf(context)} ${String(input.notification_type ?? '')}`;
  const asks = questionsIn(input.tool_input);
  const question = oneLine(asks || toolIn(input) || messageIn(input));
  const where = whereIs(context);
  return {
    for: asks === '' && /permission/i.test(kind) ? 'permission' : 'question',
    ...(question === '' ? {} : { question }),
    ...(where === '' ? {} : { where }),
  };
}

/** Of a tool by which the agent asks its person. */
function questionsIn(input: unknown): string {
  const asked = (input as { questions?: unknown } | undefined)?.questions;
  if (!Array.isArray(asked)) return '';
  return asked.flatMap((one) => (typeof one?.question === 'string' ? [one.question] : [])).join(' / ');
}

/** `Bash: mkdir build` */
function toolIn({ tool_name: name, tool_input: input }: HookInput): string {
  if (typeof name !== 'string') return '';
  const fields = (input ?? {}) as Record<string, unknown>;
  const telling = TELLING.map((field) => fields[field]).find((value) => typeof value === 'string' && value !== '');
  return telling === undefined ? name : `${name}: ${telling}`;
}

/** What a tool server or a helper asks. The other notifications only say that something is asked. */
function messageIn({ message, mcp_server_name: server, notification_type: type }: HookInput): string {
  if (typeof message !== 'string') return '';
  if (typeof server === 'string') return `${server}: ${message}`;
  return type === 'worker_permission_prompt' ? message : '';
}

const oneLine = (text: string): string => [...text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()].slice(0, MOST).join('');

/** The pane of tmux; empty elsewhere, and for a program whose hooks run apart from its terminal. */
function whereIs({ profile, env }: Context): string {
  const { TMUX_PANE: pane = '' } = env;
  if (profile.lifecycle.outlives_terminal || !env['TMUX'] || !/^%\d+$/.test(pane)) return '';
  const named = spawnSync('tmux', ['display-message', '-p', '-t', pane, '#S:#I.#P'], {
    encoding: 'utf8',
    timeout: TMUX_MS,
    env: env as NodeJS.ProcessEnv,
  });
  const name = named.status === 0 ? named.stdout.trim() : '';
  return `tmux ${name || pane}`.slice(0, 200);
}
