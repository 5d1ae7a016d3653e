/** A machine for the kit: an empty home, the true command line, a true local server and daemon, and stand-ins for programs. */
import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { builtinProfile } from '../builtin.ts';
import type { Profile } from '../profile.ts';
import { placeOf } from '../setup/init.ts';
import { Driver, jsonOf, KitFailure } from './driver.ts';
import { placeProgram, sayVersion } from './fake-programs.ts';

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
  json: Record<string, unknown>;
}

export class KitWorld {
  readonly dir = mkdtempSync(join(tmpdir(), 'service-kit-'));
  readonly profile: Profile;
  readonly env: NodeJS.ProcessEnv;
  /** Where fake programs leave what they are given. */
  readonly folder = join(this.dir, 'fake');
  readonly state = join(this.dir, 's', 'state');
  private readonly program: string[];
  private readonly drivers: Driver[] = [];
  private readonly printed: string[] = [];
  private count = 0;

  /** @param program runtime and entry file of this command line. */
  constructor(profile: Profile, program: string[], version: string) {
    this.profile = profile;
    this.program = program;
    const [bin, home] = [join(this.dir, 'bin'), join(this.dir, 'home')];
    for (const folder of [bin, home, this.folder]) mkdirSync(folder);
    writeFileSync(join(bin, 'service'), `#!/bin/sh\nexec ${program.map((word) => `'${word}'`).join(' ')} "$@"\n`);
    chmodSync(join(bin, 'service'), 0o755);
    if (profile.checks.installed.run[0] !== 'service') placeProgram(bin, this.folder, profile);
    sayVersion(this.folder, version);
    if (!builtinProfile(profile.harness)) this.keepProfile();
    this.env = {
      HOME: home,
      PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`,
      LANG: 'C.UTF-8',
      SHELL: '/bin/sh',
      SERVICE_HOME: join(this.dir, 's'),
      SERVICE_KEYSTORE: 'file',
      SERVICE_KIT_PROGRAM: program.join('\n'),
    };
  }

  /** A profile that is not built in is one of this machine's person. */
  private keepProfile(): void {
    const folder = join(this.dir, 's', 'config', 'harnesses');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, `${this.profile.harness}.json`), JSON.stringify(this.profile));
  }

  sayVersion(version: string): void {
    sayVersion(this.folder, version);
  }

  /** The settings file of this harness, for all sessions. */
  get settings(): string | null {
    const install = this.profile.install.find(({ kind }) => kind === 'hooks');
    const { HOME, ...rest } = this.env;
    const program = { runtime: '', entry: '', folders: { state: this.state } as never, env: { HOME, ...rest } };
    return install ? placeOf({ profile: this.profile, scope: 'global', program, cwd: this.dir }, install) : null;
  }

  /** The command line, in a terminal of the person. */
  async run(args: string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> {
    const [command, ...words] = this.program;
    const ran = await new Promise<Omit<Ran, 'json'>>((resolve) => {
      const child = spawn(command!, [...words, ...args], {
        env: { ...this.env, ...env },
        cwd: this.env['HOME'],
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const out = { stdout: '', stderr: '' };
      for (const name of ['stdout', 'stderr'] as const)
        child[name].on('data', (part: Buffer) => {
          out[name] += part.toString('utf8');
        });
      child.on('close', (code) => resolve({ code, ...out }));
    });
    this.printed.push(ran.stdout, ran.stderr);
    return { ...ran, json: jsonOf(ran.stdout) };
  }

  /** A command that has to succeed, as its JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: records of the API are looked into field by field
  async person(...args: string[]): Promise<any> {
    const { code, json, stdout, stderr } = await this.run([...args, '--json']);
    if (code !== 0) throw new KitFailure(`service ${args.join(' ')} failed: ${stdout}${stderr}`.slice(0, 400));
    return json;
  }

  /** A board with another agent of the person on it. */
  async board(): Promise<{ board: string; peer: string }> {
    const board = `kit-${++this.count}`;
    const peer = `peer-${this.count}`;
    await this.person('board', 'create', board, '--no-link');
    await this.person('agent', 'create', peer, '--board', board);
    return { board, peer };
  }

  /** A harness that runs, as a process of its own. */
  harness(): Driver {
    const [command, ...words] = this.program;
    const settings = this.settings ?? join(this.dir, 'none');
    const args = [
      'harness',
      'fake',
      '--profile',
      this.profile.harness,
      '--settings',
      settings,
      '--folder',
      this.folder,
    ];
    const driver = new Driver([command!, ...words, ...args], this.env, this.env['HOME']!);
    this.drivers.push(driver);
    return driver;
  }

  /** A session with a seat on a new board, idle. */
  async seated(): Promise<Seated> {
    const { board, peer } = await this.board();
    const name = `worker-${this.count}`;
    const session = `kit-session-${this.count}`;
    const driver = this.harness();
    await driver.step({ do: 'start', session });
    await driver.step({ do: 'prompt', text: 'Join the board.' });
    const { code, json } = await driver.service('join', '--board', board, '--name', name);
    if (code !== 0) throw new KitFailure(`the session could not join: ${JSON.stringify(json)}`.slice(0, 400));
    await driver.step({ do: 'end_turn' });
    // A hook that waits is there only when it has started.
    await this.until('an idle session', async () => this.isIdle(session));
    return { board, peer, name, session, driver };
  }

  private async isIdle(session: string): Promise<boolean> {
    const { json } = await this.run(['daemon', 'status', '--json']);
    const sessions = (json['sessions'] ?? []) as { key: string; turn: string }[];
    return sessions.some(({ key, turn }) => key.endsWith(`:${session}`) && turn === 'idle');
  }

  say = (board: string, body: string, ...more: string[]) =>
    this.person('say', body, '-b', board, '--no-notes', ...more);

  /** Messages that the seat has not acknowledged. */
  async unread({ name, board }: Pick<Seated, 'name' | 'board'>): Promise<number> {
    const { messages } = await this.person('inbox', '--peek', '--as', `${name}@${board}`);
    return (messages as unknown[]).length;
  }

  async until(what: string, done: () => Promise<boolean>, ms = 15_000): Promise<void> {
    const end = performance.now() + ms;
    while (!(await done())) {
      if (performance.now() > end) throw new KitFailure(`${what} did not come about`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Everything that was printed, traced or written down outside the files of secrets. */
  everything(): { where: string; text: string }[] {
    const traces = this.drivers.map(({ trace }, n) => ({ where: `trace ${n}`, text: JSON.stringify(trace) }));
    const files = filesUnder(this.state).map((path) => ({ where: path, text: readFileSync(path, 'latin1') }));
    return [{ where: 'output of commands', text: this.printed.join('\n') }, ...traces, ...files];
  }

  async close(): Promise<void> {
    await Promise.all(this.drivers.map((driver) => driver.close()));
    await this.run(['server', 'stop']);
    rmSync(this.dir, { recursive: true, force: true });
  }
}

export interface Seated {
  board: string;
  /** Another agent of the same person. */
  peer: string;
  name: string;
  session: string;
  driver: Driver;
}

function filesUnder(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}
