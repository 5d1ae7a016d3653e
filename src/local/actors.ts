/** Resolves who a command acts as: a selected seat, a credential from the environment, or the person. */
import { readFileSync } from 'node:fs';
import { Failure, usage } from './failure.ts';
import type { Env } from './folders.ts';
import { type Credentials, isSameServer, type SavedSeat, type ServerEntry } from './keys/credentials.ts';
import { loginCommand } from './servers.ts';

export interface Seat {
  memberId: string;
  origin: string;
  entry: ServerEntry;
  saved: SavedSeat & { token: string };
}

/** One whose token was dropped, as it has ended. */
export type EndedSeat = Omit<Seat, 'saved'> & { saved: SavedSeat };

export type Actor =
  | { kind: 'person' }
  | { kind: 'seat'; seat: Seat; source: 'flag' | 'env' | 'session' }
  | { kind: 'token'; token: string; agent: boolean };

interface ActorChoice {
  as: string | undefined;
  board: string | undefined;
  /** Whether the command is about one board, which must be named in a session with several seats. */
  ofBoard?: boolean;
  /** Narrows seats of the same name on several servers. */
  serverOrigin: string | undefined;
}

/**
 * `--as`, then the token of a seat in SERVICE_TOKEN, then SERVICE_AGENT, then the seat of this session; outside all of these
 * it is the person, by the key in SERVICE_TOKEN or a saved one.
 * @param here the seats of this session.
 * @throws Failure `board_ambiguous` before anything is sent, where a session holds several seats and no board is named.
 */
export function chooseActor(
  choice: ActorChoice,
  saved: () => Credentials,
  env: Env,
  here: readonly Seat[] = [],
): Actor {
  const board = choice.board ?? env.SERVICE_BOARD;
  const near = choice.serverOrigin && here.length > 0 ? seatsAtServer(here, saved(), choice.serverOrigin) : here;
  if (choice.ofBoard && !board && near.length > 1) throw severalSeats(near);
  if (choice.as) return { kind: 'seat', seat: findSeat(choice.as, choice, saved(), env), source: 'flag' };
  const token = actingToken(choice.as, env, here);
  if (token) return { kind: 'token', token, agent: token.startsWith('aba_') };
  if (env.SERVICE_AGENT)
    return { kind: 'seat', seat: findSeat(env.SERVICE_AGENT, choice, saved(), env), source: 'env' };
  if (here.length === 0) return { kind: 'person' };
  if (near.length === 0) throw sessionElsewhere(here);
  const matching = near.length > 1 ? near.filter((seat) => isOn(seat, board)) : near;
  if (matching.length !== 1) throw severalSeats(near);
  return { kind: 'seat', seat: matching[0]!, source: 'session' };
}

/** Whether a seat is on the board of this name or id. */
export const isOn = ({ saved }: EndedSeat, board: string | undefined): boolean =>
  saved.board === board || saved.board_id === board;

function sessionElsewhere(here: readonly Seat[]): Failure {
  const origins = [...new Set(here.map(({ origin }) => origin))];
  return new Failure(
    'session_on_another_server',
    `This session has its seats on ${origins.join(', ')}; nothing was sent.`,
    {
      hint: 'Leave --server out, or join a board there first: service join --board BOARD --server SERVER',
      details: { servers: origins },
    },
  );
}

/** The seats that a session of an agent's program holds on this machine. */
export const seatsOfSession = (saved: Credentials, session: string): Seat[] =>
  allSeats(saved).filter((seat) => seat.saved.session === session);

/** The credential of SERVICE_TOKEN or SERVICE_TOKEN_FILE, never stored. */
export function environmentToken(env: Env): string | null {
  const token = env.SERVICE_TOKEN?.trim() || (env.SERVICE_TOKEN_FILE ? readTokenFile(env.SERVICE_TOKEN_FILE) : '');
  if (!token) return null;
  if (/^(abh|aba)_[A-Za-z0-9_-]{32,}$/.test(token)) return token;
  throw new Failure('key_invalid', 'SERVICE_TOKEN holds neither a person key (abh_…) nor a seat token (aba_…).');
}

/**
 * The credential of the environment, where nothing that selects an agent beats it.
 * @param as the agent of `--as` @param here the seats of this session
 */
export function actingToken(as: string | undefined, env: Env, here: readonly Seat[]): string | null {
  const token = as ? null : environmentToken(env);
  return (env.SERVICE_AGENT || here.length > 0) && token?.startsWith('abh_') ? null : token;
}

/** The seat called `name`, `name@board` or by its `mem_` id, among those this machine holds tokens for; also with an @ before it. */
function findSeat(typed: string, choice: ActorChoice, saved: Credentials, env: Env): Seat {
  const selector = typed.replace(/^@/, '');
  const [name = '', named] = selector.split('@', 2);
  const board = named ?? choice.board;
  const held = allSeats(saved).filter((seat) => seat.memberId === selector || seat.saved.name === name);
  const here = choice.serverOrigin ? seatsAtServer(held, saved, choice.serverOrigin) : held;
  if (held.length > 0 && here.length === 0) throw onAnotherServer(selector, held[0]!);
  const usual = here.filter((seat) => isOn(seat, env.SERVICE_BOARD));
  const among = board ? here.filter((seat) => isOn(seat, board)) : usual.length > 0 ? usual : here;
  const matching = here.length > 1 ? among : here;
  if (matching.length === 1 && (named === undefined || isOn(matching[0]!, named))) return matching[0]!;
  if (matching.length > 1) throw ambiguous(name, matching);
  const gone = endedSeats(saved).filter(
    (seat) =>
      (seat.memberId === selector || seat.saved.name === name) &&
      (named === undefined || isOn(seat, named)) &&
      (choice.serverOrigin === undefined || isSameServer(saved, seat.origin, choice.serverOrigin)),
  );
  const ended = gone.find((seat) => isOn(seat, board)) ?? gone[0];
  if (ended) {
    const several = choice.serverOrigin !== undefined || Object.keys(saved.servers).length > 1;
    const at = ended.entry.mode !== 'local' ? ` --server ${ended.origin}` : several ? ' --server local' : '';
    if (ended.saved.key_ended_at) {
      const { message, hint } = endedWithKey(ended, false, at);
      throw new Failure('unauthorized', message, { hint });
    }
    throw new Failure('agent_removed', `The seat of ${selector} has ended; it can no longer act.`, {
      hint: `Its name stays taken; make another: service agent create NAME --board ${board ?? 'BOARD'}${at}`,
    });
  }
  throw new Failure('agent_seat_elsewhere', `This machine holds no token for an agent called ${selector}.`);
}

/** Those at the server of an address; of one that is saved at two, the row at that address. */
function seatsAtServer(seats: readonly Seat[], saved: Credentials, address: string): Seat[] {
  const there = seats.filter(({ origin }) => isSameServer(saved, origin, address));
  const exact = new Set(there.flatMap(({ origin, memberId }) => (origin === address ? [memberId] : [])));
  return there.filter(({ origin, memberId }) => origin === address || !exact.has(memberId));
}

const knownSeats = (saved: Credentials): EndedSeat[] =>
  Object.entries(saved.servers).flatMap(([origin, entry]) =>
    Object.entries(entry.seats).map(([memberId, seat]) => ({ memberId, origin, entry, saved: seat })),
  );

/** Every seat that this machine holds a token for. */
export const allSeats = (saved: Credentials): Seat[] =>
  knownSeats(saved).filter((seat): seat is Seat => seat.saved.token !== undefined);

/** Every seat that this machine held a token for, until a week ago. */
export const endedSeats = (saved: Credentials): EndedSeat[] =>
  knownSeats(saved).filter((seat) => seat.saved.token === undefined);

/**
 * Why the server takes a seat's token no more, and how it comes back.
 * @param asked whether that is said to the agent's session @param at what keeps the command that follows at its server
 */
export function endedWithKey(
  { saved: { name, board, session, key, key_ended_at }, origin, entry }: Pick<EndedSeat, 'saved' | 'origin' | 'entry'>,
  asked = false,
  at = entry.mode === 'local' ? '' : ` --server ${origin}`,
): { message: string; hint: string } {
  const join = `service join --board ${board} --name ${name}${at}`;
  const next = session
    ? `${asked ? 'join again' : 'in its session'}: ${join}`
    : `give it a new seat: service agent create NAME --board ${board}${at}`;
  const signIn = `${asked ? 'Ask your person to run: ' : ''}${loginCommand(origin, entry.mode === 'local')}`;
  // A key of this machine's own server has one name for all.
  const hasAnother = key_ended_at !== undefined && entry.mode !== 'local' && entry.key && entry.key.id !== key;
  return {
    message: `${name} on ${board} is not let in any more: its key has ended, or its seat was taken elsewhere.`,
    hint: hasAnother ? `${next[0]!.toUpperCase()}${next.slice(1)}` : `${signIn}; then ${next}`,
  };
}

/** How a seat is named so that only it can be meant: with its board, and by its id where that is not enough. */
export function selectorOf(
  { member_id, name, board }: { member_id?: string | undefined; name: string; board: string },
  all: readonly Seat[],
): string {
  const same = all.filter(({ saved }) => saved.name === name && saved.board === board);
  return same.length > 1 && member_id !== undefined ? member_id : `${name}@${board}`;
}

function ambiguous(name: string, seats: Seat[]): Failure {
  const boards = seats.map((seat) => seat.saved.board);
  return new Failure('agent_ambiguous', `${name} has a seat on several boards: ${boards.join(', ')}.`, {
    hint: `Say which one: --as ${name}@${boards[0]}${serverOf(seats)}`,
    details: { boards },
  });
}

function severalSeats(seats: readonly Seat[]): Failure {
  const boards = seats.map((seat) => seat.saved.board);
  return new Failure('board_ambiguous', `This session has a seat on several boards: ${boards.join(', ')}.`, {
    hint: `Say which one: --board ${boards[0]}${serverOf(seats)}`,
    details: { boards, seats: seats.map(({ saved }) => `${saved.name}@${saved.board}`) },
  });
}

/** What names the first one's server too, because boards of several servers may have the same name. */
function serverOf(seats: readonly Seat[]): string {
  const boards = new Set(seats.map((seat) => seat.saved.board));
  return boards.size < seats.length ? ` --server ${seats[0]!.origin}` : '';
}

function onAnotherServer(selector: string, seat: Seat): Failure {
  return new Failure('agent_on_another_server', `${selector} has its seat on ${seat.origin}; nothing was sent.`, {
    hint: 'Leave --server out: an agent acts on the server of its seat.',
  });
}

function readTokenFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    throw usage(`SERVICE_TOKEN_FILE names ${path}, which cannot be read.`);
  }
}
