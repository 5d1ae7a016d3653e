/** Moves a pairing request by its table: carries out the effects of the row in order. */
import { DAY, WEEK } from '../../contract/durations.ts';
import type { Refusal } from '../../contract/errors.ts';
import type { PairingSide } from '../../contract/types.ts';
import { boardById } from '../boards/boards.store.ts';
import type { WriteTx } from '../db/tx.ts';
import { inviteInvalid } from '../invites/refusals.rules.ts';
import { tell } from '../notices/notices.steps.ts';
import type { NoticeKind } from '../notices/notices.store.ts';
import { unauthorized } from '../operation/caller.ts';
import { newId, newUlid } from '../text/ids.ts';
import { otherSide } from './lines.rules.ts';
import {
  type ClosedReason,
  type Effect,
  type Refused,
  type Row,
  type Trigger,
  transitionOf,
} from './pairing-states.rules.ts';
import { insertProof, revokeProofs } from './proofs.store.ts';
import { notYours, pairingChanged, pairingClosed } from './refusals.rules.ts';
import { type PairingRow, requestById, type SubjectRow, saveRequest } from './requests.store.ts';
import { type Evidence, endOf, isLive, stateAt, stateBefore } from './subject.rules.ts';

/** The data of a trigger. */
interface Moved {
  /** The side that acts; absent if neither does. */
  side?: PairingSide;
  /** With `select_*` and `replace`; with `renew` as it was. */
  endpoint?: { agent_id: string; key_id: string; binding: string };
  proof?: { verifier: Buffer; expires_at: number };
  recipientId?: string;
  evidence?: Evidence;
  /** Asks the agent; answers the message. */
  ask?: { agentId: string; post(): Promise<string> };
}

interface Turn {
  tx: WriteTx;
  row: SubjectRow;
  transition: Row;
  moved: Moved;
  /** When it ended, if that was earlier. */
  endedAt: number | undefined;
}

/**
 * Carries out the table's row and returns the changed request. Its board and its row are locked.
 * @throws Refusal of the row; `pairing_changed` where another generation came first.
 */
export async function move(tx: WriteTx, row: SubjectRow, on: Trigger, moved: Moved = {}): Promise<SubjectRow> {
  return run(tx, row, transitionOf(stateAt(row, tx.now), on), moved);
}

/** The same for events outside of the request. An end by time that is not stored yet comes first. */
export async function moveFromOutside(tx: WriteTx, row: SubjectRow, on: Trigger, moved: Moved = {}) {
  const settled = await settle(tx, row);
  return settled.closed === null ? run(tx, settled, transitionOf(stateBefore(settled, tx.now), on), moved) : settled;
}

const byTime: Partial<Record<ClosedReason, Trigger>> = {
  timeout: 'deadline',
  admission_refused: 'admission_refused',
  invite_ended: 'invite_ended',
};

/** Stores an end by time. */
export async function settle(tx: WriteTx, row: SubjectRow): Promise<SubjectRow> {
  const end = row.closed === null ? endOf(row, tx.now) : null;
  const on = end?.reason ? byTime[end.reason] : undefined;
  return on ? run(tx, row, transitionOf(stateBefore(row, tx.now), on), {}, end?.at) : row;
}

async function run(tx: WriteTx, row: SubjectRow, transition: Row | undefined, moved: Moved, endedAt?: number) {
  if (!transition) return row;
  const { refused } = transition.effect;
  if (refused) throw refusals[refused]();
  const turn: Turn = { tx, row, transition, moved, endedAt };
  for (const effect of transition.effect.effects) await effects[effect](turn);
  return turn.row;
}

async function change(turn: Turn, changes: Partial<PairingRow>): Promise<void> {
  if ((await saveRequest(turn.tx, turn.row, changes)) === 0) throw pairingChanged();
  turn.row = (await requestById(turn.tx, turn.row.id)) as SubjectRow;
}

const sideOf = ({ moved: { side } }: Turn): PairingSide => {
  if (side === undefined) throw new Error('this is somebody’s doing');
  return side;
};

const effects: Record<Effect, (turn: Turn) => Promise<void>> = {
  async recipient(turn) {
    const { recipientId } = turn.moved;
    await change(turn, { recipient_id: recipientId ?? null, expires_at: turn.tx.now + WEEK });
  },
  async void(turn) {
    await revokeProofs(turn.tx, turn.row.id);
    await change(turn, {
      generation: turn.row.generation + 1,
      accepted: 0,
      nonce_i2r: null,
      nonce_r2i: null,
      after_seq: null,
      evidence_i2r: null,
      evidence_r2i: null,
    });
  },
  async bind(turn) {
    const [side, { agent_id = null, key_id = null, binding = null }] = [sideOf(turn), turn.moved.endpoint ?? {}];
    await change(
      turn,
      side === 'initiator'
        ? { initiator_agent_id: agent_id, initiator_key_id: key_id, initiator_binding: binding }
        : { recipient_agent_id: agent_id, recipient_key_id: key_id, recipient_binding: binding },
    );
  },
  async proof({ tx, row, moved: { side, endpoint, proof } }) {
    if (!side || !endpoint || !proof) throw new Error('a proof belongs to an endpoint');
    await revokeProofs(tx, row.id, side);
    await insertProof(tx, {
      id: newId('pcr', tx.now),
      request_id: row.id,
      side,
      ...endpoint,
      generation: row.generation,
      ...proof,
      created_at: tx.now,
      revoked_at: null,
    });
  },
  accept: (turn) => change(turn, { accepted: 1 }),
  async evidence(turn) {
    const text = JSON.stringify(turn.moved.evidence);
    await change(turn, sideOf(turn) === 'initiator' ? { evidence_i2r: text } : { evidence_r2i: text });
  },
  async challenges(turn) {
    const { tx, row } = turn;
    if (stateAt(row, tx.now) !== 'verifying' || row.nonce_i2r !== null) return;
    const after_seq = (await boardById(tx, row.board_id))?.head_seq ?? 0;
    await change(turn, { nonce_i2r: newUlid(tx.now), nonce_r2i: newUlid(tx.now), after_seq });
  },
  async ask(turn) {
    const { ask } = turn.moved;
    if (!ask) throw new Error('nobody is asked');
    await change(turn, { chosen_agent_id: ask.agentId, choice_message_id: await ask.post() });
  },
  async ready(turn) {
    const { tx, row } = turn;
    if (stateAt(row, tx.now) !== 'ready') return;
    await change(turn, { closed: 'ready', closed_at: tx.now });
    await revokeProofs(tx, row.id);
    const text = (board: string) => `${row.id} on ${board} is ready: the two sessions reach each other.`;
    await tellBoth(turn, 'pairing_ready', WEEK, text);
  },
  async close(turn) {
    const { next, reason } = turn.transition.effect;
    if (next !== 'declined' && next !== 'cancelled' && next !== 'expired') throw new Error(`${next} is no end`);
    await change(turn, { closed: next, closed_reason: reason ?? null, closed_at: turn.endedAt ?? turn.tx.now });
    await revokeProofs(turn.tx, turn.row.id);
  },
  async tell_changed(turn) {
    const { row, transition } = turn;
    const how = transition.on.includes('accept') ? 'accepted' : 'has another session now';
    const to = seatOf(turn, otherSide(sideOf(turn)));
    await tellSeat(turn, to, 'pairing_changed', DAY, (board) => `The other side of ${row.id} on ${board} ${how}.`);
  },
  tell_closed: (turn) =>
    tellBoth(turn, 'pairing_closed', WEEK, (board) => `${turn.row.id} on ${board} is over: ${turn.row.closed}.`),
  async stream({ tx, row }) {
    publish(tx, row);
  },
};

/** Notifies the participants of the change. */
export function publish(tx: WriteTx, { inviter_id, recipient_id }: Pick<PairingRow, 'inviter_id' | 'recipient_id'>) {
  tx.publish(`onboarding:${inviter_id}`);
  if (recipient_id !== null) tx.publish(`onboarding:${recipient_id}`);
}

/** The seat of a side that is live; before the initiator is selected, the seat that the request was made for. */
function seatOf({ row, tx }: Turn, side: PairingSide): string | null {
  const selected = row[`${side}_agent_id`];
  if (selected === null) return side === 'initiator' ? row.initiating_agent_id : null;
  return isLive(row, side, tx.now) ? selected : null;
}

/** Notifies the seats of both sides, except the side that acted. */
async function tellBoth(turn: Turn, kind: NoticeKind, life: number, text: (board: string) => string): Promise<void> {
  for (const side of ['initiator', 'recipient'] as const) {
    if (kind === 'pairing_closed' && side === turn.moved.side) continue;
    await tellSeat(turn, seatOf(turn, side), kind, life, text);
  }
}

async function tellSeat(
  { tx, row }: Turn,
  memberId: string | null,
  kind: NoticeKind,
  life: number,
  text: (board: string) => string,
): Promise<void> {
  if (memberId === null) return;
  const board = await boardById(tx, row.board_id);
  await tell(tx, {
    member_id: memberId,
    kind,
    subject: row.id,
    generation: row.generation,
    expires_at: tx.now + life,
    text: text(board?.name ?? row.board_id),
    about: { pairing_request_id: row.id },
  });
}

const refusals: Record<Refused, () => Refusal> = {
  pairing_closed: pairingClosed,
  pairing_changed: pairingChanged,
  unauthorized,
  // Who the recipient is, is not known yet.
  forbidden: () => notYours('the person who comes by the invite'),
  invite_invalid: inviteInvalid,
};
