/** A new charter: typed, from a file, or edited. */

import type { BoardSession } from '../../../cli/base.ts';
import type { Output } from '../../../cli/output.ts';
import { readWhole } from '../../../cli/stdin.ts';
import { Failure, usage } from '../../../local/failure.ts';
import { readBoard } from './settings.ts';

export interface CharterOptions {
  set?: string | undefined;
  file?: string | undefined;
  edit?: boolean;
}

export interface CharterSource {
  session: BoardSession;
  /** As it was read. */
  charter: string;
  options: CharterOptions;
  out: Output;
  noInput: boolean;
}

/** The charter that is wished for; undefined: it is only to be shown. */
export async function newCharter(source: CharterSource): Promise<string | undefined> {
  const { options, charter, out } = source;
  const ways = [options.set !== undefined, options.file !== undefined, options.edit === true].filter(Boolean).length;
  if (ways > 1) throw usage('Give one of --set, --file and --edit.');
  if (options.file !== undefined) return readWhole(options.file, out, 'a charter');
  if (!options.edit) return options.set;
  const { edit } = await import('../../../cli/editor.ts');
  const edited = await edit(charter, 'charter.md');
  if (edited !== charter) await requireUnmoved(source);
  return edited;
}

/** Somebody may have changed it while the editor was open. */
async function requireUnmoved({ session, charter, out, noInput }: CharterSource): Promise<void> {
  if ((await readBoard(session)).charter === charter) return;
  const { askYes, mayAsk } = await import('../../../cli/prompts.ts');
  if (mayAsk(out, noInput)) {
    await askYes('Somebody changed the charter meanwhile. Replace it with yours?');
    return;
  }
  throw new Failure('stale', 'Somebody changed the charter meanwhile, so nothing was sent.', {
    hint: `See what it is now: service board charter --board ${session.board}`,
    exit: 7,
  });
}
