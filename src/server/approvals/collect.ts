/** The agent that asked for an invite collects it: once, and again only with the same key, for ten minutes. */
import type { Refusal } from '../../contract/errors.ts';
import { operations } from '../../contract/operations.ts';
import type { Answer } from '../../contract/types.ts';
import { type BoardRow, boardById } from '../boards/boards.store.ts';
import type { WriteTx } from '../db/tx.ts';
import { type InviteRow, inviteById, stateOf } from '../invites/invites.store.ts';
import { shownInvite } from '../invites/issue.steps.ts';
import { activeHuman } from '../members/memberships.store.ts';
import type { SeatCaller } from '../operation/caller.ts';
import { agentRequired } from '../operation/gate.ts';
import { adminRequired, boardArchived } from '../operation/terms.ts';
import type { Deps, Outcome, WriteCase } from '../operation/usecase.ts';
import { pairingOfInvite } from '../pairing/find.steps.ts';
import { plainTransition, transition } from '../text/state-table.ts';
import { findApproval, ownView } from '../views/approval.ts';
import { boardsNamed, hashOf } from './actions.rules.ts';
import { actionOf, approvalById, authorizationOf, type RequestRow } from './approvals.store.ts';
import { capsuleTable } from './capsule-states.rules.ts';
import { sameHash } from './capsules.rules.ts';
import { openSecret, winnerHash } from './capsules.steps.ts';
import { type CapsuleRow, capsuleOf, capsuleState, clearCapsules, consume } from './capsules.store.ts';
import { lockBoards } from './locks.steps.ts';
import { revokeStep } from './next.rules.ts';
import { approvalNotFound } from './refusals.rules.ts';

const RECOVERY_MS = 600_000;

type Result = Outcome<Answer<'collectApproval'>>;

export const collectApproval = (deps: Deps): WriteCase<'collectApproval'> => ({
  async run(tx, caller, { params, idempotencyKey }) {
    if (caller.kind !== 'AG') throw agentRequired();
    const row = await approvalById(tx, params['approval'] ?? '');
    const own = row?.agent_id === caller.seat.member_id && row.person_id === caller.person.person_id;
    if (!row || !own || row.parent_key_id !== caller.key.key_id) throw approvalNotFound();
    const collection = new Collection(tx, deps, caller, row);
    return row.invite_id === null ? collection.plain() : collection.run(row.invite_id, idempotencyKey);
  },
});

class Collection {
  readonly #tx: WriteTx;
  readonly #deps: Deps;
  readonly #caller: SeatCaller;
  readonly #row: RequestRow;

  constructor(tx: WriteTx, deps: Deps, caller: SeatCaller, row: RequestRow) {
    this.#tx = tx;
    this.#deps = deps;
    this.#caller = caller;
    this.#row = row;
  }

  async run(inviteId: string, key: string | undefined): Promise<Result> {
    const tx = this.#tx;
    const invite = await inviteById(tx, inviteId);
    await lockBoards(tx, [...boardsNamed(actionOf(this.#row)), this.#caller.seat.board_id]);
    const capsule = await capsuleOf(tx, this.#row.id);
    if (!capsule || !invite) return this.plain();
    const state = capsuleState(capsule, tx.now);
    if (state === 'cleared' && capsule.ciphertext !== null) await this.#apply(capsule, 'time_over');
    const found: { lost: Refusal | null; secret: string | null } = { lost: null, secret: null };
    const { effect } = await transition(capsuleTable, state, 'collect', {
      no_authority: async () => {
        found.lost = await this.#lostAuthority(invite);
        return found.lost !== null;
      },
      archived: async () => (await this.#archivedBoard()) !== null,
      invite_over: () => stateOf(invite, tx.now) !== 'active',
      other_key: () => !this.#isWinner(capsule, key),
      unreadable: () => {
        found.secret = openSecret(this.#deps, this.#row, capsule, invite);
        return found.secret === null;
      },
      no_key: () => key === undefined,
    });
    if (effect.reports) {
      this.#deps.report('the sealed secret of an approval does not open', { approval_id: this.#row.id });
    }
    const refused = found.lost ?? (effect.refused ? await this.#archived() : null);
    if (effect.gives === 'secret' && !effect.recovered && !(await this.#take(capsule, key))) return this.plain();
    if (effect.erases) await this.#erase(effect.erases);
    if (refused) return { answer: { approval: await this.#view(), collected: false }, refused };
    if (effect.gives !== 'secret' || found.secret === null) return this.plain();
    return this.#secret(
      invite,
      found.secret,
      effect.recovered ? { collected: false, recovered: true } : { collected: true },
    );
  }

  /** What comes to a capsule by itself. */
  async #apply(capsule: CapsuleRow, trigger: 'time_over'): Promise<void> {
    const state = capsule.consumed_at === null ? 'held' : 'collected';
    const { effect } = plainTransition(capsuleTable, state, trigger);
    if (effect.erases) await this.#erase(effect.erases);
  }

  /** Whether this is the first to take it; its winner is known again by its key. */
  async #take(capsule: CapsuleRow, key: string | undefined): Promise<boolean> {
    const until = Math.min(this.#tx.now + RECOVERY_MS, capsule.expires_at);
    const winning_key_hash = key === undefined ? null : winnerHash(this.#deps, this.#row, key);
    return (await consume(this.#tx, this.#row.id, { until, winning_key_hash })) > 0;
  }

  #isWinner(capsule: CapsuleRow, key: string | undefined): boolean {
    const hash = key === undefined ? null : winnerHash(this.#deps, this.#row, key);
    return hash !== null && capsule.winning_key_hash !== null && sameHash(hash, capsule.winning_key_hash);
  }

  async #secret(invite: InviteRow, secret: string, how: { collected: boolean; recovered?: true }): Promise<Result> {
    const { address } = this.#deps;
    const approval = await this.#view();
    const work = await pairingOfInvite(this.#tx, this.#caller, invite.id);
    const shown = shownInvite(invite, secret, this.#caller.person.handle, address, work);
    return { answer: { approval, ...how, invite: shown, ...(work === undefined ? {} : { pairing_request_id: work }) } };
  }

  /** The record without a secret; where one was to be had, what to do about it. */
  async plain(): Promise<Result> {
    const { address } = this.#deps;
    const { approval } = await findApproval(this.#tx, this.#caller, this.#row.id, address.baseUrl());
    const inviteId = approval.execution?.invite_id;
    const gone = inviteId !== undefined && approval.outcome.state !== 'none';
    const next = gone ? { next: revokeStep(inviteId, address.baseUrl()) } : {};
    const work = await pairingOfInvite(this.#tx, this.#caller, inviteId);
    const named = work === undefined ? {} : { pairing_request_id: work };
    return { answer: { approval: { ...approval, ...next }, collected: false, ...named } };
  }

  #view() {
    return approvalById(this.#tx, this.#row.id).then((row) =>
      ownView(this.#tx, this.#caller, row ?? this.#row, this.#deps.address.baseUrl()),
    );
  }

  #erase(reason: string): Promise<number> {
    return clearCapsules(this.#tx, (query) => query.where('approval_id', this.#row.id), reason);
  }

  /** The refusal once the issuer of the invite could not issue it any more; null: they still could. */
  async #lostAuthority(invite: InviteRow): Promise<Refusal | null> {
    const [tx, row, { person, seat }] = [this.#tx, this.#row, this.#caller];
    if (person.server_role !== 'admin') return adminRequired(operations.createInvite.admins);
    for (const id of [...boardsNamed(actionOf(row)), seat.board_id]) {
      const board = await boardById(tx, id);
      if (!board || board.lifecycle === 'deleted') return approvalNotFound();
      if (!(await activeHuman(tx, id, person.person_id))) return approvalNotFound();
    }
    if (hashOf(row.action) === row.payload_hash && agrees(row, invite)) return null;
    this.#deps.report('an approval and its invite do not agree', { approval_id: row.id });
    return approvalNotFound();
  }

  /** A board that has to be active; after its restoring the secret is there again. */
  async #archivedBoard(): Promise<BoardRow | null> {
    for (const id of [...boardsNamed(actionOf(this.#row)), this.#caller.seat.board_id]) {
      const board = await boardById(this.#tx, id);
      if (board && board.lifecycle !== 'active') return board;
    }
    return null;
  }

  async #archived(): Promise<Refusal> {
    const board = await this.#archivedBoard();
    return board ? boardArchived(board) : approvalNotFound();
  }
}

/** Whether an invite was issued by exactly this approval. */
function agrees(row: RequestRow, invite: InviteRow): boolean {
  const own = invite.created_by === row.person_id && invite.issuing_agent_id === row.agent_id;
  const stored = authorizationOf(invite);
  return (
    own && invite.parent_key_id === row.parent_key_id && stored !== null && invite.authorization === row.authorization
  );
}
