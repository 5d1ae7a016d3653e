/** Opens a session: resolves server, actor and credential from the flags, and makes the client. */
import { Client, type RequestInfo } from '../../client/client.ts';
import { either } from '../../contract/openapi/problems.ts';
import { routes } from '../../contract/routes.ts';
import {
  type Actor,
  actingToken,
  allSeats,
  chooseActor,
  type EndedSeat,
  endedSeats,
  endedWithKey,
  environmentToken,
  isOn,
  type Seat,
  selectorOf,
} from '../../local/actors.ts';
import { Failure } from '../../local/failure.ts';
import {
  type Credentials,
  entryAt,
  isSameServer,
  readCredentials,
  type ServerEntry,
} from '../../local/keys/credentials.ts';
import { readKey, readLocalKey } from '../../local/keys/keystore.ts';
import { localFetch } from '../../local/node-fetch.ts';
import { canonicalOrigin, looksLikeUrl } from '../../local/origin.ts';
import { findProject, type ProjectFile, projectContent } from '../../local/project.ts';
import {
  type ChosenServer,
  type KnownServer,
  knownServers,
  localServer,
  loginCommand,
  namedServer,
  personServer,
} from '../../local/servers.ts';
import { sameWords } from '../list.ts';
import type { Output } from '../output.ts';
import { noteDone, runtime, version } from '../runtime.ts';
import { show } from '../terminal/terminal.ts';
import { inSession, sessionHere } from './here.ts';
import { restartingFetch, sayServer, useLocalServer } from './local-server.ts';
import { sessionSeats, takenSeats } from './own-seats.ts';

/** A: seat if one is selected, else the person. P: the person. G: an agent. D: who brings agents onto boards; no seat does. */
export type Who = 'A' | 'P' | 'G' | 'D';

export interface SessionChoice {
  who: Who;
  server: string | undefined;
  board: string | undefined;
  as: string | undefined;
  /** The one of a session's several seats that acts. */
  seat?: Seat | undefined;
  timeoutMs: number;
  /** Whether that is for each request, instead of for all together. */
  perRequest: boolean;
  verbose: boolean;
  /** The command as typed, for the person to repeat. */
  line: string;
  /** Whether it is about one board, which for a person is found otherwise than for an agent. */
  ofBoard: boolean;
  /** Whether the local server may be started for this command. */
  autostart: boolean;
  out: Output;
}

export interface Session {
  client: Client;
  /** The credential that requests are made with. */
  token: string;
  server: { name: string; url: string; local: boolean };
  /** What is saved about the server; null with a credential of the environment. */
  entry: ServerEntry | null;
  seat: Seat | null;
  /** How that seat was chosen; null where none was. */
  seatSource: 'flag' | 'env' | 'session' | null;
  /** Whether an agent acts, by its seat or by a token. */
  agent: boolean;
  project: ProjectFile | null;
  choice: SessionChoice;
}

/** A session on one board: what most commands need. */
export interface BoardSession extends Session {
  board: string;
}

interface Target {
  server: KnownServer;
  token: string;
  entry: ServerEntry | null;
}

/** Chooses actor and server, starts the local server if that is the one and it does not run, and takes the credential. */
export async function openSession(choice: SessionChoice): Promise<Session> {
  const { env, folders } = runtime();
  let cached: Credentials | null = null;
  const saved = () => {
    cached ??= readCredentials(folders);
    return cached;
  };
  const named = choice.server ?? env.SERVICE_SERVER;
  const inside = inSession();
  if (choice.who === 'P' && inside) throw forPeopleOnly(await lineFromSession(choice, saved));
  // In a session only the delegation of its daemon brings agents onto boards, never a key of its person.
  if (choice.who === 'D' && inside && !choice.as && environmentToken(env)?.startsWith('abh_'))
    throw new Failure('human_command_in_session', 'In a session this is done without SERVICE_TOKEN.', {
      hint: `Unset SERVICE_TOKEN, or ask your person to run: ${choice.line}`,
    });
  const actor = await actorOf(choice, saved);
  checkWho(choice, actor, { saved, inside });
  // With a token of the environment the project file is ignored, so that a changed checkout cannot redirect it.
  const project = actor.kind === 'token' ? null : findProject();
  const target = await targetOf(actor, { named, project, saved, choice });
  const { server, token, entry } = target;
  const url = server.origin;
  choice.out.base.server = { name: server.name, url };
  noteActor(choice.out, actor, entry);
  return {
    client: new Client({
      origin: url,
      token,
      ...clientOptions(choice),
      fetch: server.local ? restartingFetch(server, choice) : localFetch,
    }),
    token,
    server: { name: server.name, url, local: server.local },
    entry,
    seat: actor.kind === 'seat' ? actor.seat : null,
    seatSource: actor.kind === 'seat' ? actor.source : null,
    agent: actor.kind === 'seat' || (actor.kind === 'token' && actor.agent),
    project,
    choice,
  };
}

/** Who acts by what was told, and by the environment and the seats of this session. */
export async function actorOf(
  { as, board, ofBoard, server, seat }: SessionChoice,
  saved: () => Credentials,
): Promise<Actor> {
  if (seat) return { kind: 'seat', seat, source: 'session' };
  const { env } = runtime();
  const here = await sessionSeats();
  // A credential of the environment needs no known server.
  const serverOrigin = server && !actingToken(as, env, here) ? namedOrigin(server, saved) : undefined;
  return chooseActor({ as, board, ofBoard, serverOrigin }, saved, env, here);
}

/** Who acts: name and id on the board; a token of the environment does not say. */
export const whoActs = async ({ client, choice }: Session): Promise<{ name: string; id: string }> =>
  choice.out.base.actor ?? (await client.call('getMe')).data;

/** The flags that keep a further command at the same server, board and actor, as they were given for this one. */
export const staying = ({ choice }: Session): string => sameWords(choice);

/** The same for a command that names its board itself. */
export const stayingAt = ({ choice: { server } }: Pick<Session, 'choice'>): string =>
  server ? ` --server ${server}` : '';

/**
 * What keeps a command of a person at a server: nothing where it goes there anyway, from this folder, in this environment. In a
 * session other rules come first, and what it is told for its person is typed elsewhere.
 */
export function atServer(url: string): string {
  const { env, folders } = runtime();
  const saved = readCredentials(folders);
  const own = localServer(saved, folders, env).origin === url || entryAt(saved, url)?.[1].mode === 'local';
  const alone = !inSession() || knownServers(saved, folders, env).length < 2;
  try {
    const meant = serverOfPerson(undefined);
    if (alone && (own ? meant.local : meant.origin === url)) return '';
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
  }
  return ` --server ${own ? 'local' : url}`;
}

/** The same in what an agent is told for its person. */
export const atServerOf = (session: Session): string => stayingAt(session) || atServer(session.server.url);

/** Commands in the hint of a server: where to look, and what the caller goes on with. The others may be for somebody else. */
const OWN_COMMANDS =
  /\bservice [\w /.-]+?(?= shows )|\bservice (?:task|file|brief|line|say|ask|answer|withdraw)\b[^;,]*?(?=[;,]| (?:shows|then|or|and) |\.?$|\. )/g;

/** Refusals whose hint says only what the caller does first. */
const CALLER_FIRST = ['last_owner', 'last_admin', 'board_not_archived'];
const FIRST_COMMANDS = /\bservice (?:board|people) [^.]*(?=\.|$)/g;

/** A server does not know how it and the board were named here, so its "service task join 17" may lead to another one. */
export function keepThere(error: { code: string; hint?: string }, session: Session): void {
  if (CALLER_FIRST.includes(error.code))
    error.hint = error.hint?.replace(FIRST_COMMANDS, (line) => line + stayingAt(session));
  error.hint = error.hint?.replace(OWN_COMMANDS, (line) => {
    const ofBoard = /^service (board (?!list)|file|task|brief|line|say|ask|answer|withdraw)/.test(line);
    return line + (ofBoard && !line.includes(' --board ') ? staying(session) : stayingAt(session));
  });
}

/** What is sent as a change would be, as it holds a secret, and only reads. */
const LOOK_UPS: string[] = [routes.previewInvite.path, routes.lookUpMachineRequest.path];

/** Options every client of this program gets: its name, its limit of time, its request lines. */
export function clientOptions(choice: Pick<SessionChoice, 'timeoutMs' | 'perRequest' | 'verbose' | 'out'>) {
  const { out, verbose } = choice;
  return {
    userAgent: `service/${version()}`,
    timeoutMs: choice.timeoutMs,
    together: !choice.perRequest,
    fetch: localFetch,
    onRequest: ({ method, path, dryRun, status, ms, attempt, requestId }: RequestInfo) => {
      const changes = method !== 'GET' && !dryRun && !LOOK_UPS.includes(path);
      if (changes && status !== null && status < 300) noteDone();
      if (!verbose) return;
      const line = `${method} ${path} ${status ?? '-'} ${Math.round(ms)}ms #${attempt} ${requestId ?? '-'}`;
      show(process.stderr, `${line}\n`);
    },
    onRetry: ({ attempt, reason }: { attempt: number; reason: string }) => {
      if (attempt >= 2 && process.stderr.isTTY) out.note(`Trying again (${reason})…`);
    },
  };
}

/** The server that a person's command means: the one named, else that of the environment, the folder or the usual one. */
export function serverOfPerson(named: string | undefined): ChosenServer {
  const { env, folders } = runtime();
  const choice = { named: named ?? env.SERVICE_SERVER, project: findProject() };
  return personServer(choice, readCredentials(folders), folders, env);
}

interface TargetChoice {
  named: string | undefined;
  project: ProjectFile | null;
  saved: () => Credentials;
  choice: SessionChoice;
}

async function targetOf(actor: Actor, options: TargetChoice): Promise<Target> {
  if (actor.kind === 'token') return tokenTarget(actor.token, options);
  const { env, folders } = runtime();
  if (actor.kind === 'seat') {
    const { seat } = actor;
    const local = seat.entry.mode === 'local';
    const server = local
      ? localServer(options.saved(), folders, env)
      : { origin: seat.origin, name: seat.entry.name, local, entry: seat.entry };
    const reached = local ? await useLocalServer(server, options.choice) : server;
    return { server: reached, token: seat.saved.token, entry: seat.entry };
  }
  const server = personServer({ named: options.named, project: options.project }, options.saved(), folders, env);
  if (options.choice.autostart) sayServer(server, options.saved(), options.choice.out);
  return personTarget(server, options.choice);
}

async function personTarget(server: KnownServer, choice: SessionChoice): Promise<Target> {
  const { folders } = runtime();
  // Known before it is reached, so that a status can name a server that does not run.
  choice.out.base.server = { name: server.name, url: server.origin };
  if (server.local) {
    const reached = await useLocalServer(server, choice);
    const key = readLocalKey(folders);
    if (key) return { server: reached, token: key, entry: reached.entry };
  } else if (server.entry) {
    const key = await readKey(folders, server.origin, server.entry);
    if (key) return { server, token: key, entry: server.entry };
  }
  throw new Failure('login_required', `There is no key for ${server.origin} on this machine.`, {
    hint: loginCommand(server.origin, server.local),
  });
}

async function tokenTarget(token: string, { named, saved, choice }: TargetChoice): Promise<Target> {
  if (!named)
    throw new Failure('server_not_selected', 'A credential from SERVICE_TOKEN goes only to a server that is named.', {
      hint: 'Set SERVICE_SERVER, or give --server',
    });
  const { env, folders } = runtime();
  // An address needs no files, so a machine without any can use a token.
  const remote = looksLikeUrl(named) ? remoteServer(canonicalOrigin(named)) : null;
  const server = remote ?? namedServer(named, saved(), folders, env);
  return { server: server.local ? await useLocalServer(server, choice, false) : server, token, entry: null };
}

function remoteServer(origin: string): KnownServer {
  return { origin, name: new URL(origin).hostname, local: false, entry: null };
}

/** The address of a server that is named. */
export function namedOrigin(name: string, saved: () => Credentials): string {
  const { env, folders } = runtime();
  const server = namedServer(name, saved(), folders, env);
  if (!server.local) return server.origin;
  return Object.entries(saved().servers).find(([, entry]) => entry.mode === 'local')?.[0] ?? server.origin;
}

interface Around {
  saved: () => Credentials;
  inside: boolean;
}

function checkWho(choice: SessionChoice, actor: Actor, { saved, inside }: Around): void {
  const { who } = choice;
  const agent = actor.kind === 'seat' || (actor.kind === 'token' && actor.agent);
  const line = actor.kind === 'seat' ? lineForPerson(choice, actor.seat, saved()) : choice.line;
  if (who === 'P' && agent) throw forPeopleOnly(line);
  if (who === 'D' && agent)
    throw new Failure('agent_session_required', 'An agent brings others onto boards only from its own session.', {
      hint: inside && choice.as ? `Leave --as out: ${choice.line}` : `Ask your person to run: ${line}`,
    });
  if (who === 'G' && !agent) throw noSeat('This is a command for an agent, and none is selected.', choice, saved);
  // What is written in a session is the agent's; it must never stand on a board as its person's word.
  if (who === 'A' && !agent && inside)
    throw noSeat('This session has no seat, and never acts as its person.', choice, saved);
}

function noSeat(message: string, choice: SessionChoice, saved: Around['saved']): Failure {
  const [lost] = takenSeats();
  const withKey = lost ? [] : endedHere(saved()).filter((seat) => seat.saved.key_ended_at);
  const ended = withKey.find((seat) => choice.board === undefined || isOn(seat, choice.board));
  if (ended) {
    const told = endedWithKey(ended, true, ended.entry.mode === 'local' ? atServer(ended.origin) : undefined);
    return new Failure('unauthorized', told.message, { hint: told.hint });
  }
  if (!lost) return new Failure('agent_not_selected', message, { hint: seatsToName(choice, saved()) });
  const { name, board } = lost;
  return new Failure('agent_not_selected', `Another session took the seat of this one, ${name} on ${board}.`, {
    hint: `To take it back: service resume ${selectorOf(lost, allSeats(saved()))}`,
  });
}

/** How to act as an agent: by a seat that is here, or by taking one. */
function seatsToName(choice: SessionChoice, saved: Credentials): string {
  const { board, server } = choice;
  const at = server && (looksLikeUrl(server) ? canonicalOrigin(server) : namedOrigin(server, () => saved));
  const there = allSeats(saved).filter(
    ({ origin, saved: seat }) =>
      [undefined, seat.board, seat.board_id].includes(board) && (!at || isSameServer(saved, origin, at)),
  );
  const names = [...new Set(there.map((seat) => seat.saved.name))].slice(0, 5);
  if (names.length > 0) return `Name a seat of this machine: --as ${either(names)}; or set SERVICE_AGENT`;
  return seatToMake(choice);
}

/** How to get a seat on the board and server that were named. @param name the agent's */
export function seatToMake({ board, server }: { board?: unknown; server?: unknown }, name = 'NAME'): string {
  const on = board ?? projectContent(findProject())?.board ?? 'BOARD';
  const had = inSession() ? hadSeatOn(on) : undefined;
  const there = `--board ${on}${server ? ` --server ${server}` : had ? atServer(had.origin) : ''}`;
  const make = `service agent create ${name} ${there}`;
  if (!inSession()) return `Make a seat: ${make}`;
  return had ? `Ask your person to run: ${make}; then: service resume ${name}` : `Take a seat: service join ${there}`;
}

/** The seats of this session that have ended. */
const endedHere = (saved: Credentials): EndedSeat[] =>
  endedSeats(saved).filter((seat) => seat.saved.session === sessionHere()?.key);

/** The seat of this session on a board that has ended: its server then lets the session join no more. */
const hadSeatOn = (board: unknown): EndedSeat | undefined =>
  endedHere(readCredentials(runtime().folders)).find(({ saved }) => saved.board === board && !saved.key_ended_at);

/** What was typed, kept at the board of the agent's seat, and at its server where there are several. */
function lineForPerson({ line, ofBoard, board, server }: SessionChoice, seat: Seat, saved: Credentials): string {
  const elsewhere = Object.keys(saved.servers).length > 1 && server === undefined;
  const name = seat.entry.mode === 'local' ? 'local' : seat.entry.name;
  return [
    line,
    ofBoard && board === undefined ? ` --board ${seat.saved.board}` : '',
    elsewhere ? ` --server ${name}` : '',
  ].join('');
}

/** The same in a session, by the one seat that would act; what was typed, where none or several would. */
async function lineFromSession(choice: SessionChoice, saved: () => Credentials): Promise<string> {
  const actor = await actorOf(choice, saved).catch(() => null);
  return actor?.kind === 'seat' ? lineForPerson(choice, actor.seat, saved()) : choice.line;
}

/** @param line the command as its person would type it. */
export const forPeopleOnly = (line: string): Failure =>
  new Failure('human_command_in_session', 'Only a person may do this, and an agent is selected here.', {
    hint: `Ask your person to run: ${line}`,
  });

function noteActor(out: Output, actor: Actor, entry: ServerEntry | null): void {
  if (actor.kind === 'seat') {
    const { memberId, saved } = actor.seat;
    const owner = entry?.person ? { owner: entry.person.handle } : {};
    out.base.actor = { kind: 'agent', name: saved.name, id: memberId, ...owner };
  } else if (actor.kind === 'person' && entry?.person) {
    out.base.actor = { kind: 'person', name: entry.person.handle, id: entry.person.id };
  }
}
