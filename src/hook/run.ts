/** One hook, from the harness's event to what it prints. */
import type { Profile } from '../harness/profile.ts';
import type { Env } from '../local/folders.ts';
import { asContext, eventOf, request } from './ask.ts';
import { type Context, contextOf, type Started } from './context.ts';
import { parseMarks, textOf } from './input.ts';
import { needOf } from './question.ts';
import { deliver, write } from './say.ts';
import { startSession } from './session-start.ts';
import { markedInput, subagentOf } from './subagent.ts';
import { editedFiles, planOf } from './tool-calls.ts';
import { waitForDelivery } from './wait.ts';

/** Runs a hook. @returns the exit code: 2 only for a delivery by a waiting hook */
export async function runHook(started: Started): Promise<0 | 2> {
  const { hook, profile, input } = started;
  // Before anything is looked at that a mark does not need, and that could fail.
  if (hook.op === 'mark-subagent') return mark(started);
  // Events inside a subagent do not belong to the session.
  if (subagentOf(profile, input)) return 0;
  const context = contextOf(started);
  if (!context) return 0;
  if (hook.op === 'wait') return isHeadless(profile, context.env) ? reportTurnEnd(context) : waitForDelivery(context);
  await handlers[hook.op](context);
  return 0;
}

const handlers: Record<
  Exclude<Context['hook']['op'], 'wait' | 'mark-subagent'>,
  (context: Context) => Promise<unknown>
> = {
  'session-start': startSession,
  prompt: (context) =>
    request(context, 'turn_start', { ...context.header, ...parseMarks(context.input.prompt) }, (carry, connection) =>
      deliver(carry, connection, asContext(context)),
    ),
  'turn-end': (context) =>
    request(
      context,
      'turn_end',
      { ...context.header, stop_active: context.input.stop_hook_active === true },
      (carry, connection) => deliver(carry, connection, (reason) => JSON.stringify({ decision: 'block', reason })),
    ),
  tool: boundary,
  'needs-person': (context) => {
    const { for: what, ...asked } = needOf(context);
    return request(context, 'needs_person', { ...context.header, what, ...asked }, ignoreAnswer);
  },
  end: (context) => {
    const reason = textOf(context.input.reason, 200);
    return request(context, 'end', { ...context.header, ...(reason ? { reason } : {}) }, ignoreAnswer);
  },
};

/** Reports the end of a turn of a headless session; messages wait for its next prompt. */
async function reportTurnEnd(context: Context): Promise<0> {
  await request(context, 'turn_end', { ...context.header, stop_active: false }, ignoreAnswer);
  return 0;
}

async function ignoreAnswer(): Promise<void> {}

async function boundary(context: Context): Promise<void> {
  const { profile, header, input, claims } = context;
  const peers = profile.delivery.capabilities.includes('midturn-peer');
  const asked = claims ? { claims, files: editedFiles(profile, input) } : {};
  const fields = { ...header, capabilities: peers ? ['midturn-peer'] : [], ...asked };
  await request(context, 'boundary', fields, (carry, connection) => deliver(carry, connection, asContext(context)));
  const plan = planOf(profile, input);
  if (plan) await request(context, 'plan', { ...header, plan }, ignoreAnswer);
}

async function mark(started: Started): Promise<0> {
  const updatedInput = markedInput(started.profile, started.input);
  if (updatedInput)
    await write(
      process.stdout,
      `${JSON.stringify({ hookSpecificOutput: { hookEventName: eventOf(started), updatedInput } })}\n`,
    );
  return 0;
}

/** How hooks detect a session for a single prompt. Its program ends only after its hooks, so these must not wait. */
const headlessChecks: Record<string, (env: Env) => boolean> = {
  // `sdk-…` for `claude -p` and programs that use its SDK; `cli` in a terminal; editors have other names.
  'claude-code': ({ CLAUDE_CODE_ENTRYPOINT: entry }) => entry?.startsWith('sdk-') ?? false,
};

const isHeadless = ({ harness }: Profile, env: Env): boolean => headlessChecks[harness]?.(env) ?? false;
