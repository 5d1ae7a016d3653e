/** The prefix a board's tasks are numbered under. */
import { Refusal } from '../../contract/errors.ts';
import type { Setting } from '../boards/acting.steps.ts';
import { prefixHolder } from '../boards/prefixes.store.ts';
import { setTaskPrefix } from '../boards/settings.steps.ts';
import { defaultPrefixes } from './references.rules.ts';

/** The board's prefix; with its first task it gets one from its name. @throws Refusal `task_prefix_taken` when none is left. */
export async function prefixOf(setting: Setting): Promise<string> {
  const { tx, board } = setting;
  if (board.task_prefix !== null) return board.task_prefix;
  for (const prefix of defaultPrefixes(board.name)) {
    if ((await prefixHolder(tx, prefix)) !== undefined) continue;
    await setTaskPrefix(setting, prefix);
    return prefix;
  }
  throw new Refusal('task_prefix_taken', 'Every prefix that could be made of the name of this board is taken.', {
    hint: 'A board owner can choose one: service board prefix PREFIX.',
  });
}
