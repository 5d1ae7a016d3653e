/** Who receives a message and which agents it wakes. Mirrors the rules of the server. */
import type { Board, Member, Message } from '../../contract/types.ts';
import { isAddressed, mentionsIn } from '../../contract/waking.ts';
import { formatCount } from '../parts/number.ts';

const isAway = ({ presence }: Member): boolean => presence === null || presence === 'no_session';

/** The active members of the board except the person themself. */
export const othersOn = (members: readonly Member[], me: string): Member[] =>
  members.filter(({ status, kind, name }) => status === 'active' && !(kind === 'human' && name === me));

/** Resolves targets to members. */
const membersOf = (to: readonly string[], others: readonly Member[]): Member[] =>
  others.filter((member) => isAddressed(to, member));

/** "claude and codex", or "claude, codex and 3 more". */
export function summarizeNames(names: readonly string[]): string {
  const shown = names.length > 3 ? [...names.slice(0, 2), `${names.length - 2} more`] : names;
  return shown.length < 2 ? (shown[0] ?? '') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}

/** "maya and 3 agents". */
export function summarizeMembers(members: readonly Member[]): string {
  const people = members.filter(({ kind }) => kind === 'human').map(({ name }) => name);
  const agents = members.filter(({ kind }) => kind === 'agent');
  const parts = people.length > 2 ? [formatCount(people.length, 'person', 'people')] : people;
  if (agents.length === 1) parts.push(agents[0]!.name);
  else if (agents.length > 1) parts.push(formatCount(agents.length, 'agent'));
  return parts.length === 0 ? 'nobody else yet' : summarizeNames(parts);
}

/** A target as text: "role reviewer", "dana’s agents" or a name. */
export const targetLabel = (target: string): string =>
  target.startsWith('role:')
    ? `role ${target.slice(5)}`
    : target.startsWith('owner:')
      ? `${target.slice(6)}’s agents`
      : target.replace('@', '');

/** The most members that mentions in one message add; the server's limit. */
const MAX_MENTIONS = 8;

/**
 * Describes which agents a message wakes now, which get it later, and which only when they ask. A person's message
 * wakes every recipient whose delivery mode is not `off`.
 */
export function describeWakes(to: readonly string[], text: string, others: readonly Member[], board: Board): string {
  const got = new Set(membersOf(to, others));
  if (board.policy.visibility === 'open') {
    const mentioned = membersOf(mentionsIn(text), others).filter((member) => !got.has(member));
    for (const member of mentioned.slice(0, MAX_MENTIONS)) got.add(member);
  }
  const agents = [...got].filter(({ kind }) => kind === 'agent');
  const off = agents.filter(({ delivery_mode }) => delivery_mode === 'off');
  const awake = agents.filter((agent) => !off.includes(agent) && !isAway(agent));
  const later = agents.filter((agent) => !off.includes(agent) && isAway(agent));
  const names = (members: Member[]): string => summarizeNames(members.map(({ name }) => name));
  return [
    awake.length > 0 && `Wakes ${names(awake)}`,
    later.length > 0 && `${awake.length > 0 ? '' : 'Reaches '}${names(later)} later`,
    off.length > 0 && `${names(off)} ${off.length === 1 ? 'looks' : 'look'} when asked`,
  ]
    .filter(Boolean)
    .join('; ');
}

/** Whom the server sends a reply to by default: who wrote in the thread or was addressed by name. Empty: it takes none. */
export function replyTargets(thread: readonly Message[], others: readonly Member[]): string[] {
  const named = new Set(thread.flatMap(({ from, to }) => [`@${from.name}`, ...to]));
  return [...named].filter((target) => others.some(({ name }) => target === `@${name}`));
}
