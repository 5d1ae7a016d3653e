/** Creates a board for two agents of one person: the first seat, and the line that brings the second. */
import type { Output } from '../../../cli/output.ts';
import { called, runtime } from '../../../cli/runtime.ts';
import { type Session, staying } from '../../../cli/session/open-session.ts';
import { showEnd, type TimeStyle } from '../../../cli/terminal/time.ts';
import { escapeUntrusted } from '../../../contract/text.ts';
import type { Answer, Board, Member } from '../../../contract/types.ts';
import { allSeats, type Seat } from '../../../local/actors.ts';
import { Failure, usage } from '../../../local/failure.ts';
import { readCredentials } from '../../../local/keys/credentials.ts';
import { findProject } from '../../../local/project.ts';
import { saveSeat, type Use, useOf } from '../../agent/lib/new-seat.ts';
import { createHere, type Delegated, type SeatedRecord } from '../../board/lib/delegated.ts';
import { linkIfUnlinked } from '../../board/lib/link-folder.ts';
import type { NewCode } from '../../code/lib/code-text.ts';
import { makeCode, pairOf } from '../../code/lib/join-codes.ts';
import { type Agreed, agreedOf, agreedText } from '../../join/lib/join-summary.ts';

interface PairOptions {
  template: string;
  title: string | undefined;
  /** Name of the first agent. */
  name: string | undefined;
  /** Although the folder is linked to a board. */
  anew: boolean;
  key: string | undefined;
}

interface PairRecord extends Agreed {
  board_record: Board;
  linked: boolean;
  agent: Member;
  use: Use;
  join: { code: string; line: string; role: string; expires_at: string };
}

/** @throws Failure `board_already_linked`. */
export async function pair(
  session: Session,
  options: PairOptions,
  out: Output,
): Promise<{ record: PairRecord; replayed: boolean }> {
  const { client, entry, project, server } = session;
  if (!entry) throw usage('With SERVICE_TOKEN nothing is saved here, so the token of the seat would be lost.');
  if (project && !options.anew) throw alreadyLinked(project.board);
  const [first, second] = await rolesOf(session, options.template);
  const step = (name: string) => (options.key === undefined ? undefined : `${options.key}.${name}`);
  const body = { template: options.template, title: options.title };
  const created = await client.call('createBoard', { body, idempotencyKey: step('board') });
  const board = created.data;
  out.base.board = board.name;
  const { linked } = linkIfUnlinked(server.url, board.name);
  const { agent, code } = await people(session, board.name, out, async () => {
    const seat = { board: board.name, role: first, name: options.name };
    const { data } = await client.call('joinBoard', { body: seat, idempotencyKey: step('seat') });
    await saveSeat(entry.server_id, data, out);
    const made = await makeCode({ client, board: board.name }, { role: second, ttl: undefined, key: step('code') });
    return { agent: data.agent, code: made.code };
  });
  const join = { code: code.code, line: code.join_line, role: code.role, expires_at: code.expires_at };
  const record = { board_record: board, linked, agent, use: useOf(agent), join, ...agreedOf(board, agent) };
  return { record, replayed: created.replayed };
}

/**
 * As `pair`, with the first seat for the session this runs in: the daemon makes board and seat, and the seat the code.
 * Nothing of it is done as the person. @throws Failure `board_already_linked`.
 */
export async function pairHere(
  delegated: Delegated,
  as: (seat: Seat) => Promise<Session>,
  options: PairOptions,
  out: Output,
): Promise<PairRecord> {
  const project = findProject();
  if (project && !options.anew) throw alreadyLinked(project.board);
  const create = { template: options.template, title: options.title };
  const seated = await createHere(delegated, { create, pair: true, name: options.name, key: options.key });
  const board = seated.board_record;
  out.base.board = board.name;
  const next = `service code create --board ${board.name}`;
  const code = await firstCode(seated, as).catch((error: unknown) => {
    out.note(`The board ${board.name} was created. Go on with: ${next}`);
    throw error;
  });
  const join = { code: code.code, line: code.join_line, role: code.role, expires_at: code.expires_at };
  const { agent, use, charter, role_charter, mode } = seated;
  const { linked } = linkIfUnlinked(delegated.server.url, board.name);
  return { board_record: board, linked, agent, use, join, charter, role_charter, mode };
}

/** The code that brings the second one, made by the seat of the first. */
async function firstCode(
  { agent, board_record: board, pair_role: role }: SeatedRecord,
  as: (seat: Seat) => Promise<Session>,
): Promise<NewCode> {
  const seat = allSeats(readCredentials(runtime().folders)).find(({ memberId }) => memberId === agent.id);
  if (!seat) throw new Failure('agent_seat_elsewhere', `This machine has no token of ${agent.name}.`);
  const { client } = await as(seat);
  return (await makeCode({ client, board: board.name }, { role, ttl: undefined, key: undefined })).code;
}

/** What comes after the board was made says so when it fails: the board stays. */
async function people<T>(session: Session, board: string, out: Output, bring: () => Promise<T>): Promise<T> {
  try {
    return await bring();
  } catch (error) {
    out.note(
      `The board ${board} was created. Go on with: service agent create NAME --board ${board}${staying(session)}`,
    );
    throw error;
  }
}

async function rolesOf(
  { client }: Session,
  template: string,
): Promise<Answer<'listTemplates'>['templates'][number]['pair']> {
  const roles = await pairOf(client, template);
  if (roles) return roles;
  throw new Failure('template_not_found', `There is no template called ${template}.`, {
    hint: 'service board templates shows those there are',
    exit: 2,
  });
}

const alreadyLinked = (board: string): Failure =>
  new Failure('board_already_linked', `This folder is linked to ${board}; nothing was created.`, {
    hint: `Bring another session there: service code create --board ${board}. A new board all the same: service pair --new`,
    details: { board },
  });

const who = ({ agent, use }: PairRecord): string =>
  use.bound_session
    ? `This session is ${agent.name} (${agent.role}).`
    : `Your agent there is ${agent.name} (${agent.role}): --as ${use.as}.`;

/** What was made, the line for the second session alone on its line, and what the first has to know. @param at the server. */
export function pairText(record: PairRecord, at: string, again: string, times: TimeStyle): string {
  const { board_record: board, join, linked } = record;
  const title = board.title === null ? '' : ` ("${escapeUntrusted(board.title)}")`;
  return [
    `Created board ${board.name}${title} on ${at}. ${who(record)}${again}`,
    ...(linked ? [`Linked this folder to ${board.name}.`] : []),
    `For the next session, ends ${showEnd(join.expires_at, times)}:`,
    `  ${join.line}`,
    called('It comes with: service join, and that line in quotes.'),
    ...agreedText(record),
  ].join('\n');
}
