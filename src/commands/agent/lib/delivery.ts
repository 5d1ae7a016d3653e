/** Formats delivery modes, and resolves the agent that a command names. */
import type { BoardSession } from '../../../cli/session/open-session.ts';
import type { DeliveryMode, Member } from '../../../contract/types.ts';
import { Failure } from '../../../local/failure.ts';

const rules: Record<DeliveryMode, string> = {
  focused: 'woken only by what concerns it',
  all: 'woken by every message',
  humans: 'woken only by what people write',
  off: 'handed nothing',
};

/** The agent that asks. @throws Failure for a person, who has to name one. */
export async function ownName({ client, agent, board }: BoardSession): Promise<string> {
  if (agent) return (await client.call('getMe')).data.id;
  throw new Failure('agent_not_selected', 'No agent is named.', {
    hint: `service board agents --board ${board} lists them`,
  });
}

interface DeliveryRecord {
  agent: string;
  mode: DeliveryMode;
  revision: number;
  changed: boolean;
  /** What its daemon last said it applies; null: none ever said. */
  applied: DeliveryMode | null;
  /** The mode was set, and its daemon has not said yet that it applies it. */
  unconfirmed?: true;
}

/** A record from what was set and how the agent's daemon stands to it. */
export function deliveryRecord(
  { name, delivery: applied, delivery_mode, delivery_revision }: Member,
  changed: boolean,
): DeliveryRecord {
  const mode = delivery_mode ?? 'focused';
  return {
    agent: name,
    mode,
    revision: delivery_revision ?? 0,
    changed,
    applied,
    ...(applied === mode ? {} : { unconfirmed: true as const }),
  };
}

export function deliveryText({ agent, mode, applied }: DeliveryRecord, board: string): string {
  const still = applied === null || applied === mode ? '' : `, its daemon still applies ${applied}`;
  return `${agent} on ${board}: ${mode} (${rules[mode]})${still}`;
}
