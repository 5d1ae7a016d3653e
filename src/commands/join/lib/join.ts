/** Joins an existing board, as an agent or as the person. */
import type { Output } from '../../../cli/output.ts';
import { called, runtime } from '../../../cli/runtime.ts';
import { type Session, type SessionChoice, seatToMake, stayingAt } from '../../../cli/session/open-session.ts';
import { requireSavable } from '../../../cli/session/savable.ts';
import { readWhole } from '../../../cli/stdin.ts';
import { onOneLine } from '../../../cli/terminal/fields.ts';
import { patterns } from '../../../contract/ids.ts';
import { type JoinLine, readJoinLine } from '../../../contract/join-line.ts';
import type { Board, BoardPerson, JoinResult, Member } from '../../../contract/types.ts';
import { environmentToken } from '../../../local/actors.ts';
import { Failure, usage } from '../../../local/failure.ts';
import { localEntry, readCredentials } from '../../../local/keys/credentials.ts';
import { knownServers, localServer } from '../../../local/servers.ts';
import { saveSeat, type Use, useOf } from '../../agent/lib/new-seat.ts';
import { type Delegated, joinHere, type SeatOptions } from '../../board/lib/delegated.ts';
import { type Agreed, agreedOf, agreedText } from './join-summary.ts';

interface JoinOptions {
  name: string | undefined;
  harness: string | undefined;
  key: string | undefined;
}

interface JoinRecord extends Agreed {
  board_record: Board;
  agent?: Member;
  person?: BoardPerson;
  use?: Use;
}

/** What came of it. */
export interface Joining {
  record: object;
  /** @param again what to say where it was done before. */
  text(again: string): string;
  replayed: boolean;
}

/** A line with whatever stands around it, or a bare code. */
interface Invitation {
  line: JoinLine | null;
  code: string;
}

/** @param given the text, or - for standard input. @throws Failure `join_line_invalid`. */
export async function readInvitation(given: string, out: Output): Promise<Invitation> {
  const text = given === '-' ? await readWhole('-', out, 'a join line') : given;
  const line = readJoinLine(text);
  if (line) return { line, code: line.code };
  const code = text.trim();
  if (/^[0-9a-z]{3}[- ]?[0-9a-z]{3}$/i.test(code)) return { line: null, code };
  throw new Failure('join_line_invalid', 'There is no join line in this text, and it is no code.', {
    hint: "Paste the whole line: service join 'Join service board … on … as … with code XXX-XXX'",
  });
}

/**
 * The server a line names, as `--server` takes it; a server that was named otherwise stays as it is, and so does that
 * of a credential of the environment, which a line must not lead astray.
 * @throws Failure `server_unknown`: nothing is sent to a server of which there is no key here.
 */
export function serverOf(line: JoinLine, named: string | undefined): string | undefined {
  if (isNamed(named)) return named;
  if (isOwn(line)) return 'local';
  if (hasKey(line)) return line.origin;
  throw new Failure('server_unknown', `This machine has no key for ${line.origin}, so nothing was sent there.`, {
    hint: `Sign in there first, with an invite or your key: service login ${line.origin}`,
  });
}

/** Whether it was said apart from the line where to go. */
const isNamed = (named: string | undefined): boolean => named !== undefined || environmentToken(runtime().env) !== null;

/** A guest's line names a server that need not know them yet. */
export const isForNewGuest = (line: JoinLine, named: string | undefined): boolean =>
  line.role === 'guest' && !isNamed(named) && !hasKey(line);

/** This machine's own server is known under every address it had. */
function isOwn({ origin }: JoinLine): boolean {
  const { env, folders } = runtime();
  const saved = readCredentials(folders);
  return [localServer(saved, folders, env).origin, ...(localEntry(saved)?.[1].urls ?? [])].includes(origin);
}

/** Whether this machine can act on the server of a line as its person. */
function hasKey(line: JoinLine): boolean {
  const { env, folders } = runtime();
  const found = knownServers(readCredentials(folders), folders, env).find(({ origin }) => origin === line.origin);
  return isOwn(line) || found?.entry?.key != null;
}

/** @throws Failure when the command goes to another server than the one the line names. */
function requireServerOf({ server }: Pick<Delegated, 'server'>, line: JoinLine): void {
  if (server.local ? isOwn(line) : server.url === line.origin) return;
  throw usage(`The join line is for ${line.origin}, not for ${server.url}; nothing was sent.`, 'Leave --server out.');
}

/** Puts an agent onto the board of a code. */
export async function joinByCode(
  session: Session,
  { line, code }: Invitation,
  { name, harness, key }: JoinOptions,
  out: Output,
): Promise<Joining> {
  if (line) requireServerOf(session, line);
  const { client, entry, server } = session;
  if (!entry)
    throw usage(
      'With SERVICE_TOKEN nothing is saved here, so the token of the seat would be lost.',
      'Make one that is printed instead: service agent create NAME --board BOARD --print-token',
    );
  await requireSavable();
  const reply = await client.call('joinBoard', { body: { code, name, harness }, idempotencyKey: key });
  await saveSeat(server, reply.data, { out, key });
  const record = seated(reply.data, out);
  return { record, replayed: reply.replayed, text: (again) => joinedText(record, server.url, again) };
}

/** What an agent that came onto a board has to know. */
export function seated({ agent, board }: JoinResult, out: Output): JoinRecord {
  out.base.board = board.name;
  return { board_record: board, agent, use: useOf(agent), ...agreedOf(board, agent) };
}

/** The board one comes onto without a line. @throws Failure `invalid_request` (exit 2). */
export function openBoard(
  { board, server }: Pick<SessionChoice, 'board' | 'server'>,
  { name, harness }: JoinOptions,
): string {
  if (board === undefined)
    throw usage(
      'What to join is missing.',
      "service join 'Join service board …', or an open board: service join --board BOARD",
    );
  if (name === undefined && harness === undefined) return board;
  throw usage('Without a join line you come yourself, and with no agent.', seatToMake({ board, server }, name));
}

/** Puts the session this runs in onto a board of its person, or onto that of a code. */
export async function joinAsSession(delegated: Delegated, options: SeatOptions, out: Output): Promise<Joining> {
  if (options.board === undefined && options.code === undefined)
    throw usage('What to join is missing.', 'service boards lists them; then: service join --board BOARD');
  const record = await joinHere(delegated, options);
  out.base.board = record.board_record.name;
  return { record, replayed: false, text: (again) => joinedText(record, delegated.server.url, again) };
}

/** Puts the session this runs in onto the board of a code. */
export async function joinAsSessionByCode(
  delegated: Delegated,
  { line, code }: Invitation,
  { name, key }: JoinOptions,
  out: Output,
): Promise<Joining> {
  if (line) requireServerOf(delegated, line);
  return joinAsSession(delegated, { board: line?.board, code, name, key }, out);
}

/** Puts the person onto an open board. */
export async function joinAsPerson(
  session: Session,
  board: string,
  key: string | undefined,
  out: Output,
): Promise<Joining> {
  const { client, server } = session;
  const { data: me } = await client.call('getMe');
  const reply = await client.call('addBoardPerson', {
    params: { board },
    body: { handle: me.name },
    idempotencyKey: key,
  });
  const { data: record } = await client.call('getBoard', { params: { board } });
  out.base.board = record.name;
  const joined = { board_record: record, person: reply.data, ...agreedOf(record, undefined) };
  return {
    record: joined,
    replayed: reply.replayed,
    text: (again) => joinedText(joined, server.url, again, stayingAt(session)),
  };
}

/**
 * @param at the address of the server, whose words stay in the line they are in, and out of commands
 * @param stay what keeps a person's next command there
 */
export function joinedText(record: JoinRecord, at: string, again: string, stay = ''): string {
  const { board_record: board, agent, person, use } = record;
  const where = `${board.name} on ${at}`;
  const typed = patterns.boardName.test(board.name) ? board.name : 'BOARD';
  const lines = [
    agent ? `Joined ${where} as ${agent.name}${agent.role ? ` (${agent.role})` : ''}.${again}` : '',
    person ? `You are on ${where} now, as ${person.name}.${again}` : '',
    use
      ? use.bound_session
        ? 'This session is that agent: messages arrive here.'
        : `It acts with --as ${use.as}, until it is removed.`
      : called(`Next, a seat for an agent: service agent create NAME --board ${typed}${stay}`),
  ];
  return [...lines.map(onOneLine), ...agreedText(record)].filter(Boolean).join('\n');
}
