/** The completion script of a shell: the table as its own data, and a few lines that walk it. */
import type { Catalog } from '../../../cli/help/catalog.ts';
import { fishScript, powershellScript } from './other-shells.ts';
import { bashScript, zshScript } from './posix.ts';
import { completionTable } from './table.ts';

export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type Shell = (typeof shells)[number];

/** The script; the same manifest always gives the same one. */
export function completionScript(shell: Shell, catalog: Catalog): string {
  const table = completionTable(catalog);
  if (shell === 'bash') return bashScript(table);
  if (shell === 'zsh') return zshScript(table);
  return shell === 'fish' ? fishScript(table) : powershellScript(table);
}
