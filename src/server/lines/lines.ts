/** An agent's line: what it says it is on now. The record knows nothing of it, and an archived board takes it too. */
import { Refusal } from '../../contract/errors.ts';
import type { Body, Params } from '../../contract/types.ts';
import { memberNotFound } from '../access/authority.ts';
import { onBoard, ownPlace, type Place } from '../access/board-access.ts';
import type { WriteTx } from '../db/tx.ts';
import { findMember, type MemberWithPerson, membersWithIds } from '../members/members.store.ts';
import type { Caller, SeatCaller } from '../operation/caller.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { lockMode } from '../seats/agents.store.ts';
import { requireTask } from '../tasks/find.steps.ts';
import { redact } from '../text/redaction.ts';
import { memberView } from '../views/member.ts';
import { filesOf, overlapsOf, recheckOverlaps } from './claims.steps.ts';
import { AHEAD_MS, type LineRow } from './lines.rules.ts';
import { clearLines, setLine } from './lines.steps.ts';
import { linesOf } from './lines.store.ts';

type SetLine = Body<'setMyLine'>;

/** Whose line it is, and who says it. */
interface Target {
  place: Place;
  agentId: string;
  setBy: string;
}

type Find = (tx: WriteTx, caller: Caller, params: Params<'setAgentLine'>) => Promise<Target>;

const setting = (find: Find): WriteCase<'setAgentLine'> => ({
  prepare: (body) => ({ ...body, text: redact(body.text).text }),
  async run(tx, caller, { params, body }) {
    return { answer: await set(tx, caller, await find(tx, caller, params), body) };
  },
  recheck: recheckOverlaps,
});

const clearing = (find: Find): WriteCase<'clearAgentLine'> => ({
  async run(tx, caller, { params }) {
    const { place, agentId } = await find(tx, caller, params);
    await clearLines(tx, place.board.id, { member_id: agentId });
    return { answer: await memberView(tx, await agentWithId(tx, agentId), place, caller) };
  },
});

export const setMyLine: WriteCase<'setMyLine'> = setting(itself);
export const clearMyLine: WriteCase<'clearMyLine'> = clearing(itself);
export const setAgentLine: WriteCase<'setAgentLine'> = setting(ownAgent);
export const clearAgentLine: WriteCase<'clearAgentLine'> = clearing(ownAgent);

async function itself(tx: WriteTx, caller: Caller): Promise<Target> {
  const place = await ownPlace(tx, caller as SeatCaller);
  return { place, agentId: place.member.id, setBy: place.member.name };
}

async function set(tx: WriteTx, caller: Caller, { place, agentId, setBy }: Target, body: SetLine) {
  const until = body.kind === 'paused' ? body.until : null;
  if (until !== null && until > tx.now + AHEAD_MS) {
    throw new Refusal('invalid_request', 'until: must be at most 30 days ahead.', {
      hint: 'Pause until an earlier time, and set the line again when it comes.',
    });
  }
  const agent = await agentWithId(tx, agentId);
  const task = body.task === undefined ? null : await requireTask(tx, place.board.id, body.task);
  if (until !== null && until <= tx.now) {
    throw new Refusal('line_until_past', 'The end of the pause is in the past.', {
      hint: 'Give a time in the future, such as: service line paused "…" --until 30m.',
    });
  }
  const [former] = await linesOf(tx, [agent.id]);
  const line = {
    member_id: agent.id,
    kind: body.kind,
    text: body.text,
    until,
    task_id: body.task === undefined ? agent.current_task_id : (task?.id ?? null),
    set_by: setBy,
    source: body.source,
    // A plan goes on about the files of the line before.
    ...(body.source === 'plan' && body.paths === undefined && former ? kept(former) : filesOf(body)),
  };
  await setLine(tx, place.board.id, line);
  const overlaps = await overlapsOf(tx, caller, agent, { line, former });
  return { ...(await memberView(tx, agent, place, caller)), ...(line.paths === null ? {} : { overlaps }) };
}

const kept = ({ repo, paths }: LineRow) => ({ repo, paths });

async function agentWithId(tx: WriteTx, id: string): Promise<MemberWithPerson> {
  const [agent] = await membersWithIds(tx, [id]);
  if (!agent) throw new Error(`agent ${id} is missing`);
  return agent;
}

/** An active agent of the caller's, its seat locked. @throws Refusal `member_not_found`, `agent_owner_required`. */
async function ownAgent(tx: WriteTx, caller: Caller, params: Params<'setAgentLine'>): Promise<Target> {
  const place = await onBoard(tx, caller, params.board);
  const found = await findMember(tx, place.board.id, params.member);
  if (found?.status !== 'active') throw memberNotFound(place);
  if (found.kind !== 'agent' || found.person_id !== caller.person.person_id) {
    throw new Refusal('agent_owner_required', `${found.name} is not an agent of yours.`, {
      hint: 'Only an agent and its own person say what it is on.',
    });
  }
  // Held and read again: a seat that ended meanwhile takes no line any more.
  if ((await lockMode(tx, found.id))?.status !== 'active') throw memberNotFound(place);
  return { place, agentId: found.id, setBy: place.member.name };
}
