/** An agent asks its person for something only people do. */
import { Refusal } from '../../contract/errors.ts';
import type { Answer } from '../../contract/types.ts';
import type { WriteTx } from '../db/tx.ts';
import type { RootKey } from '../identity/root-key.ts';
import type { SeatCaller } from '../operation/caller.ts';
import { agentRequired } from '../operation/gate.ts';
import type { Outcome, ServerAddress, WriteCase } from '../operation/usecase.ts';
import { activeHuman } from '../seats/memberships.store.ts';
import { newId } from '../text/ids.ts';
import { ownView } from '../views/approval.ts';
import { refuseGuest } from '../views/authority.ts';
import { ownPlace, requireActive } from '../views/place.ts';
import { type Frozen, freeze, kinds } from './actions.rules.ts';
import { type AllowanceRow, categoriesOf, readAllowance } from './allowances.store.ts';
import { approvalTable } from './approval-states.rules.ts';
import {
  type ApprovalRow,
  approvalById,
  approvalByKey,
  countPending,
  effective,
  forgetRequestKey,
  insertApproval,
  type RequestRow,
  samePending,
} from './approvals.store.ts';
import { askerOf } from './asker.ts';
import { coverage } from './coverage.ts';
import { execute } from './execute.ts';
import { holdForRun } from './held.ts';
import { Judgement } from './judgement.ts';
import { allowStep } from './next.rules.ts';
import { type Ground, requireStanding } from './plans.ts';
import { approvalClosed, tooManyPending } from './refusals.ts';
import { transition } from './transitions.rules.ts';

const DAY = 86_400_000;
const PENDING_OF_SEAT = 20;
const PENDING_OF_PERSON = 100;

type Result = Answer<'requestAdminAction'>;

export const requestAdminAction = (root: RootKey, address: ServerAddress): WriteCase<'requestAdminAction'> => ({
  async run(tx, caller, { body, requestId, idempotencyKey }) {
    if (caller.kind !== 'AG') throw agentRequired();
    refuseGuest(caller, 'ask for this');
    await requireSeat(tx, caller);
    const frozen = freeze(body);
    const ground = { tx, root, address, asker: askerOf(caller, caller.seat.member_id, requestId) };
    const keyHash = idempotencyKey === undefined ? null : keyHashOf(root, caller, idempotencyKey);
    const earlier = keyHash && (await approvalByKey(tx, caller.seat.member_id, keyHash));
    if (earlier && earlier.created_at + DAY > tx.now) return replay(ground, caller, earlier, frozen);
    if (earlier) await forgetRequestKey(tx, earlier.id);
    return ask(ground, caller, frozen, keyHash);
  },
});

const keyHashOf = (root: RootKey, { seat }: SeatCaller, key: string): Buffer =>
  root.digest(`admin-request ${seat.member_id} ${key}`);

/** A seat on an archive only reads, and nobody asks for a person who is not there. */
async function requireSeat(tx: WriteTx, caller: SeatCaller): Promise<void> {
  const { board } = await ownPlace(tx, caller);
  if (!(await activeHuman(tx, board.id, caller.person.person_id))) {
    throw new Refusal('not_on_board', `This agent's person is not on ${board.name}.`, {
      hint: `They can come back: service board add me --board ${board.name}`,
    });
  }
  requireActive(board);
}

async function ask(
  ground: Ground,
  caller: SeatCaller,
  { action, text, hash }: Frozen,
  keyHash: Buffer | null,
): Promise<Outcome<Result>> {
  const { tx } = ground;
  const { person_id } = caller.person;
  await tx.serialise(`approvals:${person_id}`);
  if (kinds[action.kind].category !== null) await holdForRun(tx, action, null);
  const judgement = new Judgement(ground, action, 'new');
  let allowance: AllowanceRow | null = null;
  const { effect } = await transition(approvalTable, 'new', 'request', {
    no_authority: () => judgement.refuses(),
    covered: async () => {
      allowance = await coverage(tx, ground.asker, action);
      return allowance !== null;
    },
  });
  if (effect.refused) throw judgement.refusal;
  const same = action.kind === 'invite_people' ? undefined : await samePending(tx, caller.seat.member_id, hash);
  if (same && effective(same, tx.now).state === 'pending') return held(ground, same);
  await requireRoom(tx, caller);
  const row = newApproval(tx, caller, { action, text, hash }, keyHash);
  await insertApproval(tx, row);
  if (effect.does === 'hold' || !allowance) {
    tx.publish(`onboarding:${person_id}`);
    return held(ground, await reread(tx, row.id));
  }
  const done = await execute(tx, row, judgement.plan, { decision: 'allowance', allowance });
  const approval = await view(ground, await reread(tx, row.id));
  return { status: 201, answer: { state: 'executed', approval, ...done } };
}

async function requireRoom(tx: WriteTx, { seat, person }: SeatCaller): Promise<void> {
  if ((await countPending(tx, { agent_id: seat.member_id })) >= PENDING_OF_SEAT) throw tooManyPending(PENDING_OF_SEAT);
  if ((await countPending(tx, { person_id: person.person_id })) >= PENDING_OF_PERSON)
    throw tooManyPending(PENDING_OF_PERSON);
}

const newApproval = (
  tx: WriteTx,
  { seat, person, key }: SeatCaller,
  { action, text, hash }: Frozen,
  keyHash: Buffer | null,
): ApprovalRow => ({
  id: newId('apr', tx.now),
  person_id: person.person_id,
  agent_id: seat.member_id,
  parent_key_id: key.key_id,
  kind: action.kind,
  action: text,
  payload_hash: hash,
  state: 'pending',
  created_at: tx.now,
  expires_at: tx.now + DAY,
  decided_at: null,
  decision: null,
  closed_reason: null,
  executed_at: null,
  effect: null,
  authorization: null,
  invite_id: null,
  request_key_hash: keyHash,
});

/** What a request with the same key is told: the record as it is now, never a secret. @throws Refusal */
async function replay(ground: Ground, caller: SeatCaller, row: RequestRow, frozen: Frozen): Promise<Outcome<Result>> {
  const { tx } = ground;
  if (row.payload_hash !== frozen.hash) {
    throw new Refusal('idempotency_conflict', 'This Idempotency-Key was used for another request.', {
      hint: 'Use a new key for a new request.',
    });
  }
  const { state } = effective(row, tx.now);
  if (state === 'declined' || state === 'expired') throw approvalClosed(state);
  await requireStanding(ground, frozen.action);
  if (row.decision === 'allowance') await requireAllowed(tx, caller, frozen);
  const headers = { 'Idempotent-Replayed': 'true' };
  if (state === 'pending') {
    const outcome = await held(ground, row);
    return { ...outcome, headers: { ...outcome.headers, ...headers } };
  }
  return { status: 200, headers, answer: { state, approval: await view(ground, row) } };
}

async function requireAllowed(tx: WriteTx, { person }: SeatCaller, { action }: Frozen): Promise<void> {
  const { category } = kinds[action.kind];
  const allowance = await readAllowance(tx, person.person_id);
  if (category !== null && allowance && categoriesOf(allowance).includes(category)) return;
  throw new Refusal('forbidden', 'Your person no longer allows this without being asked.', {
    hint: 'Ask again under a new Idempotency-Key: they then decide.',
  });
}

async function held(ground: Ground, row: RequestRow): Promise<Outcome<Result>> {
  const next = allowStep(row.id, ground.address.baseUrl());
  return {
    status: 202,
    headers: { Location: `/v1/me/approvals/${row.id}` },
    answer: { state: 'pending', approval: await view(ground, row), next },
  };
}

const view = ({ tx, asker, address }: Ground, row: RequestRow) => ownView(tx, asker.person, row, address.baseUrl());

async function reread(tx: WriteTx, id: string): Promise<RequestRow> {
  const row = await approvalById(tx, id);
  if (!row) throw new Error('an approval is never removed');
  return row;
}
