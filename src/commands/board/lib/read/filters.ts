/** The flags that narrow which messages are read. Each is a field of the query by its name. */
import { booleanFlag, choiceFlag, stringFlag } from '../../../../cli/flags.ts';
import { flagWords } from '../../../../cli/list.ts';
import { taskRef } from '../../../task/lib/tasks.ts';

export const filterFlags = {
  from: stringFlag('NAME', 'Only messages of this member'),
  role: stringFlag('ROLE', 'Only messages of this role'),
  task: stringFlag('T', 'Only messages about this task', { char: 'T' }),
  'to-me': booleanFlag('Only messages to you'),
  roots: booleanFlag('Only messages that begin a thread'),
  has: choiceFlag(
    ['ask', 'answer', 'files', 'mention_me', 'awaits_me'],
    'Only messages with this; awaits_me: those that you still owe an answer',
  ),
};

type Name = keyof typeof filterFlags;
const names = Object.keys(filterFlags) as Name[];

export type FilterOptions = { [Flag in Name]?: string | boolean | undefined };

/** Fields of a query for messages. */
export type Filters = Record<string, string | boolean>;

/** The fields that the flags set ask for. @throws Failure for what cannot be a task. */
export function filtersOf(options: FilterOptions): Filters {
  const given = names.flatMap((name): [Name, string | true][] => (options[name] ? [[name, options[name]]] : []));
  return Object.fromEntries(given.map(([name, value]) => [name.replaceAll('-', '_'), fieldOf(name, value)]));
}

/** The flags as they are typed, with a space before each. */
export const filterWords = (options: FilterOptions): string => flagWords(options, names);

function fieldOf(name: Name, value: string | true): string | true {
  if (typeof value === 'string' && name === 'from') return value.replace(/^@/, '');
  return typeof value === 'string' && name === 'task' ? taskRef(value) : value;
}
