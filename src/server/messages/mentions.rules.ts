/** Mentions in a message: whom they mean, and whether they wake them. */
import type { FoundMention } from '../../contract/mentions.ts';
import type { Mention } from '../../contract/types.ts';

/** How many agents one message can wake by mentioning them. */
const MAX_WAKING_MENTIONS = 8;

export interface MentionContext {
  /** Never mentioned by their own message. */
  senderId: string;
  /** The active member of a name. */
  members: (name: string) => { id: string; kind: 'agent' | 'human'; name: string } | undefined;
  /** The active agents of a role in join order; undefined when the board has no such role. */
  roleAgents: (role: string) => readonly { id: string; name: string }[] | undefined;
  /** Whether a member may read the message that mentions them. */
  mayRead: (memberId: string) => boolean;
}

/**
 * Whom the mentions mean: each member once, in order of first mention. Forms without a target stay text. The first
 * eight agents that may read the message are woken; people read without being woken.
 */
export function resolveMentions(found: readonly FoundMention[], context: MentionContext): Mention[] {
  const mentions: Mention[] = [];
  const seen = new Set([context.senderId]);
  let woken = 0;

  const add = (member: { id: string; name: string }, kind: Mention['kind'], text: string): void => {
    if (seen.has(member.id)) return;
    seen.add(member.id);
    let reason: Mention['reason'] = null;
    if (kind === 'agent') {
      if (!context.mayRead(member.id)) reason = 'cannot_read';
      else if (woken >= MAX_WAKING_MENTIONS) reason = 'limit';
      else woken++;
    }
    const wakes = kind === 'agent' && reason === null;
    mentions.push({ id: member.id, kind, name: member.name, text, wakes, reason });
  };

  for (const { form, name, text } of found) {
    if (form === 'role') {
      for (const agent of context.roleAgents(name) ?? []) add(agent, 'agent', text);
    } else {
      const member = context.members(name);
      if (member) add(member, member.kind, text);
    }
  }
  return mentions;
}
