/** One hook, from the harness's event to what it prints. */
import { asContext, asking, eventOf, hand } from './ask.ts';
import type { Context } from './context.ts';
import { editedFiles } from './edited.ts';
import { isHeadless } from './headless.ts';
import { marksOf, textOf } from './input.ts';
import { type Plan, planOf } from './plan.ts';
import { needOf } from './question.ts';
import { write } from './say.ts';
import { startSession } from './session-start.ts';
import { markedInput, subagentOf } from './subagent.ts';
import { waitForDelivery } from './wait.ts';

/** Exit code of the hook: 2 only for what a waiting hook delivers. */
export async function runHook(context: Context): Promise<0 | 2> {
  const { hook, profile, input } = context;
  if (hook.op === 'mark-subagent') return mark(context);
  // Events inside a subagent do not belong to the session.
  if (subagentOf(profile, input)) return 0;
  if (hook.op === 'wait') return isHeadless(profile, context.env) ? turnOver(context) : waitForDelivery(context);
  await plain[hook.op](context);
  return 0;
}

const plain: Record<Exclude<Context['hook']['op'], 'wait' | 'mark-subagent'>, (context: Context) => Promise<void>> = {
  'session-start': startSession,
  prompt: (context) =>
    asking(context, 'turn_start', { ...context.header, ...marksOf(context.input.prompt) }, (carry, connection) =>
      hand(carry, connection, asContext(context)),
    ),
  'turn-end': (context) =>
    asking(
      context,
      'turn_end',
      { ...context.header, stop_active: context.input.stop_hook_active === true },
      (carry, connection) => hand(carry, connection, (reason) => JSON.stringify({ decision: 'block', reason })),
    ),
  tool: boundary,
  'needs-person': (context) => {
    const { for: what, ...asked } = needOf(context);
    return asking(context, 'needs_person', { ...context.header, what, ...asked }, done);
  },
  end: (context) => {
    const reason = textOf(context.input.reason, 200);
    return asking(context, 'end', { ...context.header, ...(reason ? { reason } : {}) }, done);
  },
};

/** What came during the turn waits for the session's next prompt. */
async function turnOver(context: Context): Promise<0> {
  await asking(context, 'turn_end', { ...context.header, stop_active: false }, done);
  return 0;
}

async function done(): Promise<void> {}

async function boundary(context: Context): Promise<void> {
  const { profile, header, input, claims } = context;
  const peers = profile.delivery.capabilities.includes('midturn-peer');
  const asked = claims ? { claims, files: editedFiles(profile, input) } : {};
  const fields = { ...header, capabilities: peers ? ['midturn-peer'] : [], ...asked };
  await asking(context, 'boundary', fields, (carry, connection) => hand(carry, connection, asContext(context)));
  const plan = planOf(profile, input);
  if (plan) await tellPlan(context, plan);
}

function tellPlan(context: Context, plan: Plan): Promise<void> {
  return asking(context, 'plan', { ...context.header, plan }, done);
}

async function mark(context: Context): Promise<0> {
  const updatedInput = markedInput(context.profile, context.input);
  if (updatedInput)
    await write(
      process.stdout,
      `${JSON.stringify({ hookSpecificOutput: { hookEventName: eventOf(context), updatedInput } })}\n`,
    );
  return 0;
}
