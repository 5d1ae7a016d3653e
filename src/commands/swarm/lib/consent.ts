/** Asks before programs of a `service.yaml` are started in a folder for the first time. */
import { dirname } from 'node:path';
import { shellArgument } from '../../../contract/text.ts';
import { fillPlaceholders } from '../../../harness/programs.ts';
import type { SwarmFile } from './file.ts';
import { isRunner, linesOf, type Planned } from './plan.ts';
import { allSwarms, filesOf } from './state.ts';

/** Whether anything was ever started from a file in this one's folder. */
export const startedBefore = ({ path }: SwarmFile): boolean =>
  allSwarms()
    .flatMap(filesOf)
    .some((file) => dirname(file) === dirname(path));

/** Each program with its words, and where it is run. */
export const startsOf = ({ path }: SwarmFile, agents: Planned[]): string[] => [
  `For the first time, ${path} would start:`,
  ...agents.map((agent) => {
    const words = [...linesOf(agent), ...added(agent)].map((word) => shellArgument(word)).join(' ');
    return `  ${agent.name}: ${words} (${agent.launcher}, in ${agent.dir})`;
  }),
];

/** What the file adds to the words of the program; those of any command are all its own. */
function added({ profile, model, args }: Planned): string[] {
  if (isRunner(profile)) return [];
  return [...(model === undefined ? [] : fillPlaceholders(profile.headless?.model ?? [], { model })), ...args];
}
