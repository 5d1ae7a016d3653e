/** What a session asks its person, from the hook's input, and where the person can answer. */
import type { NeedsPerson } from '../daemon/refs.ts';
import { eventOf } from './ask.ts';
import type { Context } from './context.ts';
import { type HookInput, oneLine } from './input.ts';

const MAX_LENGTH = 2_000;
const TMUX_TIMEOUT_MS = 500;

/** Fields of a tool's input that describe the call best, in order of preference. */
const DESCRIPTIVE_FIELDS = ['command', 'file_path', 'notebook_path', 'url', 'query', 'path', 'pattern', 'description'];

/** What the session needs; a notification without details counts as a question. */
export function needOf(context: Context): NeedsPerson {
  const { input } = context;
  const kind = `${eventOf(context)} ${String(input.notification_type ?? '')}`;
  const asks = questionsIn(input.tool_input);
  const question = oneLine(asks || toolIn(input) || messageIn(input), MAX_LENGTH);
  const where = whereIs(context);
  return {
    for: asks === '' && /permission/i.test(kind) ? 'permission' : 'question',
    ...(question === '' ? {} : { question }),
    ...(where === '' ? {} : { where }),
  };
}

/** The questions in the input of a tool that asks the person. */
function questionsIn(input: unknown): string {
  const asked = (input as { questions?: unknown } | undefined)?.questions;
  if (!Array.isArray(asked)) return '';
  return asked.flatMap((one) => (typeof one?.question === 'string' ? [one.question] : [])).join(' / ');
}

/** `Bash: mkdir build` */
function toolIn({ tool_name: name, tool_input: input }: HookInput): string {
  if (typeof name !== 'string') return '';
  const fields = (input ?? {}) as Record<string, unknown>;
  const telling = DESCRIPTIVE_FIELDS.map((field) => fields[field]).find(
    (value) => typeof value === 'string' && value !== '',
  );
  return telling === undefined ? name : `${name}: ${telling}`;
}

/** The question of an MCP server or a worker. Other notifications only say that something is asked. */
function messageIn({ message, mcp_server_name: server, notification_type: type }: HookInput): string {
  if (typeof message !== 'string') return '';
  if (typeof server === 'string') return `${server}: ${message}`;
  return type === 'worker_permission_prompt' ? message : '';
}

/** The tmux pane; empty outside tmux, and for a program whose hooks do not run in its terminal. */
function whereIs({ profile, env }: Context): string {
  const { TMUX_PANE: pane = '' } = env;
  if (profile.lifecycle.outlives_terminal || !env['TMUX'] || !/^%\d+$/.test(pane)) return '';
  // Few hooks need it, and it takes a part of each start.
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const named = spawnSync('tmux', ['display-message', '-p', '-t', pane, '#S:#I.#P'], {
    encoding: 'utf8',
    timeout: TMUX_TIMEOUT_MS,
    env: env as NodeJS.ProcessEnv,
  });
  const name = named.status === 0 ? named.stdout.trim() : '';
  return `tmux ${name || pane}`.slice(0, 200);
}
