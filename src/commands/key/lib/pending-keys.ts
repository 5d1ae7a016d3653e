/** Shared by `connect` and `machine request`: suggests names, and keeps a pending key until it is settled. */
import { createHash, randomBytes } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import type { z } from 'zod';
import { called, runtime } from '../../../cli/runtime.ts';
import { atServer, clientOptions, type SessionChoice } from '../../../cli/session/open-session.ts';
import type { collectedKey } from '../../../cli/shapes.ts';
import { onOneLine } from '../../../cli/terminal/fields.ts';
import { Client } from '../../../client/client.ts';
import { ClientError } from '../../../client/errors.ts';
import { retryDelay } from '../../../client/retry.ts';
import { idPattern, patterns } from '../../../contract/ids.ts';
import { slug } from '../../../contract/text.ts';
import type { Answer, ServerRole } from '../../../contract/types.ts';
import { Failure } from '../../../local/failure.ts';
import {
  freeName,
  type Pending,
  readCredentials,
  type ServerEntry,
  updateCredentials,
} from '../../../local/keys/credentials.ts';
import { forgetPending, placeOf, readKey, savePending, storeChoice } from '../../../local/keys/keystore.ts';
import { type Arrival, formerText, settle } from './save-key.ts';

export interface Deps extends Pick<SessionChoice, 'out' | 'timeoutMs' | 'perRequest' | 'verbose'> {
  /** `--no-input` was given. */
  noInput: boolean;
}

/** What a command that brought a key here prints. */
export interface BroughtKey {
  record: z.infer<typeof collectedKey>;
  text: string;
  /** What to do first, for who came to stay. */
  next: string;
}

/** The system's user name as a handle; empty where nothing usable is left of it. */
export function userHandle(): string {
  try {
    return slug(userInfo().username);
  } catch {
    return '';
  }
}

/** `maya-laptop`: what a key of this person on this machine is called. */
export const machineLabel = (handle: string): string =>
  slug(`${handle}-${hostname().split('.')[0] ?? ''}`) || 'machine';

export const digestOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** Each of its requests has the whole time: what became of a lost answer has still to be found out when that is over. */
export const clientFor = (origin: string, token: string | undefined, deps: Deps): Client =>
  new Client({ origin, ...(token === undefined ? {} : { token }), ...clientOptions({ ...deps, perRequest: true }) });

/** The entry of a server that is to get a key here. @throws Failure `already_connected`. */
export function entryToConnect(origin: string): ServerEntry | undefined {
  const entry = readCredentials(runtime().folders).servers[origin];
  refuseConnected(origin, entry);
  return entry;
}

/** @throws Failure `already_connected` where this machine has a key of the server. */
export function refuseConnected(origin: string, entry: ServerEntry | undefined): void {
  if (!entry?.key || !entry.person) return;
  throw new Failure('already_connected', `This machine is connected to ${origin} as ${entry.person.handle} already.`, {
    hint: `If its key has ended, first: service logout ${origin}. A second account needs a place of its own: SERVICE_HOME=/another/folder service connect …`,
    details: { handle: entry.person.handle },
  });
}

/** Whether the person of a server has a key of it here that the server takes no more. */
export async function keyHasEnded(origin: string, entry: ServerEntry, deps: Deps): Promise<boolean> {
  const token = entry.key && (await readKey(runtime().folders, origin, entry));
  if (!token) return false;
  try {
    await clientFor(origin, token, deps).call('getMe');
    return false;
  } catch (error) {
    return error instanceof ClientError && error.status === 401;
  }
}

/** @throws Failure `server_identity_changed` when another server answers there than before. */
export function checkIdentity(origin: string, entry: ServerEntry | undefined, serverId: string): void {
  if (!entry || entry.server_id === serverId) return;
  throw new Failure(
    'server_identity_changed',
    `Another server answers at ${origin} than before, so nothing was sent.`,
    {
      hint: `If that is right, forget the old one: service servers forget ${entry.name}`,
    },
  );
}

/** Saves a pending key, durably, before its secret is sent. */
export async function savePendingKey(
  { origin, serverId, token }: { origin: string; serverId: string; token: string },
  pending: Omit<Pending, 'store' | 'token'>,
): Promise<Pending> {
  const { env, folders } = runtime();
  const place = await savePending(storeChoice(env.SERVICE_KEYSTORE), { origin, token }, { env, folders });
  const kept: Pending = { ...pending, ...placeOf(place, token) };
  const before = readCredentials(folders).servers[origin];
  await updateCredentials(folders, (saved) => {
    const entry = saved.servers[origin] ?? {
      server_id: serverId,
      name: freeName(saved, origin),
      mode: 'team' as const,
      person: null,
      key: null,
      seats: {},
    };
    saved.servers[origin] = { ...entry, pending: kept };
  });
  if (before?.pending) await forgetPending(origin, before.server_id, before.pending, place);
  return kept;
}

/** Drops a pending key that comes to nothing; a server of which nothing else is known is forgotten with it. */
export async function dropPendingKey(origin: string): Promise<void> {
  const { folders } = runtime();
  const before = readCredentials(folders).servers[origin];
  if (!before?.pending) return;
  await updateCredentials(folders, (saved) => {
    const entry = saved.servers[origin];
    if (!entry) return;
    const { pending: _over, ...rest } = entry;
    if (rest.key === null && rest.person === null && Object.keys(rest.seats).length === 0) delete saved.servers[origin];
    else saved.servers[origin] = rest;
  });
  await forgetPending(origin, before.server_id, before.pending);
}

/** What was begun here in this way and can still come to something. */
export function begun(entry: ServerEntry | null | undefined, kind: Pending['kind']): Pending | null {
  const pending = entry?.pending;
  return pending?.kind === kind && Date.parse(pending.expires_at) > Date.now() ? pending : null;
}

const FIND_OUT = {
  invite: (origin: string) => `service connect ${origin} --resume`,
  guest: () => 'repeat the join with its line',
};

/**
 * Keeps the only key of an account whose making was not answered from being replaced.
 *
 * @param kinds the ways to an account other than the one that is gone
 * @throws Failure `outcome_unknown` while one of them waits for its answer
 */
export function refuseBegun(origin: string, entry: ServerEntry | undefined, kinds: ('invite' | 'guest')[]): void {
  const kind = kinds.find((one) => begun(entry, one));
  if (kind === undefined) return;
  throw new Failure('outcome_unknown', `Another way onto ${origin} was begun here and waits for its answer.`, {
    hint: `Find out what became of it first: ${FIND_OUT[kind](origin)}. To give it up: service servers forget ${origin}`,
  });
}

/** The key of a person, made here, so that the server answers a repeated request with the same account. */
export const newKey = (): string => `abh_${randomBytes(32).toString('base64url')}`;

/** What was begun here and waits for its answer. */
export interface Waiting {
  origin: string;
  entry: ServerEntry;
  pending: Pending;
}

/**
 * What waits here: at the server that was named, or the only one.
 * @throws Failure `server_not_selected` with what `several` says of the first, and what `none` makes.
 */
export function waitingHere(
  wanted: string | null,
  fits: (entry: ServerEntry) => Pending | null,
  { several, none }: { several: (origin: string) => { message: string; hint: string }; none: () => Failure },
): Waiting {
  const found = Object.entries(readCredentials(runtime().folders).servers).flatMap(([origin, entry]): Waiting[] => {
    const pending = fits(entry);
    return pending && (wanted === null || origin === wanted) ? [{ origin, entry, pending }] : [];
  });
  const [only, another] = found;
  if (!only) throw none();
  if (!another) return only;
  const { message, hint } = several(only.origin);
  throw new Failure('server_not_selected', message, { hint, details: { choices: found.map(({ origin }) => origin) } });
}

const ATTEMPTS = 5;

interface Sending<T> {
  /** Whether an earlier run sent it, so that it may have been done already. */
  sentBefore: boolean;
  send: () => Promise<T>;
  /** Codes of refusals which prove that no earlier request was carried out. */
  refusals?: string[];
  /** What came of it, found out in another way; `answered`: the server did answer the last try. Undefined: not known. */
  find: (answered: boolean) => Promise<T | undefined>;
  unclear: (cause: ClientError) => Failure;
}

/**
 * Sends what makes an account until its outcome is clear; what was refused is not kept.
 * @throws ClientError of the server; what `unclear` makes where nobody can say what became of it.
 */
export async function sendUntilClear<T>(
  { environment: { random, sleep } }: Client,
  origin: string,
  { sentBefore, send, refusals = [], find, unclear: failed }: Sending<T>,
): Promise<T> {
  let unclear = sentBefore;
  for (let attempt = 1; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      const again = isUnclear(error);
      unclear ||= again;
      if (!unclear || refusals.includes(error.code)) {
        await dropPendingKey(origin);
        throw error;
      }
      if (again && attempt < ATTEMPTS) {
        await sleep(retryDelay(error, attempt + 1, random));
        continue;
      }
      const found = await find(!again);
      if (found !== undefined) return found;
      throw failed(error);
    }
  }
}

/** Whether nobody can say what became of a request. */
export const isUnclear = (error: ClientError): boolean =>
  error.code === 'outcome_unknown' || error.delivery === 'unclear' || error.status === 500;

interface ReceivedKey extends Omit<Arrival, 'person' | 'key'> {
  person: { id: string; handle: string; server_role: ServerRole };
  key: { id: string; name: string; expires_at: string | null };
  /** Work that the invite came with. */
  pairing?: string | undefined;
}

/** Saves the key that came, and says so. What the server says is nobody's word yet: it adds no line, and no command. */
export async function saveReceivedKey(received: ReceivedKey, deps: Deps): Promise<BroughtKey> {
  const { origin, serverId, person, key, token } = received;
  const { stored, standard, replaced, former } = await settle(received, deps.out);
  const boards = await boardsOf(clientFor(origin, token, deps));
  const pairing = received.pairing && idPattern('prq').test(received.pairing) ? received.pairing : undefined;
  const where = stored === 'keychain' ? ', saved in the system keychain' : '';
  const { token: _secret, ...shown } = key as typeof key & { token?: string };
  const who = onOneLine(`${person.handle} (${person.server_role})`);
  return {
    record: {
      server_id: serverId,
      person,
      key: shown,
      stored,
      default: standard,
      ...(former ? { replaced_person: former } : {}),
      boards,
      ...(pairing === undefined ? {} : { pairing_request_id: pairing }),
    },
    text: `Joined ${origin} as ${who}. Key "${onOneLine(key.name)}"${where}.${former ? `\n${formerText(former, replaced)}` : ''}`,
    next: called(`Next: ${nextStep(boards[0]?.name, pairing)}${atServer(origin)}`),
  };
}

/** On a server one has come onto: the work one was invited to, a board, or finding one. */
function nextStep(board: string | undefined, pairing: string | undefined): string {
  if (pairing !== undefined) return `service pairing show ${pairing}`;
  return board === undefined ? 'service board list --all' : `service read --board ${board}`;
}

/** The boards the person is on; a list that cannot be read now takes nothing away from the key. */
async function boardsOf(
  client: Client,
): Promise<Pick<Answer<'listBoards'>['boards'][number], 'id' | 'name' | 'title'>[]> {
  try {
    const { data } = await client.call('listBoards', { maxAttempts: 1 });
    const mine = data.boards.filter((board) => board.on_board && patterns.boardName.test(board.name));
    return mine.map(({ id, name, title }) => ({ id, name, title }));
  } catch (error) {
    if (error instanceof ClientError) return [];
    throw error;
  }
}
