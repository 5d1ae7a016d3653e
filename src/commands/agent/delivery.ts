import { z } from 'zod';
import { optionalChoice, WriteCommand } from '../../cli/base.ts';
import { tellMode } from '../../cli/session/ask-daemon.ts';
import { requireOutside, without } from '../../cli/session/here.ts';
import { savedSeat } from '../../cli/session/own-seats.ts';
import { count, flag, object, text } from '../../cli/shapes.ts';
import type { DeliveryMode, Member } from '../../contract/types.ts';
import { usage } from '../../local/failure.ts';
import { agentNamed, holdsSeat, ownName } from './lib/own-agent.ts';

export const json = () =>
  object({
    agent: text,
    mode: text,
    revision: count,
    changed: flag,
    applied: text.nullable(),
    unconfirmed: z.literal(true).optional(),
  });

export default class AgentDelivery extends WriteCommand<typeof AgentDelivery> {
  static override readOnly = without('mode');
  static override aliases = ['delivery'];
  static override summary = 'Show or set which messages wake an agent';
  static override description =
    'focused (as it begins): what concerns it. all: every message. humans: what people write. off: nothing is handed to it;\nits inbox fills as always. Only its person sets it, and --as names the agent.';
  static override examples = ['service agent delivery --as codex', 'service agent delivery humans --as codex'];
  static override seeAlso = ['agent midturn', 'agent show', 'inbox'];
  static override args = { mode: optionalChoice('What wakes it from now on', ['focused', 'all', 'humans', 'off']) };

  override async run(): Promise<void> {
    const { mode } = this.args;
    if (mode === undefined) return this.show();
    const { as } = this.globals;
    // The person acts, where the agent is.
    this.globals.as = undefined;
    const named = as === undefined ? `${this.line()} --as AGENT` : this.line();
    // Of another agent the line for its person has to name the board and server, which follows below.
    if (as === undefined || holdsSeat(as, this.globals)) requireOutside(named);
    if (as === undefined) throw usage('Name the agent with --as AGENT.', named);
    const member = agentNamed(as, this.globals);
    const { client, board, server } = await this.onBoard('P');
    const params = { board, member };
    const { data, again } = await this.write(client, 'setDeliveryMode', {
      params,
      body: { mode },
    });
    const { data: agent } = await client.call('getMember', { params });
    const record = deliveryRecord(agent, data.changed);
    const seat = savedSeat(server.url, agent.id);
    if (seat) await tellMode(seat, record.mode, record.revision);
    this.print<typeof json>(record, () => `${deliveryText(record, board)}${again}`);
  }

  private async show(): Promise<void> {
    const session = await this.onBoard('A');
    const member = await ownName(session);
    const { data: agent } = await session.client.call('getMember', { params: { board: session.board, member } });
    const record = deliveryRecord(agent, false);
    this.print<typeof json>(record, () => deliveryText(record, session.board));
  }
}

const rules: Record<DeliveryMode, string> = {
  focused: 'woken only by what concerns it',
  all: 'woken by every message',
  humans: 'woken only by what people write',
  off: 'handed nothing',
};

/** A record from what was set and how the agent's daemon stands to it. */
function deliveryRecord({ name, delivery: applied, delivery_mode, delivery_revision }: Member, changed: boolean) {
  const mode = delivery_mode ?? 'focused';
  const unconfirmed = applied === mode ? {} : { unconfirmed: true as const };
  return { agent: name, mode, revision: delivery_revision ?? 0, changed, applied, ...unconfirmed };
}

export function deliveryText({ agent, mode, applied }: ReturnType<typeof deliveryRecord>, board: string): string {
  const still = applied === null || applied === mode ? '' : `, its daemon still applies ${applied}`;
  return `${agent} on ${board}: ${mode} (${rules[mode]})${still}`;
}
