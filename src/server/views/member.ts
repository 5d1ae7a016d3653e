/** The member record, as each reader gets it. */
import type { AgentLocation, Budget, Member, TaskRef } from '../../contract/types.ts';
import type { Place } from '../access/board-access.ts';
import type { BoardRow } from '../boards/boards.store.ts';
import type { ReadTx } from '../db/tx.ts';
import type { LineRow } from '../lines/lines.store.ts';
import type { MemberRow, MemberWithPerson } from '../members/members.store.ts';
import { type Caller, isPerson } from '../operation/caller.ts';
import { brakeAt, usualWakes } from '../seats/budget.rules.ts';
import { budgetsOf, type SeatBudget } from '../seats/budgets.store.ts';
import { presenceAt, stateWord } from '../seats/presence.rules.ts';
import { noReport, type ReportRow, reportsOf } from '../seats/reports.store.ts';
import { tasksWithIds } from '../tasks/tasks.store.ts';
import { timestamp, timestampOrNull } from '../text/time.ts';
import { seesHarness } from './actors.ts';
import { lineView, standingLines } from './line.ts';
import { taskRefView } from './task-ref.ts';

/** Members of a board the caller is on. */
export async function memberViews(
  tx: ReadTx,
  rows: readonly MemberWithPerson[],
  place: Place,
  caller: Caller,
): Promise<Member[]> {
  const known = await aboutAgents(tx, rows, caller);
  return rows.map((row) => ({
    ...facts(tx, row, place.board, caller, known),
    ...(row.kind === 'agent' && !seesHarness(row.id, place.reader) ? { harness: null } : {}),
    ...(isPerson(caller) && row.kind === 'agent' && row.status === 'active'
      ? { can_remove: mayRemove(row, place.member, caller) }
      : {}),
  }));
}

export async function memberView(tx: ReadTx, row: MemberWithPerson, place: Place, caller: Caller): Promise<Member> {
  const [view] = await memberViews(tx, [row], place, caller);
  return view as Member;
}

/** The caller's own agents on all boards. */
export async function ownAgentViews(
  tx: ReadTx,
  agents: readonly { agent: MemberWithPerson; board: Pick<BoardRow, 'id' | 'name'> }[],
  caller: Caller,
): Promise<Member[]> {
  const known = await aboutAgents(
    tx,
    agents.map(({ agent }) => agent),
    caller,
  );
  return agents.map(({ agent, board }) => facts(tx, agent, board, caller, known));
}

/** What agents reported and are on, by the ids of agent and task. */
interface Known {
  reports: ReadonlyMap<string, ReportRow>;
  lines: ReadonlyMap<string, LineRow>;
  tasks: ReadonlyMap<string, TaskRef>;
  /** Of the caller's own agents. */
  budgets: ReadonlyMap<string, SeatBudget>;
}

async function aboutAgents(tx: ReadTx, rows: readonly MemberRow[], caller: Caller): Promise<Known> {
  const agents = rows.filter((row) => row.kind === 'agent');
  if (agents.length === 0) return { reports: new Map(), lines: new Map(), tasks: new Map(), budgets: new Map() };
  const ids = agents.map((agent) => agent.id);
  const own = isPerson(caller) ? agents.filter((agent) => isOwn(agent, caller)).map((agent) => agent.id) : [];
  const reports = new Map((await reportsOf(tx, ids)).map((report) => [report.member_id, report]));
  const lines = await standingLines(tx, ids, reports);
  const tasks = await tasksWithIds(tx, [
    ...new Set([
      ...agents.flatMap((agent) => agent.current_task_id ?? []),
      ...[...lines.values()].flatMap((line) => line.task_id ?? []),
    ]),
  ]);
  return {
    reports,
    lines,
    tasks: new Map(tasks.map((task) => [task.id, taskRefView(task)])),
    budgets: await budgetsOf(tx, own),
  };
}

function facts(
  tx: ReadTx,
  member: MemberWithPerson,
  board: Pick<BoardRow, 'id' | 'name'>,
  caller: Caller,
  known: Known,
): Member {
  const agent = member.kind === 'agent';
  const active = member.status === 'active';
  return {
    id: member.id,
    board: board.name,
    board_id: board.id,
    name: member.name,
    kind: member.kind,
    ...(!agent && member.display_name !== null ? { display_name: member.display_name } : {}),
    role: agent ? member.role : null,
    owner: agent ? member.handle : null,
    owner_id: agent ? member.person_id : null,
    harness: agent ? member.harness : null,
    access: agent ? null : member.access,
    server_role: agent ? null : member.server_role,
    status: member.status,
    ...(member.removed_at !== null && !active ? { removed_at: timestamp(member.removed_at) } : {}),
    ...(member.removed_by !== null && !active ? { removed_by: member.removed_by } : {}),
    joined_at: timestamp(member.joined_at),
    ...(agent ? reported(member, known, tx.now) : silent),
    delivery_mode: agent ? member.delivery_mode : null,
    delivery_revision: agent ? member.delivery_revision : null,
    ...(agent ? { current_task: known.tasks.get(member.current_task_id ?? '') ?? null } : {}),
    ...(agent ? whereabouts(member, caller, known.reports.get(member.id)) : {}),
    ...(agent && active && isPerson(caller) && isOwn(member, caller)
      ? { budget: budgetView(known.budgets.get(member.id)) }
      : {}),
  };
}

/** What people, who report nothing, have of it. */
const silent = { presence: null, presence_since: null, delivery: null, line: null, state: null };

function reported(member: MemberRow, { reports, lines, tasks }: Known, now: number) {
  const report = reports.get(member.id) ?? noReport(member.id);
  const line = lines.get(member.id) ?? null;
  const brake = brakeAt(member, now);
  const { presence, since } = presenceAt(report, now);
  return {
    presence,
    presence_since: timestampOrNull(since),
    delivery: report.delivery,
    line: line && lineView(line, tasks.get(line.task_id ?? '') ?? null),
    state: stateWord(presence, line, now, brake !== null),
    ...(brake ? { braked: brakeView(brake) } : {}),
  };
}

/** Where an agent runs is for its own person and their agents only. */
function whereabouts(agent: MemberRow, caller: Caller, report: ReportRow | undefined): { location?: AgentLocation } {
  const location = report && agent.person_id === caller.person.person_id ? locationView(report) : null;
  return location ? { location } : {};
}

export function locationView(report: ReportRow): AgentLocation | null {
  const { location_harness, location_session, location_folder, location_machine, located_at } = report;
  if (location_harness === null || location_session === null || location_folder === null || located_at === null) {
    return null;
  }
  return {
    ...(location_machine === null ? {} : { machine: location_machine }),
    harness: location_harness,
    session_id: location_session,
    folder: location_folder,
    last_active: timestamp(Math.max(located_at, report.reported_at ?? 0)),
  };
}

const isOwn = (agent: MemberRow, { person }: Caller): boolean => agent.person_id === person.person_id;

export const budgetView = (budget: Pick<SeatBudget, 'wakes' | 'cost'> | undefined): Budget => ({
  wakes: budget?.wakes ?? usualWakes,
  cost: budget?.cost ?? null,
});

const mayRemove = (agent: MemberRow, member: MemberRow, caller: Caller): boolean =>
  agent.person_id === caller.person.person_id || member.access === 'admin' || caller.person.server_role === 'admin';

/** The brake of a seat, as it is shown. */
export const brakeView = ({
  until,
  reason,
}: NonNullable<ReturnType<typeof brakeAt>>): NonNullable<Member['braked']> => ({
  until: timestamp(until),
  reason,
});
