/** An agent asks its person for something only people do. */
import { Refusal } from '../../contract/errors.ts';
import type { Answer } from '../../contract/types.ts';
import { ownPlace } from '../access/board-access.ts';
import { categoriesOf, readAllowance } from '../allowances/allowances.store.ts';
import type { WriteTx } from '../db/tx.ts';
import { activeHuman } from '../members/memberships.store.ts';
import type { SeatCaller } from '../operation/caller.ts';
import { keyConflict } from '../operation/refusals.rules.ts';
import type { Outcome, WriteCase } from '../operation/usecase.ts';
import { ownView } from '../views/approval.ts';
import { type ActionContext, requireAuthority } from './action-authority.steps.ts';
import { type CanonicalAction, canonicalAction, hashOf, kinds } from './actions.rules.ts';
import { approvalByKey, effective, forgetRequestKeys, insertRequestKey, type RequestRow } from './approvals.store.ts';
import { allowStep } from './next.rules.ts';
import { openRequest } from './open-request.steps.ts';
import { altered, approvalClosed } from './refusals.rules.ts';
import { requesterOf } from './requester.steps.ts';

type Result = Answer<'requestAdminAction'>;

export const requestAdminAction: WriteCase<'requestAdminAction'> = {
  async run(tx, found, { body, requestId, idempotencyKey, deps: { root, address, report } }) {
    const caller = found as SeatCaller;
    await requireSeat(tx, caller);
    const canonical = canonicalAction(body);
    const context = { tx, root, address, requester: requesterOf(caller, caller.seat.id, requestId) };
    const agent_id = caller.seat.id;
    const key_hash = idempotencyKey === undefined ? null : root.digest(`admin-request ${agent_id} ${idempotencyKey}`);
    const earlier = key_hash && (await approvalByKey(tx, agent_id, key_hash));
    if (earlier) {
      if (hashOf(earlier.action) !== earlier.payload_hash) throw altered(report, earlier.id);
      return replay(context, caller, earlier, canonical);
    }
    const { row, done } = await openRequest(context, caller, canonical);
    if (key_hash) {
      await forgetRequestKeys(tx, { agent_id, key_hash });
      await insertRequestKey(tx, { agent_id, key_hash, approval_id: row.id, asked_at: tx.now });
    }
    if (done === null) return pendingAnswer(context, row);
    return { status: 201, answer: { state: 'executed', approval: await view(context, row), ...done } };
  },
};

/** A seat on an archive only reads, and nobody asks for a person who is not there. */
async function requireSeat(tx: WriteTx, caller: SeatCaller): Promise<void> {
  const { board_id, board_name } = caller.seat;
  if (!(await activeHuman(tx, board_id, caller.person.person_id))) {
    throw new Refusal('not_on_board', `This agent's person is not on ${board_name}.`, {
      hint: `They can come back: service board add me --board ${board_name}`,
    });
  }
  await ownPlace(tx, caller);
}

/** What a request with the same key is told: the record as it is now, never a secret. @throws Refusal */
async function replay(
  context: ActionContext,
  caller: SeatCaller,
  row: RequestRow,
  canonical: CanonicalAction,
): Promise<Outcome<Result>> {
  const { tx } = context;
  if (row.payload_hash !== canonical.hash) throw keyConflict();
  const { state } = effective(row, tx.now);
  if (state === 'declined' || state === 'expired') throw approvalClosed(state);
  await requireAuthority(context, canonical.action);
  if (row.decision === 'allowance') await requireAllowed(tx, caller, canonical);
  const headers = { 'Idempotent-Replayed': 'true' };
  if (state === 'pending') {
    const outcome = await pendingAnswer(context, row);
    return { ...outcome, headers: { ...outcome.headers, ...headers } };
  }
  return { status: 200, headers, answer: { state, approval: await view(context, row) } };
}

async function requireAllowed(tx: WriteTx, { person }: SeatCaller, { action }: CanonicalAction): Promise<void> {
  const { category } = kinds[action.kind];
  const allowance = await readAllowance(tx, person.person_id);
  if (category !== null && allowance && categoriesOf(allowance).includes(category)) return;
  throw new Refusal('forbidden', 'Your person no longer allows this without being asked.', {
    hint: 'Ask again under a new Idempotency-Key: they then decide.',
  });
}

async function pendingAnswer(context: ActionContext, row: RequestRow): Promise<Outcome<Result>> {
  const next = allowStep(row.id, context.address.baseUrl());
  return {
    status: 202,
    headers: { Location: `/v1/me/approvals/${row.id}` },
    answer: { state: 'pending', approval: await view(context, row), next },
  };
}

const view = ({ tx, requester, address }: ActionContext, row: RequestRow) =>
  ownView(tx, requester.person, row, address.baseUrl());
