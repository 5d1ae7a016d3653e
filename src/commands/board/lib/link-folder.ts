/** Links a folder to a board. */
import { dirname } from 'node:path';
import { runtime } from '../../../cli/runtime.ts';
import { linkedBoard, type ServerInUse } from '../../../cli/session/board.ts';
import { findProject, projectContent, writeProject } from '../../../local/project.ts';
import { homeFolder } from '../../../local/upward.ts';

/** Links a folder that has no link yet. Never the home folder: that would be a default for everything below it. */
export function linkIfUnlinked(at: ServerInUse, board: string): { linked: boolean; stays_linked?: string } {
  const found = findProject();
  if (found) {
    const said = projectContent(found);
    if (linkedBoard(at, said) === board) return { linked: true };
    return { linked: false, ...(said ? { stays_linked: said.board } : {}) };
  }
  const here = process.cwd();
  if (here === homeFolder(runtime().env.HOME) || dirname(here) === here) return { linked: false };
  try {
    writeProject(here, at.server.url, board);
    return { linked: true };
  } catch {
    // A folder that cannot be written is simply not linked; the board exists all the same.
    return { linked: false };
  }
}
