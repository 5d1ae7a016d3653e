/** Names and formats the settings of a server. */
import type { Settings } from '../../../contract/types.ts';

/** Names and values as the flags of `settings set` have them. */
export const settingRows = (settings: Settings): [string, string][] => [
  ['board-creation', settings.board_creation],
  ['agents-add-people', settings.agents_add_people ? 'on' : 'off'],
];

/** One line per setting that is another one now. */
export function settingChanges(before: Settings, after: Settings): string[] {
  const former = new Map(settingRows(before));
  return settingRows(after)
    .filter(([name, value]) => former.get(name) !== value)
    .map(([name, value]) => `${name}: ${former.get(name)} -> ${value}`);
}
