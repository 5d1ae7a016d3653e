/** Which values are known only here and now: what a flag or an argument names. */
import type { CatalogCommand, CatalogFlag } from '../../../cli/help/catalog.ts';

export type Kind =
  | 'agents'
  | 'boards'
  | 'files'
  | 'harnesses'
  | 'keys'
  | 'members'
  | 'people'
  | 'servers'
  | 'targets'
  | 'tasks';

const flags: Record<string, Kind> = {
  add: 'people',
  agent: 'agents',
  as: 'agents',
  board: 'boards',
  file: 'files',
  from: 'members',
  harness: 'harnesses',
  key: 'keys',
  remove: 'people',
  server: 'servers',
  task: 'tasks',
  to: 'targets',
};

const byCommand: Record<string, Kind> = {
  'agent:remove': 'agents',
  'agent:resume': 'agents',
  'agent:show': 'agents',
  'board:archive': 'boards',
  'board:delete': 'boards',
  'board:link': 'boards',
  'board:remove': 'people',
  'board:restore': 'boards',
  'harness:test': 'harnesses',
  'key:revoke': 'keys',
  login: 'servers',
  logout: 'servers',
  'servers:forget': 'servers',
  'servers:name': 'servers',
  'servers:use': 'servers',
};
/** Topics whose commands name one thing first. */
const byTopic: Record<string, Kind> = { file: 'files', task: 'tasks' };
/** Their commands that name something new, or something of this machine. */
const none = new Set(['file:put', 'task:new']);

/** What the value of this flag names; null where any text may stand. */
export const kindOfFlag = (name: string): Kind | null => flags[name] ?? null;

/** What the first argument of this command names. */
export function kindOfArgument({ id, args, boardFirst }: CatalogCommand): Kind | null {
  if (boardFirst && Object.keys(args).length === 0) return 'boards';
  if (none.has(id)) return null;
  return byCommand[id] ?? byTopic[id.split(':')[0]!] ?? null;
}

/** Whether the value of this flag is a file or folder of this machine. */
export const isPathOfFlag = ({ name, helpValue }: CatalogFlag): boolean =>
  name !== 'name' && /PATH|DIR/.test(helpValue ?? '');

/** Whether an argument of this command is one. */
export const takesPath = ({ id, args }: CatalogCommand): boolean =>
  'path' in args || ['file:diff', 'harness:test', 'run'].includes(id);
