/** Starting, joining, finishing and dropping tasks. */
import { Refusal } from '../../contract/errors.ts';
import type { Params } from '../../contract/types.ts';
import { actingOn } from '../access/acting.ts';
import { memberNotFound } from '../access/authority.ts';
import type { Place } from '../access/board-access.ts';
import { record } from '../boards/acting.steps.ts';
import type { WriteTx } from '../db/tx.ts';
import { filesOf, overlapsOf, recheckOverlaps } from '../lines/claims.steps.ts';
import { setLine } from '../lines/lines.steps.ts';
import { linesOf } from '../lines/lines.store.ts';
import { lockSeats } from '../members/end-members.store.ts';
import { findMember, memberById } from '../members/members.store.ts';
import type { Caller } from '../operation/caller.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { redact } from '../text/redaction.ts';
import { staleTasks } from '../views/tasks/stale.ts';
import { taskView } from '../views/tasks/task.ts';
import { notOnTask, requireOwnership, taskTaken } from '../views/tasks/task-refusals.ts';
import { requireTask } from './find.steps.ts';
import {
  change,
  dropPart,
  isHelper,
  joinTask as join,
  lineAbout,
  releaseAll,
  requireOpen,
  takeOver,
  takeTask,
} from './parts.steps.ts';
import { readSelector } from './references.rules.ts';
import type { TaskRow } from './tasks.store.ts';

async function find(
  tx: WriteTx,
  caller: Caller,
  params: Params<'getTask'>,
  permissions: readonly 'claim_tasks'[] = [],
) {
  const { place, acting } = await actingOn(tx, caller, params.board, permissions);
  const task = await requireTask(tx, place.board.id, params.task);
  requireOpen(task);
  return { place, acting, task };
}

/** Holds the seats of agents who are on the task and may not be any more; none for an agent that is going to be refused. */
const lockSeatsOn = (tx: WriteTx, { seat }: Caller, { board, task }: Params<'getTask'>): Promise<void> =>
  lockSeats(tx, { board, of: { task: { ...readSelector(task), ...(seat && { owner_id: seat.id }) } } });

export const startTask: WriteCase<'startTask'> = {
  async run(tx, caller, { params, body }) {
    const { place, acting, task } = await find(tx, caller, params, ['claim_tasks']);
    if (body.paths && place.member.kind === 'human') {
      throw new Refusal('invalid_request', 'paths: belong to the line of an agent, and people have none.', {
        hint: 'Start it as an agent of yours: service task start TASK --paths GLOB --as AGENT.',
      });
    }
    const [former] = body.paths ? await linesOf(tx, [place.member.id]) : [];
    if (task.owner_id === null || task.owner_id === place.member.id) {
      await takeTask(acting, task);
    } else {
      const allowed = await mayTakeOver(tx, place, task);
      if (!allowed || !body.take_over) throw await taskTaken(tx, place, task, allowed);
      await takeOver(acting, task, task.owner_id);
    }
    const answer = await taskView(tx, place, task);
    if (!body.paths) return { answer };
    const line = { ...lineAbout(place.member, task), ...filesOf(body) };
    await setLine(tx, place.board.id, line);
    return { answer: { ...answer, overlaps: await overlapsOf(tx, caller, place.member, { line, former }) } };
  },
  recheck: recheckOverlaps,
};

/** The owner's person and a board owner may at any time; others once the owner left it. */
async function mayTakeOver(tx: WriteTx, { member, policy }: Place, task: TaskRow): Promise<boolean> {
  if (member.kind === 'human') {
    if (member.access === 'admin') return true;
    if ((await memberById(tx, task.owner_id ?? ''))?.person_id === member.person_id) return true;
  }
  return (await staleTasks(tx, policy, [task])).has(task.id);
}

export const joinTask: WriteCase<'joinTask'> = {
  async run(tx, caller, { params }) {
    const { place, acting, task } = await find(tx, caller, params, ['claim_tasks']);
    await join(acting, task);
    return { answer: await taskView(tx, place, task) };
  },
};

export const finishTask: WriteCase<'finishTask'> = {
  prepare: (body) => ({ ...body, note: redact(body.note).text }),

  async run(tx, caller, { params, body }) {
    await lockSeatsOn(tx, caller, params);
    const { place, acting, task } = await find(tx, caller, params);
    const { member, board } = acting;
    await requireOwnership(tx, place, task, body.ownership);
    if (member.kind === 'agent' && task.owner_id !== member.id) throw await notOnTask(tx, place, task, 'close');
    const { note, cancelled } = body;
    if (!cancelled) board.done_count += 1;
    const { at } = await record(acting, 'task.done', { task_id: task.id, ref: task.ref, note, cancelled });
    const state = cancelled ? 'cancelled' : 'done';
    await change(tx, task, { state, closed_at: at, closed_note: note, updated_at: at });
    await releaseAll(tx, task);
    return { answer: await taskView(tx, place, task) };
  },
};

export const dropTask: WriteCase<'dropTask'> = {
  prepare: (body) => ({ ...body, ...(body.reason === undefined ? {} : { reason: redact(body.reason).text }) }),

  async run(tx, caller, { params, body }) {
    // Agents end their own part only, and their request holds their row.
    if (body.member !== undefined && caller.seat === null) await lockSeatsOn(tx, caller, params);
    const { place, acting, task } = await find(tx, caller, params);
    await requireOwnership(tx, place, task, body.ownership);
    const member = body.member === undefined ? acting.member : await findMember(tx, place.board.id, body.member);
    if (!member) throw memberNotFound(place);
    const helps = task.owner_id !== member.id && (await isHelper(tx, task, member.id));
    const as = task.owner_id === member.id ? 'owner' : helps ? 'helper' : null;
    const own = member.id === acting.member.id;
    if (acting.member.kind === 'agent' && !own) throw await notOnTask(tx, place, task, 'end_others');
    if (as === null) throw await notOnTask(tx, place, task, { drop: member });
    await dropPart(acting, task, { memberId: member.id, as, reason: body.reason || null, by: own ? 'self' : 'person' });
    return { answer: await taskView(tx, place, task) };
  },
};
