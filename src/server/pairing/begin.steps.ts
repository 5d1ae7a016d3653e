/** Creates a pairing request: directly (T1), or with an invite (T2). */
import { WEEK } from '../../contract/durations.ts';
import type { WriteTx } from '../db/tx.ts';
import { newId } from '../text/ids.ts';
import { publish } from './move.steps.ts';
import { tooManyOpen } from './refusals.rules.ts';
import { countOpen, insertRequest } from './requests.store.ts';

const OPEN_OF_INVITER = 50;
const OPEN_OF_PAIR = 5;

interface Beginning {
  boardId: string;
  inviterId: string;
  agentId: string;
  work: string;
  /** Whom it is for, or the invite they come by. */
  to: { recipientId: string; admissionId?: string } | { inviteId: string; expiresAt: number };
}

/** Comes before anything is written. @throws Refusal `rate_limited` over the caps on open ones. */
export async function requirePairingRoom(
  tx: WriteTx,
  inviterId: string,
  pair?: { recipientId: string; boardId: string },
): Promise<void> {
  await tx.serialise(`pairings:${inviterId}`);
  const all = await countOpen(tx, { inviter_id: inviterId });
  if (all >= OPEN_OF_INVITER) throw tooManyOpen(OPEN_OF_INVITER, 'of yours');
  if (!pair) return;
  const between = { inviter_id: inviterId, recipient_id: pair.recipientId, board_id: pair.boardId };
  if ((await countOpen(tx, between)) >= OPEN_OF_PAIR) throw tooManyOpen(OPEN_OF_PAIR, 'with this person on this board');
}

/** Answers its id. Whether board, seat, recipient and caps admit it is decided before. */
export async function begin(tx: WriteTx, { boardId, inviterId, agentId, work, to }: Beginning): Promise<string> {
  const direct = 'recipientId' in to;
  const row = {
    id: newId('prq', tx.now),
    board_id: boardId,
    inviter_id: inviterId,
    initiating_agent_id: agentId,
    recipient_id: direct ? to.recipientId : null,
    invite_id: direct ? null : to.inviteId,
    work,
    generation: 1,
    created_at: tx.now,
    expires_at: direct ? tx.now + WEEK : to.expiresAt,
    accepted: 0,
    admission_approval_id: direct ? (to.admissionId ?? null) : null,
  };
  await insertRequest(tx, row);
  publish(tx, row);
  return row.id;
}
