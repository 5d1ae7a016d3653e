/** The first agent of somebody who was invited arrives on a board of the invite. */
import type { BoardRow } from '../boards/boards.store.ts';
import type { WriteTx } from '../db/tx.ts';
import { boardsOf, invitesUsedBy } from '../invites/invites.store.ts';
import { tell } from './notices.steps.ts';

/** Tells the agent that had asked for the invite, once for each invite and board. */
export async function tellArrival(
  tx: WriteTx,
  board: Pick<BoardRow, 'id' | 'name'>,
  { id, handle }: { id: string; handle: string },
): Promise<void> {
  for (const invite of await invitesUsedBy(tx, id)) {
    if (invite.issuing_agent_id === null || !boardsOf(invite).includes(board.id)) continue;
    await tell(tx, {
      memberId: invite.issuing_agent_id,
      kind: 'colleague_arrived',
      subject: `${invite.id} ${board.id}`,
      expiresAt: tx.now + 7 * 86_400_000,
      text: `The first agent of @${handle} is on ${board.name}.`,
      about: { invite_id: invite.id, person: { id, handle }, board: board.name },
    });
  }
}
