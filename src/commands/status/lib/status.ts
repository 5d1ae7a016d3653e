/** Collects what is in use on this machine and why, for `service status`. */
import type { z } from 'zod';
import type { Base, Output } from '../../../cli/output.ts';
import { nameLink } from '../../../cli/parsing/unknown-name.ts';
import { called, runtime } from '../../../cli/runtime.ts';
import { type BoardSource, chooseBoard, linkedBoard } from '../../../cli/session/board.ts';
import { nameEndedKey } from '../../../cli/session/ended-key.ts';
import { blockedHere, here } from '../../../cli/session/here.ts';
import { type Session, staying } from '../../../cli/session/open-session.ts';
import { savedSeats } from '../../../cli/session/own-seats.ts';
import { ClientError } from '../../../client/errors.ts';
import { modeTexts } from '../../../contract/waking.ts';
import { readInstalled } from '../../../harness/setup/installed.ts';
import { Failure } from '../../../local/failure.ts';
import { localEntry, readCredentials } from '../../../local/keys/credentials.ts';
import { findProject } from '../../../local/project.ts';
import { remindOfTasks } from '../../inbox/lib/inbox.ts';
import { lineText } from '../../task/lib/task-text.ts';
import type { status } from './shapes.ts';

type StatusRecord = z.infer<typeof status>;

/** Reads what can be read without starting anything; what cannot is named. */
export async function readStatus(
  open: () => Promise<Session>,
  flags: { board?: string | undefined; server?: string | undefined },
  out: Output,
): Promise<StatusRecord> {
  const record: StatusRecord = { ...nothing(), ...(await statusHere()), seats: heldSeats() };
  let session: Session | null = null;
  try {
    session = await open();
    record.server_running = true;
    record.agent_source = agentSource(session);
    const agent = await agentOf(session);
    record.agent = agent?.name ?? null;
    const board = await chooseBoard(session, out);
    record.board_source = board.source;
    const { data } = await session.client.call('getBoard', { params: { board: board.name } });
    record.policy = { preset: data.policy.preset, visibility: data.policy.visibility };
    record.people = data.people_count;
    record.unread = data.unread ?? null;
    if (agent) await readWork(session, agent.id, record, out);
  } catch (error) {
    await nameEndedKey(error, session);
    const linked = nameLink(error as object, { flags, args: {}, board: out.base.board });
    record.problem = asExpected(blockedHere(error), linked || record.board_source === 'agent');
    if (silent.includes(record.problem.code)) record.server_running = false;
    if (record.board_source === 'none') nameBoard(record, flags.board, out);
  }
  return record;
}

/** The record as `field value` lines. */
export function statusLines(record: StatusRecord, base: Base): [string, string | null][] {
  const { seats, problem } = record;
  const stopped = problem?.code === 'server_not_running';
  const presence = record.presence === 'no_session' ? 'disconnected' : record.presence;
  const reached = [record.delivery, presence].filter((one) => one !== null);
  return [
    ['Server', base.server ? `${base.server.name} (${base.server.url})${stopped ? ', not running' : ''}` : null],
    ...hereLines(record),
    ['Board', base.board ? `${base.board} (from ${words[record.board_source]})` : 'none'],
    [
      'Agent',
      record.agent ? [`${record.agent} (from ${agentWords[record.agent_source]})`, ...reached].join(', ') : null,
    ],
    ['Delivery', record.delivery && called(modeTexts[record.delivery])],
    ['Task', record.current_task ? `${record.current_task.ref}: ${record.current_task.title}` : null],
    ['Line', record.line ? lineText(record.line, 'relative') : null],
    ['Policy', record.policy ? `${record.policy.preset}, ${record.policy.visibility}` : null],
    ['People', record.people === null ? null : String(record.people)],
    ['Unread', record.unread === null ? null : String(record.unread)],
    ['Seats', seats.map((seat) => seatText(seat, base)).join(', ')],
    ['Subagent', record.subagent ?? null],
    ['Problem', problem ? `${problem.message}${problem.hint ? ` ${problem.hint}` : ''}` : null],
  ];
}

/** The agent that acts; one that a token is of is known to the server only. */
async function agentOf({ client, seat, agent }: Session): Promise<{ id: string; name: string } | null> {
  if (seat) return { id: seat.memberId, name: seat.saved.name };
  return agent ? (await client.call('getMe')).data : null;
}

async function readWork(session: Session, member: string, record: StatusRecord, out: Output): Promise<void> {
  const { client } = session;
  const { data: inbox } = await client.call('readInbox', { query: { limit: 1 } });
  const { data: own } = await client.call('getMember', { params: { board: inbox.board, member } });
  record.delivery = inbox.delivery_mode;
  record.presence = own.presence;
  const { current_task: current, line } = inbox.work;
  record.current_task = current ? { id: current.id, ref: current.ref, title: current.title } : null;
  record.line = line;
  await remindOfTasks(out, inbox, undefined, staying(session));
}

/** What would be used, as far as that can be told without a server. */
function nameBoard(record: StatusRecord, flag: string | undefined, out: Output): void {
  const env = runtime().env.SERVICE_BOARD;
  const board = flag ?? env ?? boardOfFolder(out);
  if (!board) return;
  record.board_source = flag ? 'flag' : env ? 'env' : 'project_file';
  out.base.board = board;
}

/** The board that the folder is linked to, unless that is one of another server than the one in use. */
function boardOfFolder({ base: { server } }: Output): string | undefined {
  const project = findProject();
  if (!project || !server) return project?.board;
  const local = server.name === 'local';
  const entry = (local && localEntry(readCredentials(runtime().folders))?.[1]) || null;
  return linkedBoard({ server: { ...server, local }, entry }, project) ?? undefined;
}

const words: Record<BoardSource, string> = {
  flag: '--board',
  env: 'SERVICE_BOARD',
  project_file: '.service',
  only: 'the only one',
  agent: 'the agent',
  none: 'nowhere',
};

const agentWords: Record<StatusRecord['agent_source'], string> = {
  flag: '--as',
  token: 'its token',
  env: 'SERVICE_AGENT',
  session: 'this session',
  none: 'nowhere',
};

function nothing(): Omit<StatusRecord, 'seats' | keyof StatusHere> {
  return {
    server_running: false,
    board_source: 'none',
    agent: null,
    agent_source: 'none',
    delivery: null,
    presence: null,
    current_task: null,
    line: null,
    policy: null,
    people: null,
    unread: null,
    problem: null,
  };
}

const agentSource = ({ agent, seatSource }: Session): StatusRecord['agent_source'] =>
  seatSource ?? (agent ? 'token' : 'none');

const heldSeats = (): StatusRecord['seats'] =>
  savedSeats().map(({ memberId, saved, entry }) => {
    const server = entry.mode === 'local' ? 'local' : entry.name;
    return { agent: saved.name, board: saved.board, server, member_id: memberId };
  });

/** Its server is named where that is another than the one in use. */
const seatText = ({ agent, board, server }: StatusRecord['seats'][number], { server: used }: Base): string =>
  `${agent} on ${board}${server === used?.name ? '' : ` at ${server}`}`;

/** Problems of a server that did not answer. */
const silent = ['server_unreachable', 'request_timeout', 'sandbox_blocks_network'];

/** A server that does not answer, a board that is not chosen or a seat that has ended is a status; a broken file is an error. */
function asExpected(error: unknown, chosenBefore: boolean): NonNullable<StatusRecord['problem']> {
  const expected = [
    'server_not_running',
    'server_unexpected',
    ...silent,
    'server_identity_changed',
    'board_not_selected',
    'board_ambiguous',
    'server_not_selected',
    'login_required',
    'agent_not_selected',
    'agent_removed',
    'unauthorized',
  ];
  if ((error instanceof Failure || error instanceof ClientError) && (chosenBefore || expected.includes(error.code)))
    return { code: error.code, message: error.message, hint: called(error.hint) };
  throw error;
}

type StatusHere = Pick<StatusRecord, 'daemon' | 'setup' | 'subagent'>;

/** Starts nothing and replaces nothing. */
async function statusHere(): Promise<StatusHere> {
  const { subagent } = here();
  return { daemon: await daemonHere(), setup: setupHere(), ...(subagent === null ? {} : { subagent }) };
}

/** As `field value` lines. */
function hereLines({ daemon, setup }: StatusHere): [string, string][] {
  const { running, pid, version, problem } = daemon;
  const words = running
    ? `running (pid ${pid}), version ${version}`
    : problem
      ? `not reached: ${problem}`
      : 'not running';
  return [
    ['Daemon', words],
    ['Setup', setup.map(({ harness, scope }) => `${harness} (${scope})`).join(', ') || 'none'],
  ];
}

async function daemonHere(): Promise<StatusHere['daemon']> {
  const stopped = { running: false, pid: null, version: null, problem: null };
  try {
    const { daemonStatus } = await import('../../daemon/lib/daemon.ts');
    const status = await daemonStatus();
    return status ? { running: true, pid: status.pid, version: status.build.version, problem: null } : stopped;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { ...stopped, problem: error.code };
  }
}

/** What cannot be read is for doctor to say. */
function setupHere(): StatusHere['setup'] {
  try {
    const { items } = readInstalled(runtime().folders.state);
    const places = new Map(items.map(({ harness, scope }) => [`${harness} ${scope}`, { harness, scope }]));
    return [...places.values()];
  } catch {
    return [];
  }
}
