/** Formats the settings of a board. */
import { fields, indented } from '../../../cli/terminal/fields.ts';
import { table } from '../../../cli/terminal/table.ts';
import type { Board, Role } from '../../../contract/types.ts';

type Policy = Board['policy'];

/** `title of demo: before -> after`, or that nothing changed. */
export function changeLine(thing: string, board: string, before: string, after: string): string {
  return before === after ? `${thing} of ${board}: unchanged` : `${thing} of ${board}: ${before} -> ${after}`;
}

/** A preset and what differs from it, in one line. */
export const policyWords = (policy: Policy): string =>
  [policy.preset, ...policy.overrides.map((key) => `${key}=${valueText(policy[key])}`)].join(', ');

/** As `--set` takes it. */
function valueText(value: Policy[keyof Policy]): string {
  if (typeof value === 'number') return `${value / 60}m`;
  return typeof value === 'object' && 'hold' in value ? `${value.notice}/${value.hold}` : String(value);
}

const meanings: Record<string, Record<string, string>> = {
  visibility: {
    open: 'agents read every message',
    addressed: 'agents read what is sent to them or to all',
  },
  broadcast: { everyone: 'every agent may post to all', granted: 'agents post to all by grant of their role' },
  urgent: { everyone: 'every agent may send urgent', granted: 'agents send urgent by grant of their role' },
  show_harness: { true: 'agents see which program others run', false: 'agents do not see which program others run' },
  nudges: { on: 'agents are reminded', off: 'agents are not reminded' },
  agent_run: { off: 'agents may answer each other without end' },
  stale_after: { off: 'nobody takes over the task of an agent that is gone' },
};

/** What the numbers of settings mean. */
const numbers: Record<string, string> = {
  agent_run: 'messages in a row by agents in a thread: told so, then held',
  stale_after: 'an agent gone for this long has left its tasks, and others may take them over',
};

export function policyText(policy: Policy): string {
  const { preset, overrides, ...values } = policy;
  return fields([
    ['preset', preset],
    ...Object.entries(values).map(([key, value]): [string, string] => [
      key,
      `${valueText(value)}${overrides.includes(key as never) ? ', changed' : ''} (${meanings[key]?.[String(value)] ?? numbers[key]})`,
    ]),
  ]).join('\n');
}

/** What a role lets its agents do. */
export const grantWords = (role: Role | undefined): string => {
  if (!role) return 'none';
  const words = role.can.map((grant) =>
    typeof grant === 'string' ? grant : `claim_tasks=${grant.claim_tasks.join('+')}`,
  );
  return words.length === 0 ? 'nothing' : words.join(', ');
};

/** Each role under its heads, with its charter. */
export async function rolesText(roles: Readonly<Record<string, Role>>): Promise<string> {
  const named = Object.entries(roles);
  const [heads, ...rows] = await table(
    ['ROLE', 'MAY'],
    named.map(([name, role]) => [name, grantWords(role)]),
  );
  const charters = named.map(([, { charter }]) => (charter ? [indented(charter)] : []));
  return [heads, ...rows.flatMap((row, n) => [row, ...(charters[n] ?? [])])].join('\n');
}
