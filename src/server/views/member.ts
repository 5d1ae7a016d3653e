/** The member record, as each reader gets it. */
import type { AgentLocation, AgentUsage, AgentWaiting, Budget, Member, TaskRef } from '../../contract/types.ts';
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
import { type UsageRow, usageOf } from '../seats/usage.store.ts';
import { tasksWithIds } from '../tasks/tasks.store.ts';
import { idsIn, indexBy } from '../text/rows.ts';
import { timestamp, timestampOrNull } from '../text/time.ts';
import { seesHarness } from './actors.ts';
import { lineView, standingLines } from './line.ts';
import { taskRefView } from './tasks/task-ref.ts';

/** Members of a board the caller is on. */
export async function memberViews(tx: ReadTx, rows: readonly MemberWithPerson[], place: Place, caller: Caller) {
  const known = await aboutAgents(tx, rows, caller);
  return rows.map((row) => ({
    ...facts(tx, row, place.board, caller, known),
    ...(row.kind === 'agent' && !seesHarness(row.id, place.reader) ? { harness: null } : {}),
    ...(isPerson(caller) && row.kind === 'agent' && row.status === 'active'
      ? { can_remove: mayRemove(row, place.member, caller) }
      : {}),
  }));
}

export const memberView = async (tx: ReadTx, row: MemberWithPerson, place: Place, caller: Caller): Promise<Member> =>
  (await memberViews(tx, [row], place, caller))[0]!;

/** The caller's own agents on all boards. */
export async function ownAgentViews(
  tx: ReadTx,
  agents: readonly { agent: MemberWithPerson; board: Pick<BoardRow, 'id' | 'name'> }[],
  caller: Caller,
): Promise<Member[]> {
  const rows = agents.map(({ agent }) => agent);
  const known = await aboutAgents(tx, rows, caller);
  return agents.map(({ agent, board }) => facts(tx, agent, board, caller, known));
}

/** What agents reported and are on, by the ids of agent and task. */
interface Known {
  reports: ReadonlyMap<string, ReportRow>;
  lines: ReadonlyMap<string, LineRow>;
  tasks: ReadonlyMap<string, TaskRef>;
  /** Of the caller's own agents; usage is today's. */
  budgets: ReadonlyMap<string, SeatBudget>;
  usage: ReadonlyMap<string, UsageRow>;
}

async function aboutAgents(tx: ReadTx, rows: readonly MemberRow[], caller: Caller): Promise<Known> {
  const agents = rows.filter((row) => row.kind === 'agent');
  const none = new Map<string, never>();
  if (agents.length === 0) return { reports: none, lines: none, tasks: none, budgets: none, usage: none };
  const ids = idsIn(agents);
  const own = isPerson(caller) ? idsIn(agents.filter((agent) => isOwn(agent, caller))) : [];
  const reports = indexBy(await reportsOf(tx, ids), 'member_id');
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
    usage: indexBy(await usageOf(tx, own), 'member_id'),
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
    ...(agent ? forItsPerson(member, caller, known, tx.now) : {}),
  };
}

/** What people, who report nothing, have of it. */
const silent = { presence: null, presence_since: null, delivery: null, line: null, state: null };

function reported(member: MemberRow, { reports, lines, tasks }: Known, now: number) {
  const report = reports.get(member.id) ?? noReport(member.id);
  const line = lines.get(member.id) ?? null;
  const brake = member.status === 'active' ? brakeAt(member, now) : null;
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

/** Where an agent runs is for its own person and their agents only, what it asks in its session for the person alone. */
function forItsPerson(agent: MemberRow, caller: Caller, { reports, usage, budgets }: Known, now: number) {
  if (!isOwn(agent, caller)) return {};
  const report = reports.get(agent.id) ?? noReport(agent.id);
  const location = locationView(report);
  const waiting = isPerson(caller) ? waitingView(report, now) : null;
  const used = usage.get(agent.id);
  return {
    ...(location ? { location } : {}),
    ...(waiting ? { waiting } : {}),
    ...(used ? { usage: usageView(used) } : {}),
    ...(agent.status === 'active' && isPerson(caller) ? { budget: budgetView(budgets.get(agent.id)) } : {}),
  };
}

/** What an agent's program told that it used; what it did not tell is left out. */
export function usageView({ day, turns, input_tokens, output_tokens, cost_micros }: UsageRow): AgentUsage {
  return {
    turns,
    ...(input_tokens === null ? {} : { input_tokens }),
    ...(output_tokens === null ? {} : { output_tokens }),
    ...(cost_micros === null ? {} : { cost_usd: cost_micros / 1_000_000 }),
    since: timestamp(day),
  };
}

/** What a session waits for its person with, as far as it told; null if it does not wait. */
export function waitingView(report: ReportRow, now: number): AgentWaiting | null {
  const { waiting_for, waiting_question, waiting_where } = report;
  const { presence, since } = presenceAt(report, now);
  if (presence !== 'waiting' || since === null) return null;
  return {
    ...(waiting_for === null ? {} : { for: waiting_for }),
    ...(waiting_question === null ? {} : { question: waiting_question }),
    ...(waiting_where === null ? {} : { where: waiting_where }),
    since: timestamp(since),
  };
}

export function locationView(report: ReportRow): AgentLocation | null {
  const { location_harness, location_session, location_folder, location_machine, located_at } = report;
  if (location_harness === null || location_session === null || location_folder === null || located_at === null)
    return null;
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
export const brakeView = ({ until, reason }: NonNullable<ReturnType<typeof brakeAt>>) => ({
  until: timestamp(until),
  reason,
});
