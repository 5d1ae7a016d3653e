/** Caches which files other agents work on, so that a hook that changes a file needs no request to a server. */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { covers, inEqualParts } from '../../contract/globs.ts';
import type { Claim } from '../../contract/types.ts';
import { pathIn, type Repository, repositoryOf } from '../../local/repository.ts';
import { quoted } from '../bundle/escape.ts';
import { type DaemonClock, withTimeout } from '../clock.ts';
import type { Log } from '../log.ts';
import { type SeatRef, seatKey } from '../refs.ts';
import { SeatFailure, type ServerEvents } from '../server-link/link.ts';
import type { Servers } from '../server-link/servers.ts';
import { SingleFlight } from '../server-link/single-flight.ts';
import type { EditedFile, Session } from '../sessions/session.ts';

/** How long the first hook of a seat waits for the server's answer; later hooks use the cache. */
const FIRST_READ_TIMEOUT_MS = 300;
/** Claims are read again after this time, in case no stream reports changes. */
const MAX_AGE_US = 30_000_000;
/** A repository's origin can change. */
const REPOSITORY_MAX_AGE_US = 300_000_000;
const MAX_FILES = 1_000;
/** For all claims together: globs that take long to compare hold up no hook. */
const STEPS_A_CHECK = 20_000;
/** Files that a warning names; it counts the others. */
const NAMED_FILES = 3;
/** So many lines may wait for the session's next texts; files beyond are warned about at a later check. */
const MAX_WAITING_LINES = 50;

interface SeatClaims {
  claims: readonly Claim[];
  /** When the claims were last read; 0 for never. */
  readUs: number;
  reads: SingleFlight<void>;
}

interface ClaimsOptions {
  clock: DaemonClock;
  log: Log;
  servers: Pick<Servers, 'at'>;
}

export class Claims {
  readonly #options: ClaimsOptions;
  readonly #seats = new Map<string, SeatClaims>();
  readonly #sessions = new Set<Session>();
  readonly #repositories = new Map<string, { atUs: number; found: Promise<Repository | null> }>();

  constructor(options: ClaimsOptions) {
    this.#options = options;
  }

  listen(events: ServerEvents): void {
    events.on('lines', (seat) => {
      const known = this.#seats.get(seatKey(seat));
      if (known && this.#sessionsOf(seat).length > 0) void known.reads.run();
      else this.#seats.delete(seatKey(seat));
    });
  }

  /** Adds a warning to the session's pending lines for each of these edited files that another agent works on. */
  async atBoundary(session: Session, files: readonly string[], cwd: string): Promise<void> {
    this.#sessions.add(session);
    await Promise.all([...session.seats].map(({ row }) => this.#ensureRead(row)));
    for (const file of files) await this.#addFile(session, resolve(cwd, file));
    this.#warn(
      session,
      files.flatMap((file) => session.edited.get(resolve(cwd, file)) ?? []),
    );
  }

  async #ensureRead(seat: SeatRef): Promise<void> {
    const { clock } = this.#options;
    const known = this.#seatClaims(seat);
    if (known.readUs > 0 && clock.nowUs() - known.readUs < MAX_AGE_US) return;
    const read = known.reads.run();
    if (known.readUs === 0) await withTimeout(clock, FIRST_READ_TIMEOUT_MS, read, () => {});
  }

  #seatClaims({ origin, member_id }: SeatRef): SeatClaims {
    const seat = { origin, member_id };
    const found = this.#seats.get(seatKey(seat));
    if (found) return found;
    const known: SeatClaims = { claims: [], readUs: 0, reads: new SingleFlight(() => this.#read(seat, known)) };
    this.#seats.set(seatKey(seat), known);
    return known;
  }

  /** Updates the claims of a seat; keeps the old ones when the read fails. */
  async #read(seat: SeatRef, known: SeatClaims): Promise<void> {
    const { clock, log, servers } = this.#options;
    try {
      const claims = await servers.at(seat.origin).claims(seat);
      Object.assign(known, { claims });
      for (const session of this.#sessionsOf(seat)) this.#warn(session, [...session.edited.values()].reverse());
    } catch (error) {
      const code = error instanceof SeatFailure ? error.code : 'internal';
      log.write('presence_failed', { seats: [seat.member_id], what: 'claims', code }, 'warn');
    }
    known.readUs = clock.nowUs();
  }

  /** The open sessions that have edited files and hold the seat. */
  #sessionsOf(seat: SeatRef): Session[] {
    for (const session of this.#sessions) if (!session.row.open) this.#sessions.delete(session);
    return [...this.#sessions].filter(({ seats }) => [...seats].some(({ row }) => seatKey(row) === seatKey(seat)));
  }

  async #addFile(session: Session, file: string): Promise<void> {
    if (session.edited.has(file) || session.edited.size >= MAX_FILES) return;
    const repository = await this.#repositoryOf(dirname(file));
    if (!repository?.name) return;
    const path = pathIn(repository.root, file);
    if (path !== null) session.edited.set(file, { repo: repository.name, path, warned: false });
  }

  #repositoryOf(folder: string): Promise<Repository | null> {
    const now = this.#options.clock.nowUs();
    const top = repositoryTop(folder);
    if (top === null) return Promise.resolve(null);
    const known = this.#repositories.get(top);
    if (known && now - known.atUs < REPOSITORY_MAX_AGE_US) return known.found;
    const found = repositoryOf(top);
    this.#repositories.set(top, { atUs: now, found });
    return found;
  }

  /** Warns once per file, with one line per claim; the steps may not be enough for the last of many. */
  #warn(session: Session, files: readonly EditedFile[]): void {
    const own = new Set([...session.seats].map(({ row }) => row.member_id));
    const claims = [...session.seats]
      .flatMap(({ row }) => this.#seatClaims(row).claims)
      .filter((claim) => !claim.own && !own.has(claim.member_id));
    for (const [claim, steps] of inEqualParts(claims, STEPS_A_CHECK)) {
      if (session.pendingLines.length >= MAX_WAITING_LINES) return;
      const found: string[] = [];
      for (const file of files) {
        if (steps.left <= 0) break;
        if (file.warned || file.repo !== claim.repo || !covers(claim.paths, file.path, steps)) continue;
        file.warned = true;
        found.push(file.path);
      }
      if (found.length > 0) session.pendingLines.push(claimLine(found, claim));
    }
  }
}

function claimLine(paths: readonly string[], { agent, line, since, board, task }: Claim): string {
  const at = new Date(since).toLocaleTimeString('sv-SE', { hour: '2-digit', minute: '2-digit' });
  const where = `board ${quoted(board)}${task === null ? '' : `, ${quoted(task)}`}`;
  const named = paths.slice(0, NAMED_FILES).map(quoted).join(', ');
  const more = paths.length > NAMED_FILES ? ` and ${paths.length - NAMED_FILES} more of your files` : '';
  const are = paths.length === 1 ? 'is' : 'are';
  return `service: ${named}${more} ${are} in ${quoted(agent)}'s line "${quoted(line)}" since ${at} (${where}). Say on the board what you change.`;
}

/** The nearest enclosing folder with a `.git` entry. */
function repositoryTop(folder: string): string | null {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (dirname(at) === at) return null;
  }
}
