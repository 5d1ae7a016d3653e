/** Adds similar existing names, or where to look, to the hint of a "not found" error. */
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { serverInfo } from '../../client/features.ts';
import { shellArgument } from '../../contract/text.ts';
import { readCredentials } from '../../local/keys/credentials.ts';
import { findProject, projectContent } from '../../local/project.ts';
import { knownServers } from '../../local/servers.ts';
import { olderThan } from '../../local/versions.ts';
import { runtime, version } from '../runtime.ts';
import type { Given } from '../session/here.ts';
import { type Session, seatToMake } from '../session/open-session.ts';
import { nearestNames } from './spelling.ts';

/** What was typed, and the session at the server that refused it, where there is one. */
interface Refused extends Given {
  board: string | undefined;
  session: Session | null;
}

/** A lookup that only makes a hint better takes no long time. */
const SOON = { timeoutMs: 2_000, maxAttempts: 1 };

/** Names the nearest of those that there are in the hint of the error. What cannot be looked up changes nothing. */
export async function nameNearest(error: { code?: unknown; hint?: string }, refused: Refused): Promise<void> {
  if (error.code === 'invalid_target') return nameTargets(error, refused);
  if (error.code === 'server_outdated') return nameOlder(error, refused);
  if (error.code === 'file_not_found') return nameFiles(error, refused);
  if (nameLink(error, refused)) return;
  const typed = typedFor(error, refused);
  const names = typed.length === 0 ? [] : await namesFor(error, refused).catch((): string[] => []);
  const near = typed.filter((word) => !names.includes(word)).flatMap((word) => nearestNames(word, names));
  if (near.length > 0) Object.assign(error, { hint: `Did you mean: ${[...new Set(near)].join(', ')}` });
  else if (error.code === 'agent_seat_elsewhere' && !error.hint)
    Object.assign(error, { hint: seatToMake(refused.flags, typed[0]) });
}

/** A name without its @ is what is typed most often of all that is no target. */
function nameTargets(error: object, { flags }: Refused): void {
  const bare = [flags['to']].flat().filter((word) => typeof word === 'string' && /^[a-z0-9][a-z0-9-]+$/.test(word));
  const meant = bare.filter((word) => word !== 'all').map((word) => `--to @${word}`);
  if (meant.length > 0) Object.assign(error, { hint: `Did you mean: ${meant.join(' ')}` });
}

/**
 * Names the file of the folder, where a board or a server that is not there was said by it alone.
 * @returns whether it was
 */
export function nameLink(
  error: { code?: unknown; message?: string },
  { flags, args, board }: Omit<Refused, 'session'>,
): boolean {
  const { env } = runtime();
  const project = findProject();
  const said = projectContent(project);
  if (!project || !said || (flags['server'] ?? env.SERVICE_SERVER)) return false;
  if (error.code === 'server_unknown') {
    // A join line may name another server.
    if (!error.message?.includes(said.server)) return false;
    const hint = `Sign in first: service login ${said.server}; or unlink this folder: service board unlink`;
    Object.assign(error, {
      message: `The server ${said.server} is named in ${project.path}, but this machine does not know it, so nothing was sent there.`,
      hint,
    });
    return true;
  }
  if (error.code !== 'board_not_found' || board !== said.board) return false;
  if (flags['board'] ?? args['board'] ?? env.SERVICE_BOARD) return false;
  Object.assign(error, {
    message: `There is no board ${said.board} here, which is named in ${project.path}.`,
    hint: 'Link this folder to another: service board link NAME; or to none: service board unlink',
  });
  return true;
}

/** A file that was called by the end of its path alone, or by a path of this machine. What lies only here can be put first. */
async function nameFiles(error: object, { flags, args, board, session }: Refused): Promise<void> {
  if (!session || board === undefined) return;
  const attached = [flags['file'] ?? []].flat().map(String);
  const typed = [args['name'], ...attached].filter((word) => word !== undefined).map(String);
  const files = typed.map((word) => word.replace(/@\d+$/, ''));
  const listed = session.client.call('listFiles', { params: { board }, query: { limit: 200 }, ...SOON });
  const names = await listed.then(({ data }) => data.files.map(({ name }) => name)).catch((): string[] => []);
  const lost = files.filter((file) => !names.includes(file));
  const ending = names.filter((name) => lost.some((file) => basename(file) === basename(name)));
  const here = attached.find((file) => existsSync(file));
  const near = ending.length > 0 || here ? ending : lost.flatMap((file) => nearestNames(file, names));
  if (near.length > 0) Object.assign(error, { hint: `Did you mean: ${[...new Set(near)].slice(0, 3).join(', ')}` });
  else if (here !== undefined)
    Object.assign(error, { hint: `To put it there first: service file put ${shellArgument(here)}` });
}

/** A server that lacks something may be the newer one: then it is this program that has to be updated. */
async function nameOlder(error: object, { session }: Refused): Promise<void> {
  const info = session && (await serverInfo(session.client).catch(() => null));
  if (!info || !olderThan(version(), info.version)) return;
  Object.assign(error, {
    message: `The server (version ${info.version}) no longer has what this program (version ${version()}) asks for.`,
    hint: 'Update this program: npm install -g board-service',
  });
}

/** Names of the boards that the caller sees. */
export async function boardNames({ client, agent }: Session): Promise<string[]> {
  const query = agent ? {} : { all: true };
  return (await client.call('listBoards', { query, ...SOON })).data.boards.map(({ name }) => name);
}

/** The words among which the wrong one is. */
function typedFor({ code, details }: { code?: unknown; details?: unknown }, { flags, args, board }: Refused): string[] {
  const { env } = runtime();
  const words = (...values: unknown[]) => values.flat(1).filter((value): value is string => typeof value === 'string');
  if (code === 'board_not_found') return words(board, flags['board']);
  if (code === 'unknown_recipient') return words((details as { target?: unknown } | undefined)?.target);
  if (code === 'server_unknown') return words(flags['server'] ?? env.SERVICE_SERVER);
  if (code === 'agent_seat_elsewhere')
    return words(flags['as'] ?? env.SERVICE_AGENT).map((word) => word.replace(/^@|(?<=.)@.*$/g, ''));
  const { body: _, text: __, ...named } = args;
  return words(...Object.values(named), ...Object.values(flags))
    .map((word) => word.replace(/^@/, ''))
    .filter((word) => /^[\w-]{2,40}$/.test(word));
}

/** The names there are of what was not found. */
async function namesFor(error: { code?: unknown; details?: unknown }, { board, session }: Refused): Promise<string[]> {
  switch (error.code) {
    case 'server_unknown': {
      const { folders, env } = runtime();
      return knownServers(readCredentials(folders), folders, env).map(({ name }) => name);
    }
    case 'agent_seat_elsewhere':
      return (await import('../session/own-seats.ts')).savedAgents();
    case 'unknown_recipient': {
      const { target, choices } = error.details as { target: string; choices: string[] };
      return choices.map((name) => `${target.startsWith('owner:') ? 'owner:' : '@'}${name}`);
    }
    case 'board_not_found':
      return session ? boardNames(session) : [];
    case 'person_not_found': {
      const data = session && (await session.client.call('listPeople', SOON)).data;
      return data && 'people' in data ? data.people.map(({ handle }) => handle) : [];
    }
    case 'member_not_found':
    case 'agent_not_found': {
      if (!session || board === undefined) return [];
      const { data } = await session.client.call('listMembers', { params: { board }, ...SOON });
      return data.members.map(({ name }) => name);
    }
    default:
      return [];
  }
}
