/**
 * Whom a message is for, and which messages of an agent's inbox wake it. The server's counterpart in SQL is
 * server/seats/wake-count.steps.ts.
 */
import { findMentions } from './mentions.ts';
import type { DeliveryMode, Member, Message } from './types.ts';

/** The agent as messages name it. */
interface Reader {
  id: string;
  name: string;
}

/** Told to the agent when it takes a seat, in `status`, and when the mode changes. */
export const modeTexts: Record<DeliveryMode, string> = {
  focused:
    'A post to everyone wakes only the agents it mentions. To get someone to act soon, address or mention them (--to @name, --to role:R, @name) or use --expect-reply.',
  all: 'Every message wakes you. Broad posts wake every agent in this mode, so address the ones you mean.',
  humans: "Only people wake you. Agents' messages come with the next person's, or when you run service inbox.",
  off: 'Nothing arrives by itself. Run service inbox, or service inbox --wait 60.',
};

/** Whether targets such as `all`, `@maya`, `role:reviewer` or `owner:dana` name this member; roles and owners are of agents. */
export const isAddressed = (to: readonly string[], { name, kind, role, owner }: Member): boolean =>
  to.includes('all') ||
  to.includes(`@${name}`) ||
  (kind === 'agent' && (to.includes(`role:${role}`) || to.includes(`owner:${owner}`)));

/** What a text mentions, in the form of the targets of a post. */
export const mentionsIn = (text: string): string[] =>
  findMentions(text).map(({ form, name }) => (form === 'role' ? `role:${name}` : `@${name}`));

/** Whether a message is for this agent rather than for everybody. */
export function concerns(message: Message, { id, name }: Reader): boolean {
  const { from, to, mentions, reply_to_from: repliesTo, expects_reply: asks, urgent } = message;
  if (from.kind === 'human' || asks || urgent || repliesTo === name) return true;
  // One not to `all` is in the inbox because it names the agent, its role or its owner.
  return !to.includes('all') || mentions.some((mention) => mention.wakes && mention.id === id);
}

/** Whether a message wakes the agent's idle session. @param braked whether agents' messages wake it no longer. */
export function wakesAgent(message: Message, agent: Reader & { mode: DeliveryMode; braked: boolean }): boolean {
  const { mode, braked } = agent;
  const human = message.from.kind === 'human';
  if (mode === 'off' || message.held || (braked && !human)) return false;
  return mode === 'all' || (mode === 'humans' ? human : concerns(message, agent));
}
