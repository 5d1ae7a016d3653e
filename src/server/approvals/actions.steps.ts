/**
 * What each kind of action needs and does. First the person's standing, which a repeat needs too; then whether it can be
 * done; then doing it, by the steps that the person's own operations take.
 */
import { Refusal } from '../../contract/errors.ts';
import type { AdminAction, Authorization, ServerInvite } from '../../contract/types.ts';
import { requireAnotherOwner, requireOwner } from '../access/authority.ts';
import { lockPlaceById, type Place, requireActive } from '../access/place.ts';
import { changedPolicy } from '../boards/policy.rules.ts';
import { setPolicy } from '../boards/settings.steps.ts';
import type { WriteTx } from '../db/tx.ts';
import { isOwnSeat } from '../invites/authority.steps.ts';
import { type Address, issueInvite } from '../invites/issue.steps.ts';
import { endKey, keyNotFound, mayRevoke } from '../keys/key-ending.steps.ts';
import { lockKey } from '../keys/keys.store.ts';
import { endMembership } from '../members/endings.steps.ts';
import type { MemberRow } from '../members/members.store.ts';
import { bringOnto } from '../members/membership.steps.ts';
import { activeHuman } from '../members/memberships.store.ts';
import { type Authorized, makeOwner, unmakeOwner } from '../members/owners.steps.ts';
import { personNotFound, requireAdmin } from '../people/people.rules.ts';
import { type PersonRow, personById } from '../people/people.store.ts';
import { removeFromServer } from '../people/remove.steps.ts';
import { changeRole, refuseGuestRole, requireAdminLeft } from '../people/role.steps.ts';
import type { RootKey } from '../text/root-key.ts';
import { type ActionKind, type ActionOf, refuseSecrets } from './actions.rules.ts';
import { type Asker, actorFor } from './requester.steps.ts';

export interface Ground {
  tx: WriteTx;
  asker: Asker;
  root: RootKey;
  address: Address;
}

export interface Plan {
  /** What a request that would change nothing is refused with; null: there is something to do. */
  already: Refusal | null;
  run(authorization: Authorization): Promise<{ invite?: ServerInvite }>;
}

type Stage = () => Promise<Plan>;
type Kinds = { [Kind in ActionKind]: (ground: Ground, action: ActionOf<Kind>) => Promise<Stage> };

/** Whether the person has the standing for this now; answers the next stage. @throws Refusal of the person's own operation. */
export const requireStanding = (ground: Ground, action: AdminAction): Promise<Stage> =>
  (plans[action.kind] as (ground: Ground, action: AdminAction) => Promise<Stage>)(ground, action);

/** What an event says of its cause. */
export function reasonOf(authorization: Authorization): Authorized {
  const { kind } = authorization;
  return { authorization: { ...authorization }, ...(kind ? { action_kind: kind } : {}) };
}

const plans: Kinds = {
  async invite_people(ground, { invite }) {
    const { tx, asker } = ground;
    requireAdmin(asker.person.person, 'invite people to this server');
    for (const id of invite.boards) requireActive((await lockPlaceById(tx, asker.person, id)).board);
    if (invite.pairing) {
      refuseSecrets(invite.pairing.work);
      await requirePairable(ground, invite.pairing.initiating_agent_id, invite.boards[0]);
    }
    const issuer = { tx, root: ground.root, address: ground.address };
    return async () => ({
      already: null,
      run: async (authorization) => ({
        invite: await issueInvite(issuer, { ...invite, by: asker.person, requestId: asker.requestId, authorization }),
      }),
    });
  },

  async add_people(ground, { board_id, person_id }) {
    const { tx, asker } = ground;
    const place = await lockPlaceById(tx, asker.person, board_id);
    requireActive(place.board);
    return async () => {
      const person = await requirePresent(tx, person_id);
      const there = await activeHuman(tx, board_id, person_id);
      if (!there) refuseGuestOn(person);
      return {
        already: there ? alreadyOn(place, person, there) : null,
        run: async (authorization) => {
          const actor = await actorFor(tx, place.board, asker);
          await bringOnto(tx, place.board, {
            person,
            actor,
            ...(actor.kind === 'agent' ? { by_owner: asker.person.person.person_id } : {}),
            ...reasonOf(authorization),
          });
          return {};
        },
      };
    };
  },

  async set_board_role(ground, { board_id, person_id, role }) {
    const { tx, asker } = ground;
    const place = await lockPlaceById(tx, asker.person, board_id);
    requireActive(place.board);
    await requireOwner(tx, place);
    return async () => {
      const { member, person } = await requireOn(tx, place, person_id);
      const owner = role === 'owner';
      if (owner) refuseGuestOn(person);
      const same = (member.access === 'admin') === owner;
      if (!same && !owner) await requireAnotherOwner(tx, place);
      return {
        already: same ? noChange(`${person.handle} is ${owner ? 'an owner' : 'a member'} already.`) : null,
        run: async (authorization) => {
          const actor = await actorFor(tx, place.board, asker);
          const standing = { tx, board: place.board, member, actor };
          await (owner ? makeOwner : unmakeOwner)(standing, reasonOf(authorization));
          return {};
        },
      };
    };
  },

  remove_person: (ground, { board_id, person_id }) =>
    board_id === undefined ? removal(ground, person_id) : takeOff(ground, board_id, person_id),

  async set_board_policy(ground, { board_id, policy }) {
    const { tx, asker } = ground;
    const place = await lockPlaceById(tx, asker.person, board_id);
    requireActive(place.board);
    await requireOwner(tx, place);
    return async () => {
      const after = changedPolicy(place.policy, policy);
      const same = Object.entries(after).every(([key, value]) => place.policy[key as keyof typeof after] === value);
      return {
        already: same ? noChange('The policy of this board is so already.') : null,
        run: async (authorization) => {
          const actor = await actorFor(tx, place.board, asker);
          await setPolicy({ tx, board: place.board, actor }, policy, reasonOf(authorization));
          return {};
        },
      };
    };
  },

  async set_server_role({ tx, asker }, { person_id, role }) {
    requireAdmin(asker.person.person, "change people's roles");
    return async () => {
      const person = await requirePresent(tx, person_id);
      refuseGuestRole(person);
      const same = person.server_role === role;
      if (!same) await requireAdminLeft(tx, person);
      return {
        already: same ? noChange(`${person.handle} is ${role} already.`) : null,
        run: async () => {
          await changeRole(tx, person, { role, by: asker.person, requestId: asker.requestId });
          return {};
        },
      };
    };
  },

  async revoke_key({ tx, asker }, { key_id }) {
    const row = await lockKey(tx, key_id);
    if (!row || !mayRevoke(asker.person, row.person_id)) throw keyNotFound();
    return async () => ({
      already: row.revoked_at === null ? null : noChange(`The key ${row.name} is revoked already.`),
      run: async () => {
        await endKey(tx, row, { by: asker.person, requestId: asker.requestId });
        return {};
      },
    });
  },
};

async function removal({ tx, asker }: Ground, personId: string): Promise<Stage> {
  requireAdmin(asker.person.person, 'remove people');
  return async () => {
    const person = await personById(tx, personId);
    if (!person) throw personNotFound();
    const gone = person.removed_at !== null;
    if (!gone) await requireAdminLeft(tx, person);
    return {
      already: gone ? personNotFound() : null,
      run: async (authorization) => {
        const { person: caller, agentId, requestId } = asker;
        await removeFromServer(tx, person, { caller, agentId, requestId, why: reasonOf(authorization) });
        return {};
      },
    };
  };
}

/** Works while the board is archived, as an owner's own operation does. */
async function takeOff({ tx, asker }: Ground, boardId: string, personId: string): Promise<Stage> {
  const place = await lockPlaceById(tx, asker.person, boardId);
  const self = personId === asker.person.person.person_id;
  if (!self) await requireOwner(tx, place);
  return async () => {
    const member = await activeHuman(tx, boardId, personId);
    if (!member) await requireKnown(tx, personId);
    if (member && self && member.access === 'admin') await requireAnotherOwner(tx, place);
    return {
      already: member ? null : notOnBoard(place),
      run: async (authorization) => {
        const actor = await actorFor(tx, place.board, asker);
        const how = 'removed' as const;
        if (member) await endMembership(tx, place.board, member, { actor, how, why: reasonOf(authorization) });
        return {};
      },
    };
  };
}

async function requirePairable({ tx, asker }: Ground, agentId: string, boardId: string | undefined): Promise<void> {
  if (agentId !== asker.agentId) {
    throw new Refusal('forbidden', 'An agent asks only for work of its own.', {
      hint: 'Name the seat that makes the request as initiating_agent_id.',
    });
  }
  if (await isOwnSeat(tx, agentId, asker.person.person.person_id, boardId)) return;
  throw new Refusal('pairing_not_found', 'This agent is not on that board.', {
    hint: "Work together begins on the board of the agent's own seat.",
  });
}

async function requirePresent(tx: WriteTx, id: string): Promise<PersonRow> {
  const person = await personById(tx, id);
  if (person?.removed_at === null) return person;
  throw personNotFound();
}

async function requireKnown(tx: WriteTx, id: string): Promise<void> {
  if (!(await personById(tx, id))) throw personNotFound();
}

async function requireOn(tx: WriteTx, place: Place, id: string): Promise<{ member: MemberRow; person: PersonRow }> {
  const person = await requirePresent(tx, id);
  const member = await activeHuman(tx, place.board.id, id);
  if (member) return { member, person };
  throw notOnBoard(place);
}

function refuseGuestOn({ handle, server_role }: PersonRow): void {
  if (server_role !== 'guest') return;
  throw new Refusal('person_is_guest', `${handle} is a guest of this server.`, {
    hint: 'Invite them to the server with an account of their own: service invite create',
  });
}

const notOnBoard = ({ board }: Place): Refusal =>
  new Refusal('person_not_on_board', `This person is not on ${board.name}.`, {
    hint: `service board people --board ${board.name} shows who is on it.`,
  });

const alreadyOn = ({ board }: Place, { handle }: PersonRow, { id }: MemberRow): Refusal =>
  new Refusal('already_on_board', `${handle} is on ${board.name} already.`, {
    hint: `service board people --board ${board.name} shows who is on it.`,
    details: { member_id: id },
  });

const noChange = (message: string): Refusal =>
  new Refusal('no_change', message, { hint: 'There is nothing to ask for.' });
