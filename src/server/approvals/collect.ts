/** The agent that asked for an invite collects it: once, and again only with the same key, for ten minutes. */
import type { Refusal } from '../../contract/errors.ts';
import { operations } from '../../contract/operations.ts';
import type { Answer } from '../../contract/types.ts';
import { boardById } from '../boards/boards.store.ts';
import type { WriteTx } from '../db/tx.ts';
import { type InviteRow, inviteById, stateOf } from '../invites/invites.store.ts';
import { shownInvite } from '../invites/issue.steps.ts';
import { activeHuman } from '../members/memberships.store.ts';
import type { SeatCaller } from '../operation/caller.ts';
import { adminRequired, boardArchived } from '../operation/terms.ts';
import type { Deps, Outcome, WriteCase } from '../operation/usecase.ts';
import { pairingOfInvite } from '../pairing/find.steps.ts';
import { plainTransition, transition } from '../text/state-table.ts';
import { findApproval, ownView } from '../views/approval.ts';
import { boardsNamed, hashOf } from './actions.rules.ts';
import { actionOf, approvalById, type RequestRow } from './approvals.store.ts';
import { capsuleTable } from './capsule-states.rules.ts';
import { sameHash } from './capsules.rules.ts';
import { openSecret, winnerHash } from './capsules.steps.ts';
import { capsuleOf, capsuleState, clearCapsules, consume } from './capsules.store.ts';
import { lockBoards } from './locks.steps.ts';
import { goneStep } from './next.rules.ts';
import { approvalNotFound } from './refusals.rules.ts';

const RECOVERY_MS = 600_000;

type Result = Outcome<Answer<'collectApproval'>>;

export const collectApproval: WriteCase<'collectApproval'> = {
  async run(tx, found, { params, idempotencyKey, deps }) {
    const caller = found as SeatCaller;
    const row = await approvalById(tx, params.approval);
    const own = row?.agent_id === caller.seat.id && row.person_id === caller.person.person_id;
    if (!row || !own || row.parent_key_id !== caller.key.key_id) throw approvalNotFound();
    const collecting = { tx, deps, caller, row };
    return row.invite_id === null ? withoutSecret(collecting) : collect(collecting, row.invite_id, idempotencyKey);
  },
};

interface Collecting {
  tx: WriteTx;
  deps: Deps;
  caller: SeatCaller;
  row: RequestRow;
}

async function collect(collecting: Collecting, inviteId: string, key: string | undefined): Promise<Result> {
  const { tx, deps, caller, row } = collecting;
  const invite = await inviteById(tx, inviteId);
  const boards = [...boardsNamed(actionOf(row)), caller.seat.board_id];
  await lockBoards(tx, boards);
  const capsule = await capsuleOf(tx, row.id);
  if (!capsule || !invite) return withoutSecret(collecting);
  const erase = (reason: string) => clearCapsules(tx, (query) => query.where('approval_id', row.id), reason);
  const state = capsuleState(capsule, tx.now);
  if (state === 'cleared' && capsule.ciphertext !== null) {
    const was = capsule.consumed_at === null ? 'held' : 'collected';
    const { erases } = plainTransition(capsuleTable, was, 'time_over').effect;
    if (erases) await erase(erases);
  }
  // Its winner is known again by its key.
  const hash = key === undefined ? null : winnerHash(deps, row, key);
  const won = capsule.winning_key_hash;
  const found: { refused: Refusal | null; secret: string | null } = { refused: null, secret: null };
  const { effect } = await transition(capsuleTable, state, 'collect', {
    no_authority: async () => {
      found.refused = await lostAuthority(collecting, invite, boards);
      return found.refused !== null;
    },
    archived: async () => {
      found.refused = await archivedRefusal(tx, boards);
      return found.refused !== null;
    },
    invite_over: () => stateOf(invite, tx.now) !== 'active',
    other_key: () => hash === null || won === null || !sameHash(hash, won),
    unreadable: () => {
      found.secret = openSecret(deps, row, capsule, invite);
      return found.secret === null;
    },
    no_key: () => key === undefined,
  });
  if (effect.reports) deps.report('the sealed secret of an approval does not open', { approval_id: row.id });
  if (effect.gives === 'secret' && !effect.recovered) {
    const until = Math.min(tx.now + RECOVERY_MS, capsule.expires_at);
    if ((await consume(tx, row.id, { until, winning_key_hash: hash })) === 0) return withoutSecret(collecting);
  }
  if (effect.erases) await erase(effect.erases);
  const view = async () => ownView(tx, caller, (await approvalById(tx, row.id)) ?? row, deps.address.baseUrl());
  const { refused, secret } = found;
  if (refused) return { answer: { approval: await view(), collected: false }, refused };
  if (effect.gives !== 'secret' || secret === null) return withoutSecret(collecting);
  const approval = await view();
  const work = await pairingOfInvite(tx, caller, invite.id);
  const shown = shownInvite(invite, secret, caller.person.handle, deps.address, work);
  const how = effect.recovered ? { collected: false, recovered: true as const } : { collected: true };
  return { answer: { approval, ...how, invite: shown, ...(work === undefined ? {} : { pairing_request_id: work }) } };
}

/** The record without a secret; where one was to be had, what to do about it. */
async function withoutSecret({ tx, deps, caller, row }: Collecting): Promise<Result> {
  const baseUrl = deps.address.baseUrl();
  const { approval } = await findApproval(tx, caller, row.id, baseUrl);
  const work = await pairingOfInvite(tx, caller, approval.execution?.invite_id);
  const named = work === undefined ? {} : { pairing_request_id: work };
  return { answer: { approval: { ...approval, ...goneStep(approval, baseUrl) }, collected: false, ...named } };
}

/** The refusal once the issuer of the invite could not issue it any more; null: they still could. */
async function lostAuthority({ tx, deps, caller, row }: Collecting, invite: InviteRow, boards: string[]) {
  const { person } = caller;
  if (person.server_role !== 'admin') return adminRequired(operations.createInvite.admins);
  for (const id of boards) {
    const board = await boardById(tx, id);
    if (!board || board.lifecycle === 'deleted') return approvalNotFound();
    if (!(await activeHuman(tx, id, person.person_id))) return approvalNotFound();
  }
  if (hashOf(row.action) === row.payload_hash && agrees(row, invite)) return null;
  deps.report('an approval and its invite do not agree', { approval_id: row.id });
  return approvalNotFound();
}

/** The refusal while one of the boards is archived; after its restoring the secret is there again. */
async function archivedRefusal(tx: WriteTx, boards: string[]): Promise<Refusal | null> {
  for (const id of boards) {
    const board = await boardById(tx, id);
    if (board && board.lifecycle !== 'active') return boardArchived(board);
  }
  return null;
}

/** Whether an invite was issued by exactly this approval. */
function agrees(row: RequestRow, invite: InviteRow): boolean {
  const own = invite.created_by === row.person_id && invite.issuing_agent_id === row.agent_id;
  const { authorization } = invite;
  const same = authorization !== null && authorization === row.authorization;
  return own && invite.parent_key_id === row.parent_key_id && same;
}
