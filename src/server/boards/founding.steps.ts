/** Makes a board, for a person or for one of their sessions. Every board is made here. */
import { Refusal } from '../../contract/errors.ts';
import { presets, type StoredPolicy } from '../../contract/policy.ts';
import type { Board, Body } from '../../contract/types.ts';
import { eventActor } from '../access/acting.ts';
import { requirePlace } from '../access/board-access.ts';
import { nameTaken } from '../access/collision.ts';
import type { WriteTx } from '../db/tx.ts';
import { blankMember, type MemberRow } from '../members/member.rules.ts';
import { insertMember } from '../members/members.store.ts';
import type { Caller } from '../operation/caller.ts';
import { ZERO } from '../record/append.steps.ts';
import { requireSeat, type SeatPlan } from '../seats/seat.steps.ts';
import { readSettings } from '../settings/settings.store.ts';
import { newId } from '../text/ids.ts';
import { record } from './acting.steps.ts';
import { type BoardRow, boardByName, insertBoard, namesLike } from './boards.store.ts';
import { firstFree } from './names.rules.ts';
import { withOverrides } from './policy.rules.ts';
import { plainMember, type Template, templates } from './templates.rules.ts';
import { requireOneLine } from './texts.rules.ts';

type RequestBody = Body<'createBoard'>;

/** The first agent of a board, where a machine's delegation founds it for a session. */
type FirstAgent = SeatPlan & { id: string; delegationId: string };

/** A delegation has no admin powers, also an admin's. @throws Refusal `board_creation_restricted`. */
export async function requireMayCreate(tx: WriteTx, { kind, person }: Caller): Promise<void> {
  if (person.server_role === 'admin' && kind !== 'DG') return;
  if ((await readSettings(tx)).board_creation === 'members') return;
  throw new Refusal('board_creation_restricted', 'Only server admins create boards here.', {
    hint: 'Ask an admin for a board, or to allow it to everybody: service settings set --board-creation members',
  });
}

/**
 * Makes a board whose first owner is the caller's person.
 * @throws Refusal `board_name_taken`, `template_not_found`, 422 `invalid_request`, and what making the agent's seat says.
 */
export async function foundBoard(tx: WriteTx, caller: Caller, options: RequestBody, agent?: FirstAgent) {
  if (options.title !== undefined) requireOneLine(options.title);
  const template = options.template === undefined ? undefined : requireTemplate(options.template);
  const name = await claimName(tx, caller, options.name, template);
  const policy = presets[options.preset ?? template?.preset ?? 'starter'];
  const { board, creator } = newBoard(tx, caller, options, { name, template, policy });
  if (agent) await requireSeat(tx, board, { ...caller.person, id: caller.person.person_id }, agent);
  await insertBoard(tx, board);
  await insertMember(tx, creator);
  await recordCreation(tx, caller, { board, creator, policy }, agent);
  caller.shown.board = board.id;
  return requirePlace({ board, member: creator, policy });
}

function requireTemplate(name: string): Template {
  const template = templates.find((known) => known.name === name);
  if (template) return template;
  const choices = templates.map((known) => known.name);
  throw new Refusal('template_not_found', 'There is no such template.', {
    hint: `Templates: ${choices.join(', ')}.`,
    details: { choices },
  });
}

/** The name asked for, or the first free one of the template. @throws Refusal `board_name_taken`. */
async function claimName(tx: WriteTx, caller: Caller, asked: string | undefined, template: Template | undefined) {
  if (asked === undefined) {
    const base = template?.name ?? 'board';
    return firstFree(base, await namesLike(tx, base));
  }
  const holder = await boardByName(tx, asked);
  if (holder) throw await nameTaken(tx, caller, holder);
  return asked;
}

function newBoard(
  tx: WriteTx,
  caller: Caller,
  options: RequestBody,
  { name, template, policy }: { name: string; template: Template | undefined; policy: StoredPolicy },
) {
  const id = newId('brd', tx.now);
  const memberId = newId('mem', tx.now);
  const creator: MemberRow = {
    ...blankMember,
    id: memberId,
    board_id: id,
    name: caller.person.handle,
    kind: 'human',
    person_id: caller.person.person_id,
    access: 'admin',
    first_joined_at: tx.now,
    joined_at: tx.now,
    // The number of the `member.joined` that follows `board.created`.
    read_up_to: 2,
  };
  const board: BoardRow = {
    id,
    name,
    title: options.title || null,
    visibility: options.visibility,
    lifecycle: 'active',
    template: template?.name ?? null,
    charter: options.charter ?? template?.charter ?? '',
    roles: JSON.stringify({ member: plainMember, ...template?.roles }),
    policy: JSON.stringify(policy),
    agents_add_people: options.visibility === 'open' ? 1 : 0,
    task_prefix: null,
    created_at: tx.now,
    creator_person_id: caller.person.person_id,
    creator_member_id: memberId,
    head_seq: 0,
    head_hash: ZERO,
    head_at: 0,
    message_count: 0,
    everyone_count: 0,
    done_count: 0,
    answer_count: 0,
    last_message_at: null,
    show_owner: 0,
  };
  return { board, creator };
}

/** The first two events of every record. */
async function recordCreation(
  tx: WriteTx,
  caller: Caller,
  { board, creator, policy }: { board: BoardRow; creator: MemberRow; policy: StoredPolicy },
  agent: FirstAgent | undefined,
): Promise<void> {
  const setting = { tx, board, actor: eventActor(creator, caller.person.handle) };
  await record(setting, 'board.created', {
    board_id: board.id,
    name: board.name,
    template: board.template,
    charter: board.charter,
    roles: JSON.parse(board.roles) as Board['roles'],
    policy: withOverrides(policy),
    agents_add_people: board.agents_add_people === 1,
    ...(board.title === null ? {} : { title: board.title }),
    ...(board.visibility === 'private' ? { visibility: 'private' } : {}),
    ...(agent ? { agent_id: agent.id, via: 'delegation', delegation_id: agent.delegationId } : {}),
  });
  await record(setting, 'member.joined', {
    member_id: creator.id,
    name: creator.name,
    kind: 'human',
    role: null,
    owner: null,
    owner_id: null,
    harness: null,
    access: 'admin',
    join_code_id: null,
    // Without it nobody could tell from the record alone which person the creator is.
    person_id: creator.person_id,
  });
  tx.publish(`account:${caller.person.person_id}`);
  if (board.visibility === 'open') tx.publish('boards');
}
