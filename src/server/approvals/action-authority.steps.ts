/**
 * What each kind of action needs and does. First the person's authority, which a repeated request needs too; then whether it
 * can be done now; then doing it, by the steps that the person's own operations call.
 */
import { canonicalJson } from '../../contract/canonical.ts';
import { Refusal } from '../../contract/errors.ts';
import type { AdminAction, Approval, Authorization, ServerInvite } from '../../contract/types.ts';
import { personNotOnBoard, requireAnotherOwner, requireOwner } from '../access/authority.ts';
import { lockPlaceById } from '../access/board-access.ts';
import { changedPolicy } from '../boards/policy.rules.ts';
import { setPolicy } from '../boards/settings.steps.ts';
import type { WriteTx } from '../db/tx.ts';
import type { Address } from '../invites/address.rules.ts';
import { issueInvite } from '../invites/issue.steps.ts';
import { endKey, keyNotFound, mayRevoke } from '../keys/keys.steps.ts';
import { keysWithIds } from '../keys/keys.store.ts';
import { alreadyOnBoard, memberUnlessAddable } from '../members/adding.steps.ts';
import { endMembership } from '../members/end-members.steps.ts';
import { addMembership } from '../members/membership.steps.ts';
import { activeHuman } from '../members/memberships.store.ts';
import { makeOwner, ownershipChanges, unmakeOwner } from '../members/owners.steps.ts';
import { setTerms } from '../operation/terms.ts';
import { personNotFound } from '../people/people.rules.ts';
import { type PersonRow, personById } from '../people/people.store.ts';
import { removeFromServer } from '../people/remove.steps.ts';
import { changeRole, refuseGuestRole, requireAdminLeft, type Warned } from '../people/role.steps.ts';
import type { Authorized } from '../record/append.steps.ts';
import { requireOwnSeat } from '../seats/own-agent.steps.ts';
import type { RootKey } from '../text/root-key.ts';
import { type ActionKind, type ActionOf, ownOperation, refuseSecrets } from './actions.rules.ts';
import { type Requester, settingFor } from './requester.steps.ts';

export interface ActionContext {
  tx: WriteTx;
  requester: Requester;
  root: RootKey;
  address: Address;
}

export interface Plan {
  /** What a request that would change nothing is refused with; null: there is something to do. */
  already: Refusal | null;
  run?(authorization: Authorization): Promise<Warned | undefined>;
  /** Runs it where it makes an invite. */
  issue?(authorization: Authorization): Promise<ServerInvite>;
}

type MakePlan = () => Promise<Plan>;
type Kinds = { [Kind in ActionKind]: (context: ActionContext, action: ActionOf<Kind>) => Promise<MakePlan> };

/** Checks the person's authority now; answers what plans the action. @throws Refusal of the person's own operation. */
export async function requireAuthority({ requester, ...context }: ActionContext, action: AdminAction) {
  const person = { ...requester.person };
  setTerms(person, ownOperation(action));
  const plan = plans[action.kind] as (context: ActionContext, action: AdminAction) => Promise<MakePlan>;
  return plan({ ...context, requester: { ...requester, person } }, action);
}

export interface Review {
  plan: Plan | null;
  refusal: Refusal | null;
}

/**
 * Whether a person may do now what their agent asks for: with the refusal of their own operation.
 * @param state an executed one is looked at again without asking whether it could be done again.
 */
export async function review(
  context: ActionContext,
  action: AdminAction,
  state: Approval['state'] | 'new',
): Promise<Review> {
  try {
    const makePlan = await requireAuthority(context, action);
    const plan = state === 'executed' ? null : await makePlan();
    // What would change nothing is not asked for; what became so meanwhile is done as that.
    return { plan, refusal: (state === 'new' && plan?.already) || null };
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    return { plan: null, refusal };
  }
}

/** What an event says of its cause. */
function reasonOf(authorization: Authorization): Authorized {
  const { kind } = authorization;
  return { authorization: { ...authorization }, ...(kind ? { action_kind: kind } : {}) };
}

const plans: Kinds = {
  async invite_people(context, { invite }) {
    const { tx, requester } = context;
    for (const id of invite.boards) await lockPlaceById(tx, requester.person, id);
    if (invite.pairing) {
      refuseSecrets(invite.pairing.work);
      await requirePairable(context, invite.pairing.initiating_agent_id, invite.boards[0]);
    }
    const by = { by: requester.person, requestId: requester.requestId };
    return async () => ({
      already: null,
      issue: (authorization) => issueInvite(context, { ...invite, ...by, authorization }),
    });
  },

  async add_people(context, { board_id, person_id }) {
    const { tx, requester } = context;
    const place = await lockPlaceById(tx, requester.person, board_id);
    return async () => {
      const person = await requirePresent(tx, person_id);
      const member = await memberUnlessAddable(tx, place.board, person);
      return {
        already: member ? alreadyOnBoard(place.board, person.handle, member) : null,
        run: async (authorization) => {
          const { actor } = await settingFor(tx, place.board, requester);
          const owner = actor.kind === 'agent' ? { by_owner: requester.person.person.person_id } : {};
          await addMembership(tx, place.board, { person, actor, ...owner, ...reasonOf(authorization) });
        },
      };
    };
  },

  async set_board_role(context, { board_id, person_id, role }) {
    const { tx, requester } = context;
    const place = await lockPlaceById(tx, requester.person, board_id);
    await requireOwner(tx, place);
    return async () => {
      const person = await requirePresent(tx, person_id);
      const member = await activeHuman(tx, place.board.id, person_id);
      if (!member) throw personNotOnBoard(place.board);
      const owner = role === 'owner';
      const changes = await ownershipChanges(tx, place.board, { ...member, ...person }, role);
      return {
        already: changes ? null : noChange(`${person.handle} is ${owner ? 'an owner' : 'a member'} already.`),
        run: async (authorization) => {
          const acting = { ...(await settingFor(tx, place.board, requester)), member };
          await (owner ? makeOwner : unmakeOwner)(acting, reasonOf(authorization));
        },
      };
    };
  },

  remove_person: (context, { board_id, person_id }) =>
    board_id === undefined ? removal(context, person_id) : takeOff(context, board_id, person_id),

  async set_board_policy(context, { board_id, policy }) {
    const { tx, requester } = context;
    const place = await lockPlaceById(tx, requester.person, board_id);
    await requireOwner(tx, place);
    return async () => {
      const same = canonicalJson(changedPolicy(place.policy, policy)) === canonicalJson(place.policy);
      return {
        already: same ? noChange('The policy of this board is so already.') : null,
        run: async (authorization) => {
          await setPolicy(await settingFor(tx, place.board, requester), policy, reasonOf(authorization));
        },
      };
    };
  },

  async set_server_role({ tx, requester }, { person_id, role }) {
    return async () => {
      const person = await requirePresent(tx, person_id);
      refuseGuestRole(person);
      const same = person.server_role === role;
      if (!same) await requireAdminLeft(tx, person);
      return {
        already: same ? noChange(`${person.handle} is ${role} already.`) : null,
        run: () => changeRole(tx, person, { role, by: requester.person, requestId: requester.requestId }),
      };
    };
  },

  async revoke_key({ tx, requester }, { key_id }) {
    const [row] = await keysWithIds(tx, [key_id]);
    if (!row || !mayRevoke(requester.person, row.person_id)) throw keyNotFound();
    return async () => ({
      already: row.revoked_at === null ? null : noChange(`The key ${row.name} is revoked already.`),
      run: () => endKey(tx, row, { by: requester.person, requestId: requester.requestId }),
    });
  },
};

async function removal({ tx, requester }: ActionContext, personId: string): Promise<MakePlan> {
  return async () => {
    const person = await personById(tx, personId);
    if (!person) throw personNotFound();
    const gone = person.removed_at !== null;
    if (!gone) await requireAdminLeft(tx, person);
    return {
      already: gone ? personNotFound() : null,
      run: (authorization) => {
        const { person: caller, agentId, requestId } = requester;
        return removeFromServer(tx, person, { caller, agentId, requestId, why: reasonOf(authorization) });
      },
    };
  };
}

/** Works while the board is archived, as an owner's own operation does. */
async function takeOff({ tx, requester }: ActionContext, boardId: string, personId: string): Promise<MakePlan> {
  const place = await lockPlaceById(tx, requester.person, boardId);
  const self = personId === requester.person.person.person_id;
  if (!self) await requireOwner(tx, place);
  return async () => {
    const member = await activeHuman(tx, boardId, personId);
    if (!member && !(await personById(tx, personId))) throw personNotFound();
    if (member && self && member.access === 'admin') await requireAnotherOwner(tx, place);
    return {
      already: member ? null : personNotOnBoard(place.board),
      run: async (authorization) => {
        const setting = await settingFor(tx, place.board, requester);
        const how = self ? 'removed_by_self' : 'removed';
        if (member) await endMembership(setting, member, how, reasonOf(authorization));
      },
    };
  };
}

async function requirePairable({ tx, requester }: ActionContext, agentId: string, boardId: string | undefined) {
  if (agentId !== requester.agentId) {
    throw new Refusal('forbidden', 'An agent asks only for work of its own.', {
      hint: 'Name the seat that makes the request as initiating_agent_id.',
    });
  }
  await requireOwnSeat(tx, agentId, requester.person.person.person_id, boardId);
}

async function requirePresent(tx: WriteTx, id: string): Promise<PersonRow> {
  const person = await personById(tx, id);
  if (person?.removed_at === null) return person;
  throw personNotFound();
}

const noChange = (message: string): Refusal =>
  new Refusal('no_change', message, { hint: 'There is nothing to ask for.' });
