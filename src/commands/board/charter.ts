import { writeFileSync } from 'node:fs';
import { booleanFlag, stringFlag, WriteCommand } from '../../cli/base.ts';
import { called } from '../../cli/runtime.ts';
import { without } from '../../cli/session/here.ts';
import type { BoardSession } from '../../cli/session/open-session.ts';
import { flag, object, text } from '../../cli/shapes.ts';
import { readWhole } from '../../cli/stdin.ts';
import { shellArgument } from '../../contract/text.ts';
import { Failure, usage } from '../../local/failure.ts';
import { type Problem, pathOfCopy, withCopy } from '../file/lib/kept-text.ts';
import { readBoard } from './lib/settings.ts';
import { changeLine } from './lib/settings-text.ts';

export const json = () => object({ charter: text, changed: flag });

export default class BoardCharter extends WriteCommand<typeof BoardCharter> {
  static override boardFirst = true;
  static override readOnly = without('set', 'file', 'edit');
  static override summary = 'Show or set what a board is for and how its members work together';
  static override description =
    'For owners, and for agents whose role may edit it. Every agent is given it when it joins. --edit opens it in $EDITOR.';
  static override examples = [
    'service board charter',
    'service board charter --file charter.md --board payments',
    'service board charter --edit',
    'service board charter --set ""',
  ];
  static override seeAlso = ['board roles', 'board title', 'board templates'];
  static override mayBeEmpty = ['set'];
  static override flags = {
    set: stringFlag('TEXT', 'The new charter'),
    file: stringFlag('PATH|-', 'Take it from a file', { char: 'F' }),
    edit: booleanFlag('Change it in an editor'),
  };

  override async run(): Promise<void> {
    const session = await this.onBoard('A');
    const { charter: before } = await readBoard(session);
    const wanted = await this.newCharter(before);
    if (wanted === undefined)
      return this.print<typeof json>(
        { charter: before, changed: false },
        () => before || `${session.board} has no charter.`,
      );
    const { data, again } = await this.save(session, before, wanted);
    const { charter } = data;
    const size = (text: string) => (text === '' ? 'none' : `${[...text].length} characters`);
    const line =
      charter === before
        ? changeLine('charter', session.board, '', '')
        : `charter of ${session.board}: ${size(before)} -> ${size(charter)}`;
    this.print<typeof json>({ charter, changed: charter !== before }, () => `${line}${again}`);
  }

  /** The charter that is wished for; undefined: it is only to be shown. */
  private async newCharter(before: string): Promise<string | undefined> {
    const { set, file, edit: edits } = this.flags;
    const ways = [set !== undefined, file !== undefined, edits].filter(Boolean).length;
    if (ways > 1) throw usage('Give one of --set, --file and --edit.');
    if (file !== undefined) return readWhole(file, this.out, 'a charter');
    if (!edits) return set;
    const { edit } = await import('../file/lib/editor.ts');
    return edit(before, 'charter.md');
  }

  /** What was typed into an editor is kept where it cannot be saved. */
  private async save(session: BoardSession, before: string, charter: string) {
    const { board, client } = session;
    try {
      if (this.flags.edit && charter !== before) await this.requireUnmoved(session, before);
      return await this.write(client, 'updateBoard', { params: { board }, body: { charter } });
    } catch (error) {
      throw this.flags.edit && charter !== before ? this.kept(board, charter, error) : error;
    }
  }

  /** What ended it, with the text in a file of this folder. */
  private kept(board: string, charter: string, error: unknown): unknown {
    const path = pathOfCopy('charter', '.md');
    writeFileSync(path, `${charter}\n`);
    const line = `service board charter --file ${shellArgument(path)} --board ${board}`;
    const hintOf = ({ code, hint }: Problem): string | null =>
      code === 'stale' ? called(`${hint}; to replace it with yours: ${line}`) : null;
    return withCopy(error, { path, line, out: this.out, hintOf });
  }

  /** Somebody may have changed it while the editor was open. */
  private async requireUnmoved(session: BoardSession, before: string): Promise<void> {
    if ((await readBoard(session)).charter === before) return;
    const { askYes, mayAsk } = await import('../../cli/terminal/prompts.ts');
    if (mayAsk(this.out, this.noInput)) return askYes('Somebody changed the charter meanwhile. Replace it with yours?');
    throw new Failure('stale', 'Somebody changed the charter meanwhile, so nothing was sent.', {
      hint: `See what it is now: service board charter --board ${session.board}`,
      exit: 7,
    });
  }
}
