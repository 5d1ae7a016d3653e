/** Builds the commands that a person types into an agent program's session. */
import { loadProfiles } from '../../../harness/load.ts';
import type { Profile } from '../../../harness/profile.ts';
import { fillPlaceholders } from '../../../harness/programs.ts';
import { shellWord } from '../../../harness/setup/entries.ts';

/** A seat, and the session that holds or held it. */
interface Held {
  name: string;
  board: string;
  /** `<harness>:<session id>`; null where none is known. */
  session: string | null;
}

export class SessionLines {
  readonly #profiles: readonly Profile[];

  private constructor(profiles: readonly Profile[]) {
    this.#profiles = profiles;
  }

  static async of(config: string): Promise<SessionLines> {
    return new SessionLines((await loadProfiles(config)).all);
  }

  /** Opens the session again, which makes it known anew and gives it what waited; else a new one that takes the seat. */
  reopen(held: Held): string {
    const [harness, session] = parts(held.session);
    const argv = this.#interactive(harness)?.resume;
    const prompt = `Run: service inbox --board ${shellWord(held.board)}`;
    return argv && session ? line(argv, { session, prompt }) : this.takeOver(held);
  }

  /** A new session that takes the seat; without a program for that, its messages are read here. */
  takeOver({ name, board, session }: Held): string {
    const argv = this.#interactive(parts(session)[0])?.start;
    const prompt = `Run: service resume ${shellWord(`${name}@${board}`)}`;
    return argv ? line(argv, { prompt }) : `service inbox --as ${shellWord(`${name}@${board}`)}`;
  }

  /** The session comes onto the board again, which gives its seat another token. */
  joinAgain({ name, board, session }: Held): string | null {
    const [harness, id] = parts(session);
    const profile = this.#profiles.find((one) => one.harness === harness);
    const argv = profile?.headless?.resume;
    const prompt = `Run: service join --board ${shellWord(board)} --name ${shellWord(name)}`;
    return argv && id ? line(argv, { session: id, prompt }) : null;
  }

  #interactive(harness: string | null): Profile['interactive'] {
    return this.#profiles.find((one) => one.harness === harness)?.interactive;
  }
}

function parts(session: string | null): [string | null, string | null] {
  const at = session?.indexOf(':') ?? -1;
  return session && at > 0 ? [session.slice(0, at), session.slice(at + 1)] : [null, null];
}

const line = (argv: readonly string[], values: Record<string, string>): string =>
  fillPlaceholders(argv, values).map(shellWord).join(' ');
