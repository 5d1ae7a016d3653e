/** credentials.json: the servers that this machine knows, with their keys and tokens. */
import { isIPv4 } from 'node:net';
import { join } from 'node:path';
import { patterns } from '../../contract/ids.ts';
import { Failure } from '../failure.ts';
import type { Folders } from '../folders.ts';
import { withLock } from '../lock.ts';
import { parseOwn, readPrivate, writePrivate } from '../private-file.ts';

type KeyPlace = 'keychain' | 'file' | 'local-file';

interface SavedKey {
  id: string;
  name: string;
  expires_at: string | null;
  store: KeyPlace;
  token?: string;
  /** Its account in the keychain. */
  account?: string;
}

export interface SavedSeat {
  /** Absent once the seat ended: the row stays so that messages can explain it. */
  token?: string;
  board_id: string;
  board: string;
  name: string;
  role: string | null;
  harness: string | null;
  session: string | null;
  created_at: string;
  /** Id of the key that it was made with. */
  key?: string;
  /** When the server reported that it has ended. */
  ended_at?: string;
  /** When its token was dropped, as the key that it was made with has ended: another key brings it back. */
  key_ended_at?: string;
}

/** A pending sign-in or invite. Its secret is saved before it is sent, so that a lost answer loses nothing. */
export interface Pending {
  kind: 'invite' | 'machine' | 'guest';
  store: 'keychain' | 'file';
  token?: string;
  /** Its account in the keychain. */
  account?: string;
  /** SHA-256 of the invite's secret or the guest's code, to recognise a second attempt with the same one. */
  digest?: string;
  handle: string;
  /** Name of the key it leads to. */
  label: string;
  code?: string;
  expires_at: string;
}

export interface ServerEntry {
  server_id: string;
  name: string;
  mode: 'local' | 'team';
  person: { id: string; handle: string } | null;
  key: SavedKey | null;
  seats: Record<string, SavedSeat>;
  /**
   * Seats of servers and people that were at this address before, by both ids. Their tokens are not used until that person
   * is back at that server.
   */
  former?: Record<string, Record<string, SavedSeat>>;
  pending?: Pending;
  /** When its person last joined or logged in from this machine; not set by an agent's session where others were known. */
  logged_in_at?: string;
  /** This machine's own server: the addresses it was reached at. */
  urls?: string[];
}

export interface Credentials {
  v: 1;
  default: string | null;
  servers: Record<string, ServerEntry>;
}

/** The path of the file. */
export function credentialsPath(folders: Folders): string {
  return join(folders.config, 'credentials.json');
}

const ENDED_SEAT_MS = 7 * 86_400_000;

/** The saved credentials, without seats that ended more than a week ago; empty if there is no file. */
export function readCredentials(folders: Folders): Credentials {
  const path = credentialsPath(folders);
  const text = readPrivate(path);
  if (text === null) return { v: 1, default: null, servers: {} };
  const saved = parseOwn(path, text, isCredentials);
  const since = Date.now() - ENDED_SEAT_MS;
  for (const { seats } of Object.values(saved.servers))
    for (const [id, { ended_at, key_ended_at: ended = ended_at }] of Object.entries(seats))
      if (ended && Date.parse(ended) < since) delete seats[id];
  return saved;
}

/** Changes the file under its lock; keys this program does not know are kept. */
export async function updateCredentials<T>(folders: Folders, change: (saved: Credentials) => T): Promise<T> {
  return withLock(join(folders.config, 'credentials.lock'), () => {
    const saved = readCredentials(folders);
    const result = change(saved);
    writePrivate(credentialsPath(folders), `${JSON.stringify(saved, null, 2)}\n`);
    return result;
  });
}

/** Checks names from a server, which become words of commands. @throws Failure `server_unexpected` for an invalid name */
export function requireNames({ name, board }: Pick<SavedSeat, 'name' | 'board'>): void {
  if (patterns.memberName.test(name) && patterns.boardName.test(board)) return;
  throw new Failure('server_unexpected', 'The server calls the agent or its board by what is no name.', {
    hint: 'Nothing was saved; ask the operator of the server',
  });
}

/** A seat, by the address of its server: only ids of one server tell its agents apart. */
interface SeatPlace {
  origin: string;
  memberId: string;
}

/** Drops the token of a seat that ended; the row stays a week, so that messages can explain it. */
export async function endSeat(folders: Folders, { origin, memberId }: SeatPlace, now = Date.now()): Promise<void> {
  await updateCredentials(folders, (saved) => {
    for (const { seats } of entriesOf(saved, origin)) {
      const seat = seats[memberId];
      if (!seat) continue;
      delete seat.token;
      delete seat.key_ended_at;
      seat.ended_at = new Date(now).toISOString();
    }
  });
}

/** Notes which session holds a seat, and that it holds no other one of its board. */
export async function noteHolder(
  folders: Folders,
  { origin, memberId, saved: { board_id: board } }: SeatPlace & { saved: SavedSeat },
  session: string,
): Promise<void> {
  await updateCredentials(folders, (saved) => {
    for (const { seats } of entriesOf(saved, origin))
      for (const [id, seat] of Object.entries(seats)) {
        if (id === memberId) seat.session = session;
        else if (seat.session === session && seat.board_id === board) seat.session = null;
      }
  });
}

/** Drops the tokens of the seats that were made with a key, which has ended; without a note of theirs that is the saved key. */
export function endSeatsOfKey(entry: ServerEntry, keyId: string, now = Date.now()): void {
  for (const seat of Object.values(entry.seats)) {
    if (seat.token === undefined || (seat.key ?? entry.key?.id) !== keyId) continue;
    delete seat.token;
    seat.key_ended_at = new Date(now).toISOString();
  }
}

/**
 * The seats of the person who is signed in now, at the server that is at an address now. Those of another server or person
 * that was there before are kept in `former`, so that they work again when it is back: an agent acts for its own person.
 */
export function seatsAt(
  known: ServerEntry | undefined,
  serverId: string,
  personId: string,
): { seats: ServerEntry['seats']; former?: NonNullable<ServerEntry['former']> } {
  const now = `${serverId} ${personId}`;
  const before = known && `${known.server_id} ${known.person?.id ?? personId}`;
  // Earlier versions put them aside by the server's id alone.
  const { [now]: again, [serverId]: earlier, ...others } = known?.former ?? {};
  const seats = { ...earlier, ...(known && before === now ? known.seats : again) };
  if (known && before !== undefined && before !== now && Object.keys(known.seats).length > 0)
    others[before] = known.seats;
  return Object.keys(others).length > 0 ? { seats, former: others } : { seats };
}

/** The entry of this machine's own server, under the port at which it was last seen. */
export function localEntry(saved: Credentials): [string, ServerEntry] | null {
  return Object.entries(saved.servers).find(([, entry]) => entry.mode === 'local') ?? null;
}

/** Where nobody listens: the address of this machine's own server until it runs again. */
export const NOWHERE = 'http://127.0.0.1:0';

/** What is saved of the server at an address; of this machine's own also by the addresses that it had before. */
export function entryAt(saved: Credentials, origin: string): [string, ServerEntry] | null {
  const exact = saved.servers[origin];
  if (exact) return [origin, exact];
  const own = localEntry(saved);
  return own?.[1].urls?.includes(origin) ? own : null;
}

/** Whether two addresses lead to one server: its id decides. */
export function isSameServer(saved: Credentials, one: string, other: string): boolean {
  const id = entryAt(saved, one)?.[1].server_id;
  return one === other || (id !== undefined && id === entryAt(saved, other)?.[1].server_id);
}

/** What is saved of a server at all its addresses. */
export const entriesOf = (saved: Credentials, origin: string): ServerEntry[] =>
  Object.entries(saved.servers).flatMap(([at, entry]) => (isSameServer(saved, at, origin) ? [entry] : []));

/** Saves a seat with its new token, which has replaced the one that may be saved at another address of its server. */
export function putSeat(saved: Credentials, origin: string, memberId: string, seat: SavedSeat): void {
  const entry = saved.servers[origin];
  if (!entry) return;
  for (const { seats } of entriesOf(saved, origin)) delete seats[memberId];
  entry.seats[memberId] = entry.key ? { ...seat, key: entry.key.id } : seat;
}

/** A name for a server that no other known server has: the host's first label, numbered if taken. */
export function freeName(saved: Credentials, origin: string): string {
  const taken = new Set(['local', ...Object.values(saved.servers).map((entry) => entry.name)]);
  const { hostname } = new URL(origin);
  const label = isIPv4(hostname) ? hostname.replaceAll('.', '-') : hostname.split('.')[0]!;
  const base = label.replace(/[^a-z0-9-]/g, '').slice(0, 36) || 'server';
  let name = base;
  for (let n = 2; taken.has(name); n++) name = `${base}-${n}`;
  return name;
}

function isCredentials(value: unknown): value is Credentials {
  if (typeof value !== 'object' || value === null) return false;
  const { v, servers } = value as Record<string, unknown>;
  if (v !== 1 || typeof servers !== 'object' || servers === null) return false;
  return Object.values(servers).every((entry) => typeof entry === 'object' && entry !== null && 'seats' in entry);
}
