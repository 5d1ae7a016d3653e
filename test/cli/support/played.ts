/** A session of an agent's program, played by the hooks that the program runs and the commands that its agent types. */
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { finished, type Home, type Result, until } from './home.ts';

export class PlayedSession {
  readonly #home: Home;
  readonly #id: string;
  /** What the session's commands are given by its program. */
  env: Record<string, string> = {};

  constructor(home: Home, id: string) {
    this.#home = home;
    this.#id = id;
  }

  /** The program starts: its hook registers the session and says who its commands are. */
  async start(): Promise<void> {
    const file = join(this.#home.dir, `env-${this.#id}`);
    await this.hook('session-start', 'SessionStart', { source: 'startup' }, { CLAUDE_ENV_FILE: file });
    const exported = readFileSync(file, 'utf8').matchAll(/export (SERVICE_[A-Z]+)='?([^'\n]+)'?/g);
    this.env = Object.fromEntries([...exported].map(([, name, value]) => [name ?? '', value ?? '']));
  }

  hook(event: string, name: string, input: object = {}, env: Record<string, string> = {}): Promise<Result> {
    return finished(this.begin(event, { hook_event_name: name, ...input }, env));
  }

  /** The agent runs a command. */
  json(args: string[]): ReturnType<Home['json']> {
    return this.#home.json(args, { env: this.env });
  }

  run(args: string[]): Promise<Result> {
    return this.#home.run([...args, '--json'], { env: this.env });
  }

  /** The turn ends and the program waits; `cause` happens then. @returns what the session is woken with, taken in a turn */
  async woken(cause: () => Promise<unknown> = async () => {}): Promise<string> {
    const woken = finished(this.begin('wait', { hook_event_name: 'Stop' }));
    await until('the hook waits', async () => {
      const { sessions } = await this.#home.json(['daemon', 'status']);
      return sessions.some(({ turn }: { turn: string }) => turn !== 'busy');
    });
    await cause();
    const { code, stderr } = await woken;
    if (code !== 2) throw new Error(`the hook ended with ${code}: ${stderr}`);
    await this.hook('prompt', 'UserPromptSubmit', { prompt: stderr });
    const { stdout } = await this.hook('tool', 'PostToolBatch', { tool_name: 'Bash' });
    return stderr + stdout;
  }

  /** A hook that runs on. */
  begin(event: string, input: object, env: Record<string, string> = {}): ChildProcess {
    const child = this.#home.start(['hook', 'claude-code', event], { stdin: 'pipe', env });
    child.stdin?.end(JSON.stringify({ session_id: this.#id, cwd: this.#home.work, ...input }));
    return child;
  }
}
