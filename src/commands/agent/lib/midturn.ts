/** Formats the policy for messages in the middle of a turn, and resolves the local agent. */
import { runtime } from '../../../cli/runtime.ts';
import type { Answer, MidturnPolicy } from '../../../contract/types.ts';
import { chooseActor, type Seat } from '../../../local/actors.ts';
import { usage } from '../../../local/failure.ts';
import { readCredentials } from '../../../local/keys/credentials.ts';

const rules: Record<MidturnPolicy, string> = {
  'owner-only': 'in the middle of a turn only what their person writes reaches them',
  'my-agents': "in the middle of a turn urgent messages of their person's other agents reach them too",
};

/** What to set: null takes the exception of one agent back. */
export function midturnOptions(word: string, agent: string | undefined): MidturnPolicy | null {
  if (word !== 'default') return word === 'owner-only' ? 'owner-only' : 'my-agents';
  if (agent !== undefined) return null;
  throw usage('default is for one agent, which then follows what holds for all of yours.', 'Name it with --as AGENT');
}

/** The agent that `--as` names, among those this machine holds; the person says what holds for it. */
export function agentMeant(as: string, board: string | undefined): Seat {
  const { env, folders } = runtime();
  const actor = chooseActor({ as, board, serverOrigin: undefined }, () => readCredentials(folders), env);
  if (actor.kind !== 'seat') throw new Error('--as names a seat');
  return actor.seat;
}

/** @param agent whose it is; null: all agents of the person. */
export function midturnText(answer: Answer<'getMidturnPolicy'>, agent: string | null): string {
  const { policy, source, changed, overrides = [] } = answer;
  const whose = agent ?? 'Your agents';
  const how = agent === null ? '' : source === 'agent_override' ? ', an exception' : ', as for all of its person';
  const news = changed === undefined ? '' : changed ? ' now' : ', as before';
  const exceptions = agent === null ? overrides.map((one) => `Except ${nameOf(one.member_id)}: ${one.policy}`) : [];
  return [`${whose}: ${policy}${news}${how} (${rules[policy]})`, ...exceptions].join('\n');
}

/** What this machine calls an agent; its id where the agent lives elsewhere. */
function nameOf(memberId: string): string {
  for (const { seats } of Object.values(readCredentials(runtime().folders).servers)) {
    const seat = seats[memberId];
    if (seat) return `${seat.name} on ${seat.board}`;
  }
  return memberId;
}
