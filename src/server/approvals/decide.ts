/** A person allows or declines what one of their agents asked for. */
import type { Refusal } from '../../contract/errors.ts';
import type { AdminAction, ServerInvite } from '../../contract/types.ts';
import { recheckShown } from '../access/replay.ts';
import { changeAllowance, changedBy, INVITE_WARNING } from '../allowances/allowance.steps.ts';
import { allowanceOf, categoriesOf } from '../allowances/allowances.store.ts';
import type { WriteTx } from '../db/tx.ts';
import { tellDecision } from '../notices/notices.steps.ts';
import type { Caller } from '../operation/caller.ts';
import { invalidField } from '../operation/refusals.rules.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { pairingsOfApproval } from '../pairing/endings.steps.ts';
import { lockPeople } from '../people/people.store.ts';
import { plainTransition, transition } from '../text/state-table.ts';
import { findApproval, ownView } from '../views/approval.ts';
import { type Review, review } from './action-authority.steps.ts';
import { browserMayAllow, hashOf, kinds } from './actions.rules.ts';
import { approvalTable } from './approval-states.rules.ts';
import { actionOf, close, effective, lockApproval, type RequestRow } from './approvals.store.ts';
import { sealSecret } from './capsules.steps.ts';
import { execute } from './execute.steps.ts';
import { lockForAction } from './locks.steps.ts';
import { ownKeyStep } from './next.rules.ts';
import { reread } from './open-request.steps.ts';
import { altered, approvalClosed } from './refusals.rules.ts';
import { requesterOf } from './requester.steps.ts';

export const allowApproval: WriteCase<'allowApproval'> = {
  before: lockPeople,
  async run(tx, caller, { params, body: { always }, requestId, deps }) {
    const baseUrl = deps.address.baseUrl();
    const { row: seen } = await findApproval(tx, caller, params.approval, baseUrl);
    const action = actionOf(seen);
    const ownKeyNeeded = caller.kind === 'BR' && !browserMayAllow(action);
    const row = await lockAll(tx, seen, ownKeyNeeded ? null : action);
    const { state } = effective(row, tx.now);
    const requester = requesterOf(caller, row.agent_id, requestId);
    const context = { tx, root: deps.root, address: deps.address, requester };
    const reviewed: Review = { plan: null, refusal: null };
    const { effect } = await transition(approvalTable, state, always ? 'allow_always' : 'allow', {
      no_category: () => kinds[action.kind].category === null,
      altered: () => hashOf(row.action) !== row.payload_hash,
      no_authority: async () => Object.assign(reviewed, await review(context, action, state)).refusal !== null,
      own_key_needed: () => ownKeyNeeded,
    });
    if (effect.refused === 'own') throw reviewed.refusal;
    if (effect.refused === 'invalid_request') throw oneAtATime();
    if (effect.refused) {
      throw state === 'declined' || state === 'expired' ? approvalClosed(state) : altered(deps.report, row.id);
    }
    const shown = async () => ownView(tx, caller, await reread(tx, row.id), baseUrl);
    if (effect.does === 'show') return { answer: { state: 'executed', approval: await shown() } };
    if (effect.does === 'hand_over') {
      const next = ownKeyStep(row.id, baseUrl);
      return { status: 202, answer: { state: 'pending', approval: { ...(await shown()), next }, next } };
    }
    if (!reviewed.plan) throw new Error('it was not found possible');
    const done = await execute(tx, row, reviewed.plan, { decision: always ? 'always' : 'once' });
    if (effect.seals && done?.invite) await sealSecret(tx, deps, await reread(tx, row.id), secretOf(done.invite));
    if (effect.notice) await tellDecision(tx, row, effect.notice, done?.invite && Date.parse(done.invite.expires_at));
    const warning = effect.allows ? await allowAlways(tx, caller, row, action) : undefined;
    const answer = { state: 'executed' as const, approval: await shown(), ...done, ...(warning ? { warning } : {}) };
    return { status: done?.invite ? 201 : 200, answer };
  },
};

const secretOf = ({ invite }: ServerInvite): string => invite.slice(invite.indexOf('#') + 1);

/** What a decision rests on, then the request itself, read again. @param action null: it will not be done. */
async function lockAll(tx: WriteTx, seen: RequestRow, action: AdminAction | null): Promise<RequestRow> {
  if (action && effective(seen, tx.now).state === 'pending') await lockForAction(tx, action, seen.seat_board_id);
  await lockApproval(tx, seen.id);
  return reread(tx, seen.id);
}

const oneAtATime = (): Refusal =>
  invalidField('always', 'this kind of action is allowed one at a time only', 'Send it without always.');

/** Turns the category on that this action belongs to; answers what the person must hear of it. */
async function allowAlways(
  tx: WriteTx,
  caller: Caller,
  row: RequestRow,
  { kind }: AdminAction,
): Promise<string | undefined> {
  const { category } = kinds[kind];
  if (category === null) return undefined;
  const allowance = await allowanceOf(tx, row.person_id);
  const categories = new Set([...categoriesOf(allowance), category]);
  const by = { ...changedBy(caller), approval_id: row.id };
  await changeAllowance(tx, allowance, { trigger: 'always', categories: [...categories], by });
  return category === 'invite_people' ? INVITE_WARNING : undefined;
}

export const declineApproval: WriteCase<'declineApproval'> = {
  async run(tx, caller, { params, deps: { address } }) {
    const { row: seen } = await findApproval(tx, caller, params.approval, address.baseUrl());
    caller.shown.approval = seen.id;
    await lockApproval(tx, seen.id);
    const row = await reread(tx, seen.id);
    const { state } = effective(row, tx.now);
    const { effect } = plainTransition(approvalTable, state, 'decline');
    if (effect.refused) throw approvalClosed(state);
    if (effect.does === 'decline') {
      await close(tx, row.id, { state: 'declined' });
      if (effect.notice) await tellDecision(tx, row, effect.notice);
      await pairingsOfApproval(tx, row.id);
      tx.publish(`onboarding:${row.person_id}`);
    }
    const answer = await ownView(tx, caller, await reread(tx, row.id), address.baseUrl());
    const on = answer.display?.requested_on;
    if (on) caller.shown.boards = [on.id];
    return { answer };
  },
  async recheck(tx, caller, { approval = '', ...shown }, { address }) {
    await findApproval(tx, caller, approval, address.baseUrl());
    await recheckShown(tx, caller, shown);
  },
};
