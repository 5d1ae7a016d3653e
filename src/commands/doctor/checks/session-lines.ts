/** Builds the commands that a person types into an agent program's session. */
import type { StatusAnswer } from '../../../daemon/protocol.ts';
import { loadProfiles } from '../../../harness/load.ts';
import type { Profile } from '../../../harness/profile.ts';
import { fillPlaceholders } from '../../../harness/programs.ts';
import { shellWord } from '../../../harness/setup/entries.ts';
import { allSeats, type Seat, selectorOf } from '../../../local/actors.ts';
import type { Around } from '../lib/check.ts';

/** A seat, and the session that holds or held it. */
interface Held {
  member_id?: string | undefined;
  name: string;
  board: string;
  /** `<harness>:<session id>`; null where none is known. */
  session: string | null;
  /** Where that was started: programs find a conversation by it. */
  folder?: string | undefined;
}

export class SessionLines {
  readonly #profiles: readonly Profile[];
  readonly #seats: readonly Seat[];

  private constructor(profiles: readonly Profile[], seats: readonly Seat[]) {
    this.#profiles = profiles;
    this.#seats = seats;
  }

  static async of({ folders, saved }: Around): Promise<SessionLines> {
    return new SessionLines((await loadProfiles(folders.config)).all, saved ? allSeats(saved) : []);
  }

  /** The word by which a command on this machine means this seat only. */
  selector(seat: Omit<Held, 'session' | 'folder'>): string {
    return shellWord(selectorOf(seat, this.#seats));
  }

  /** Opens the session again, which makes it known anew and gives it what waited; else a new one that takes the seat. */
  reopen(held: Held): string {
    return this.#resumed(held, `service inbox --board ${shellWord(held.board)}`);
  }

  /** Opens the session again, which then takes its seat; else a new one that takes it. */
  takeAgain(held: Held): string {
    return this.#resumed(held, `service resume ${this.selector(held)}`);
  }

  /** Whether a program that `service run` starts has the seat: nobody can type into it. */
  isRun({ session }: Pick<Held, 'session'>): boolean {
    const [harness] = parts(session);
    return this.#profiles.find((one) => one.harness === harness)?.identity.kind === 'runner';
  }

  /** A new session that takes the seat; without a program for that, its messages are read here. */
  takeOver(held: Held): string {
    const argv = this.#interactive(parts(held.session)[0])?.start;
    const seat = this.selector(held);
    return argv ? line(argv, { prompt: `Run: service resume ${seat}` }) : `service inbox --as ${seat}`;
  }

  /** The session comes onto the board again, which gives its seat another token. */
  joinAgain({ name, board, session, folder }: Held): string | null {
    const [harness, id] = parts(session);
    const profile = this.#profiles.find((one) => one.harness === harness);
    const ways = [profile?.interactive?.resume, profile?.headless?.resume];
    const argv = ways.find((words) => words?.includes('{prompt}'));
    const prompt = `Run: service join --board ${shellWord(board)} --name ${shellWord(name)}`;
    return argv && id ? `${into(folder)}${line(argv, { session: id, prompt })}` : null;
  }

  #resumed(held: Held, command: string): string {
    const [harness, session] = parts(held.session);
    const argv = this.#interactive(harness)?.resume;
    return argv && session
      ? `${into(held.folder)}${line(argv, { session, prompt: `Run: ${command}` })}`
      : this.takeOver(held);
  }

  #interactive(harness: string | null): Profile['interactive'] {
    return this.#profiles.find((one) => one.harness === harness)?.interactive;
  }
}

function parts(session: string | null): [string | null, string | null] {
  const at = session?.indexOf(':') ?? -1;
  return session && at > 0 ? [session.slice(0, at), session.slice(at + 1)] : [null, null];
}

/** The folder in which a session was started, as far as the daemon knows. */
export const folderOf = (status: StatusAnswer | null, session: string | null): string | undefined =>
  status?.sessions?.find(({ key }) => key === session)?.folder;

const into = (folder: string | undefined): string => (folder === undefined ? '' : `cd ${shellWord(folder)} && `);

const line = (argv: readonly string[], values: Record<string, string>): string =>
  fillPlaceholders(argv, values).map(shellWord).join(' ');
