/** Lists the commands that only read. A subagent may run no others, whatever `--as` says. */

export interface Given {
  flags: Record<string, unknown>;
  args: Record<string, unknown>;
}

type Rule = true | ((given: Given) => boolean);

/** Shows with none of these. */
const without =
  (...names: string[]): Rule =>
  ({ flags, args }) =>
    names.every((name) => !flags[name] && !args[name]);

const rules: Record<string, Rule> = {
  agents: true,
  'agent:show': true,
  'agent:delivery': without('mode'),
  asks: true,
  'audit:verify': true,
  'board:agents': true,
  'board:charter': without('set', 'file', 'edit'),
  'board:list': true,
  'board:members': true,
  'board:message': true,
  'board:owners': without('add', 'remove'),
  'board:people': true,
  'board:policy': without('set', 'preset'),
  'board:read': without('mark-read'),
  'board:receipts': true,
  'board:roles': without('set', 'remove'),
  'board:search': true,
  'board:show': true,
  'board:templates': true,
  'board:thread': true,
  'board:threads': true,
  'board:watch': true,
  'brief:get': true,
  'brief:show': true,
  doctor: true,
  'file:diff': true,
  'file:get': true,
  'file:list': true,
  'file:show': true,
  help: true,
  inbox: ({ flags }) => flags.peek === true,
  'server:info': true,
  status: ({ flags }) => !flags.launch,
  'task:history': true,
  'task:list': true,
  'task:show': true,
  version: true,
  whoami: true,
};

/** The commands that are, in some form, for subagents too. */
export const readOnlyCommands = Object.keys(rules);

/** Whether this call of the command changes nothing. */
export function onlyReads(id: string, given: Given): boolean {
  const rule = rules[id];
  return rule === true || (rule?.(given) ?? false);
}
