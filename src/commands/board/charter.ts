import { readFileSync, writeFileSync } from 'node:fs';
import { booleanFlag, stringFlag, WriteCommand } from '../../cli/base.ts';
import { called } from '../../cli/runtime.ts';
import { without } from '../../cli/session/here.ts';
import { type BoardSession, stayingAt } from '../../cli/session/open-session.ts';
import { flag, object, text } from '../../cli/shapes.ts';
import { readWhole } from '../../cli/stdin.ts';
import { shellArgument } from '../../contract/text.ts';
import type { Answer } from '../../contract/types.ts';
import { Failure, usage } from '../../local/failure.ts';
import { keepText, type Problem, withCopy } from '../file/lib/kept-text.ts';
import { changeLine, readBoard } from './lib/settings.ts';

export const json = () => object({ charter: text, changed: flag });

/** With what the text ends with. */
type Saved = { data: Answer<'updateBoard'>; again: string };

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
    const { set, file, edit } = this.flags;
    const ways = [set !== undefined, file !== undefined, edit].filter(Boolean).length;
    if (ways > 1) throw usage('Give one of --set, --file and --edit.');
    if (edit) return this.show(session, before, await this.edited(session, before));
    const wanted = file === undefined ? set : await readWhole(file, this.out, 'a charter');
    if (wanted !== undefined) return this.show(session, before, await this.save(session, wanted));
    this.print<typeof json>({ charter: before, changed: false }, () => before || `${session.board} has no charter.`);
  }

  private show({ board }: BoardSession, before: string, { data: { charter }, again }: Saved): void {
    const size = (text: string) => (text === '' ? 'none' : `${[...text].length} characters`);
    const line =
      charter === before
        ? changeLine('charter', board, '', '')
        : `charter of ${board}: ${size(before)} -> ${size(charter)}`;
    this.print<typeof json>({ charter, changed: charter !== before }, () => `${line}${again}`);
  }

  private save({ board, client }: BoardSession, charter: string): Promise<Saved> {
    return this.write(client, 'updateBoard', { params: { board }, body: { charter } });
  }

  /** What was typed into the editor is kept where it cannot be saved. */
  private async edited(session: BoardSession, before: string): Promise<Saved> {
    const { inEditor } = await import('../file/lib/editor.ts');
    const write = (path: string): string => {
      writeFileSync(path, before === '' ? '' : `${before}\n`, { mode: 0o600 });
      return path;
    };
    const keep = (path: string, error: unknown) => this.kept(session, path, error);
    const instead = 'give the text with --set or --file';
    return inEditor({ name: 'charter.md', write, instead, keep }, async (path) => {
      // Without the line end that editors add.
      const charter = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
      if (charter !== before) await this.requireUnmoved(session, before);
      return this.save(session, charter);
    });
  }

  /** What ended it, with the place of the text. */
  private kept(session: BoardSession, text: string, error: unknown): unknown {
    const path = keepText(text, 'charter', '.md');
    const line = `service board charter --file ${shellArgument(path)} --board ${session.board}${stayingAt(session)}`;
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
      hint: `See what it is now: service board charter --board ${session.board}${stayingAt(session)}`,
    });
  }
}
