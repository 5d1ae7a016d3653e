/** Changing a board's settings: all that is asked for, or nothing. */
import { Refusal } from '../../contract/errors.ts';
import { patterns } from '../../contract/ids.ts';
import type { Body } from '../../contract/types.ts';
import { actingOn } from '../access/acting.ts';
import { requireOwner } from '../access/authority.ts';
import type { Place } from '../access/board-access.ts';
import type { WriteTx } from '../db/tx.ts';
import { activeAgents } from '../members/members.store.ts';
import { activeHuman } from '../members/memberships.store.ts';
import type { Caller } from '../operation/caller.ts';
import { personRequired } from '../operation/gate.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { boardView } from '../views/board.ts';
import type { Setting } from './acting.steps.ts';
import { parsePolicy, parseRoles } from './boards.store.ts';
import { mayDo } from './policy.rules.ts';
import { prefixHolder } from './prefixes.store.ts';
import * as settings from './settings.steps.ts';
import { cleanRoles, cleanTexts, requireOneLine, requireRoles } from './texts.rules.ts';

type Change = Body<'updateBoard'>;

export const updateBoard: WriteCase<'updateBoard'> = {
  prepare: (body) => ({
    ...cleanTexts(body),
    ...(body.roles === undefined ? {} : { roles: cleanRoles(body.roles) }),
  }),

  /** Taking a right away from agents goes on while a board is archived, if nothing else is asked for. */
  worksArchived: (body) => body.agents_add_people === false && Object.keys(body).length === 1,

  async run(tx, caller, { params, body }) {
    const { place, acting } = await actingOn(tx, caller, params.board);
    await requireAuthority(tx, caller, place, body);
    await requireValues(tx, place, body);
    await apply(acting, body);
    return { answer: await boardView(tx, caller, { ...place, policy: parsePolicy(place.board) }) };
  },
};

/** @throws Refusal for the first key that is not the caller's to change. */
async function requireAuthority(tx: WriteTx, caller: Caller, place: Place, body: Change): Promise<void> {
  for (const key of ['title', 'charter', 'roles', 'policy', 'agents_add_people', 'task_prefix'] as const) {
    if (body[key] === undefined) continue;
    if (place.member.kind === 'agent') await requireAgentMay(tx, caller, place, key);
    else await requireOwner(tx, place, key === 'agents_add_people' ? 'owner_required' : 'admin_required');
  }
}

/** An agent acts for an owner on what only names things, and on the charter by its role's grant. */
async function requireAgentMay(tx: WriteTx, caller: Caller, { board, member }: Place, key: keyof Change) {
  if (key === 'charter' && mayDo(parseRoles(board)[member.role ?? ''], 'edit_charter')) return;
  if (key === 'title' || key === 'task_prefix') {
    const person = await activeHuman(tx, board.id, caller.person.person_id);
    if (person?.access === 'admin') return;
  }
  throw personRequired();
}

/** @throws Refusal for the first value that cannot be. */
async function requireValues(tx: WriteTx, { board }: Place, body: Change): Promise<void> {
  if (body.title !== undefined) requireOneLine(body.title);
  if (body.roles !== undefined) {
    requireRoles(body.roles);
    const kept = new Set(Object.keys(body.roles));
    const dropped = Object.keys(parseRoles(board)).filter((role) => !kept.has(role));
    await requireUnused(tx, board.id, dropped);
  }
  if (body.task_prefix !== undefined) await requirePrefix(tx, board.id, body.task_prefix);
}

/** @throws Refusal `role_in_use` when an active agent holds one of these roles. */
async function requireUnused(tx: WriteTx, boardId: string, roles: string[]): Promise<void> {
  const holders = roles.length === 0 ? [] : await activeAgents(tx, boardId, 'role', roles);
  if (holders.length === 0) return;
  const used = roles.flatMap((role) => {
    const agents = holders.filter((agent) => agent.role === role).map((agent) => agent.name);
    return agents.length === 0 ? [] : [{ role, agents }];
  });
  throw new Refusal('role_in_use', `Active agents hold the role ${used[0]?.role}.`, {
    hint: 'Remove those agents first, or keep the role: an agent has its role for life.',
    details: { roles: used },
  });
}

async function requirePrefix(tx: WriteTx, boardId: string, prefix: string): Promise<void> {
  if (!patterns.taskPrefix.test(prefix)) {
    throw new Refusal('task_prefix_invalid', 'A task prefix is 2 to 6 capitals and digits and begins with a capital.', {
      hint: 'Such as CHK, as in CHK-17.',
      details: { field: 'task_prefix' },
    });
  }
  const holder = await prefixHolder(tx, prefix);
  if (holder === undefined || holder === boardId) return;
  throw new Refusal('task_prefix_taken', `Some board uses or used the prefix ${prefix}.`, {
    hint: 'Choose another one; a prefix stays with its board for good.',
  });
}

async function apply(setting: Setting, body: Change): Promise<void> {
  if (body.title !== undefined) await settings.setTitle(setting, body.title || null);
  if (body.charter !== undefined || body.roles !== undefined) await settings.setConfig(setting, body);
  if (body.policy !== undefined) await settings.setPolicy(setting, body.policy);
  if (body.agents_add_people !== undefined) await settings.setAgentsAddPeople(setting, body.agents_add_people);
  if (body.task_prefix !== undefined) await settings.setTaskPrefix(setting, body.task_prefix);
}
