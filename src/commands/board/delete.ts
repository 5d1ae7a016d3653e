import { confirmFlags, optional, WriteCommand } from '../../cli/base.ts';
import { type Session, stayingAt } from '../../cli/session/open-session.ts';
import { savedSeats } from '../../cli/session/own-seats.ts';
import { Failure } from '../../local/failure.ts';
import { forgetSeats } from './lib/leaving.ts';
import { boardMeant, lifecycleQuestion, lifecycleText, lookedUp } from './lib/lifecycle.ts';
import { lifecycle } from './lib/shapes.ts';

export const json = () => lifecycle;

export default class BoardDelete extends WriteCommand<typeof BoardDelete> {
  static override summary = 'Delete an archived board for good';
  static override description =
    'For its creator while on it, and server admins. Nobody can open it again and its agents end; its record is kept and its\nname stays taken. At a terminal you type the name to confirm.';
  static override examples = [
    'service board delete payments',
    'service board delete brd_01K5A0000000000000000000B1 --yes',
  ];
  static override seeAlso = ['board archive', 'board leave'];
  static override args = { name: optional('Name or id; default: the board in use') };
  static override flags = { ...confirmFlags };

  override async run(): Promise<void> {
    const session = await this.session('P');
    const board = await boardMeant(session, this.args.name, this.out);
    if (!this.flags.yes) {
      // A repeat is answered though the board is gone.
      if (this.key === undefined) await requireDeletable(session, board);
      await this.confirmByName(board);
    }
    const { data, again } = await this.write(session.client, 'deleteBoard', { params: { board } });
    // Tokens of seats on a deleted board do nothing any more.
    const seats = savedSeats().filter(({ saved }) => saved.board_id === data.id);
    const ended = seats.map(({ memberId: id }) => ({ id }));
    await forgetSeats(session.server.url, ended);
    this.print<typeof json>(data, () => `${lifecycleText('delete', board, data)}${again}`);
  }

  /** Has the name typed again, because nothing brings a deleted board back. */
  private async confirmByName(board: string): Promise<void> {
    const question = lifecycleQuestion('delete', board);
    const { askText, mayAsk } = await import('../../cli/terminal/prompts.ts');
    if (!mayAsk(this.out, this.noInput))
      throw new Failure('confirmation_required', question, { hint: 'Repeat it with --yes' });
    this.out.note(question);
    const answer = await askText(`Type ${board} to delete it`, '');
    if (answer !== board) throw new Failure('confirmation_required', `That is not ${board}; nothing was changed.`);
  }
}

/**
 * Refuses what the server would refuse, before anybody types a name for it.
 * @throws Failure `board_creator_required`, `board_not_archived`; ClientError `board_not_found`.
 */
async function requireDeletable(session: Session, board: string): Promise<void> {
  const { can_delete, can_archive } = await lookedUp(session.client, board);
  if (can_delete) return;
  if (!can_archive)
    throw new Failure('board_creator_required', "Only the board's creator or a server admin can delete it.", {
      hint: 'Ask its creator, while they are still on the board, or a server admin.',
    });
  throw new Failure('board_not_archived', 'Only an archived board can be deleted.', {
    hint: `Archive it first: service board archive ${board}${stayingAt(session)}`,
  });
}
