/** The kit's environment: an empty home, the real command line, server and daemon, and fake programs. */
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
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { builtinProfile } from '../../src/harness/builtin.ts';
import type { Profile } from '../../src/harness/profile.ts';
import { installPath } from '../../src/harness/setup/init.ts';
import { folders } from '../../src/local/folders.ts';
import { updateCredentials } from '../../src/local/keys/credentials.ts';
import { Driver, jsonOf, KitFailure } from './driver.ts';
import { placeProgram, sayVersion } from './fake-programs.ts';
import { FaultProxy } from './fault-proxy.ts';
import { KitDaemon } from './kit-daemon.ts';
import { People } from './people.ts';

interface Ran {
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
  readonly home = join(this.dir, 's');
  readonly state = join(this.home, 'state');
  readonly daemon: KitDaemon;
  private readonly program: string[];
  private readonly drivers: Driver[] = [];
  private readonly printed: string[] = [];
  private serving: Promise<{ people: People; proxy: FaultProxy }> | null = null;
  private proxy: FaultProxy | null = null;
  private count = 0;

  /** @param program runtime and entry file of this command line. */
  constructor(profile: Profile, program: string[], version: string) {
    this.profile = profile;
    this.program = program;
    const [bin, home] = [join(this.dir, 'bin'), join(this.dir, 'home')];
    for (const folder of [bin, home, this.folder]) mkdirSync(folder);
    placeOurs(join(bin, 'service'), program);
    if (profile.checks.installed.run[0] !== 'service') placeProgram(bin, this.folder, profile);
    sayVersion(this.folder, version);
    if (!builtinProfile(profile.harness)) this.keepProfile();
    this.env = {
      HOME: home,
      PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`,
      LANG: 'C.UTF-8',
      SHELL: '/bin/sh',
      SERVICE_HOME: this.home,
      SERVICE_KEYSTORE: 'file',
      ...this.shareCompiled(),
    };
    // A login shell begins with the path of the system.
    writeFileSync(join(home, '.profile'), `export PATH='${this.env['PATH']}'\n`);
    const address = () => this.proxy?.url.replace('http://', '') ?? '';
    this.daemon = new KitDaemon({ state: this.state, env: this.env, program, address });
  }

  /** What one machine of the kit compiled, the others need not. @returns the variable for what runs without the command line */
  private shareCompiled(): NodeJS.ProcessEnv {
    const used = getCompileCacheDir();
    if (used === undefined) return {};
    mkdirSync(join(this.home, 'cache'), { recursive: true, mode: 0o700 });
    symlinkSync(dirname(used), join(this.home, 'cache', 'compiled'));
    return { NODE_COMPILE_CACHE: dirname(used) };
  }

  /** A profile that is not built in is one of this machine's person. */
  private keepProfile(): void {
    const folder = join(this.home, 'config', 'harnesses');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, `${this.profile.harness}.json`), JSON.stringify(this.profile));
  }

  sayVersion(version: string): void {
    sayVersion(this.folder, version);
  }

  /** Where an item of the profile stands. @param cwd the project's folder */
  placeOf(install: Profile['install'][number], scope: 'global' | 'project', cwd = this.dir): string {
    const program = { runtime: '', entry: '', folders: { state: this.state } as never, env: this.env };
    return installPath({ profile: this.profile, scope, program, cwd }, install);
  }

  /** The settings file of this harness, for all sessions. */
  get settings(): string | null {
    const install = this.profile.install.find(({ kind }) => kind === 'hooks');
    return install ? this.placeOf(install, 'global') : null;
  }

  /** The command line, in a terminal of the person. */
  async run(args: string[], { env = {}, cwd }: { env?: NodeJS.ProcessEnv; cwd?: string } = {}): Promise<Ran> {
    const [command, ...words] = this.program;
    const ran = await new Promise<Omit<Ran, 'json'>>((resolve) => {
      const child = spawn(command!, [...words, ...args], {
        env: { ...this.env, ...env },
        cwd: cwd ?? this.env['HOME'],
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
  // biome-ignore lint/suspicious/noExplicitAny: records of commands are looked into field by field
  async command(args: string[], options: { cwd?: string } = {}): Promise<any> {
    const { code, json, stdout, stderr } = await this.run([...args, '--json'], options);
    if (code !== 0) throw new KitFailure(`service ${args.join(' ')} failed: ${stdout}${stderr}`.slice(0, 400));
    return json;
  }

  /** The server, which the first command of its person starts, and a proxy in front of it for the daemon's test build. */
  async served(): Promise<{ people: People; proxy: FaultProxy }> {
    this.serving ??= this.serve();
    return this.serving;
  }

  private async serve(): Promise<{ people: People; proxy: FaultProxy }> {
    await this.command(['board', 'create', 'kit', '--no-link']);
    const address = readFileSync(join(this.home, 'data', 'server.addr'), 'utf8').trim();
    this.proxy = await new FaultProxy(`http://${address}`, join(this.home, 'data')).listen();
    // The same server by another address, as after a change of its port.
    const { url } = this.proxy;
    await updateCredentials(folders(this.env), ({ servers }) => {
      for (const entry of Object.values(servers)) entry.urls = [...(entry.urls ?? []), url];
    });
    return { people: new People(this.home, `http://${address}`), proxy: this.proxy };
  }

  /** A name that nothing else here has. */
  fresh(word: string): string {
    return `${word}-${++this.count}`;
  }

  /** A harness that runs, as a process of its own. */
  harness(env: NodeJS.ProcessEnv = {}): Driver {
    const settings = this.settings ?? join(this.dir, 'none');
    const flags = { profile: this.profile.harness, settings, folder: this.folder };
    const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
    const argv = [...this.program, 'harness', 'fake', ...args];
    const driver = new Driver(argv, { ...this.env, ...env }, this.env['HOME']!);
    this.drivers.push(driver);
    return driver;
  }

  async until(what: string, done: () => Promise<boolean> | boolean, ms = 15_000): Promise<void> {
    if (!(await this.within(done, ms))) throw new KitFailure(`${what} did not come about`);
  }

  /** Whether it comes about within this time. */
  async within(done: () => Promise<boolean> | boolean, ms: number): Promise<boolean> {
    const end = performance.now() + ms;
    // Looked for often at first, and then as if it would take longer.
    for (let pause = 10; !(await done()); pause = Math.min(100, pause * 1.5)) {
      if (performance.now() > end) return false;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
    return true;
  }

  /** Everything that was printed, traced, said on sockets or written down outside the files of secrets. */
  everything(): { where: string; text: string }[] {
    const traces = this.drivers.flatMap(({ trace, printed }, n) => [
      { where: `what reached session ${n}`, text: JSON.stringify(trace) },
      { where: `output of commands in session ${n}`, text: printed.join('\n') },
    ]);
    const files = filesUnder(this.state).map((path) => ({ where: path, text: readFileSync(path, 'latin1') }));
    return [
      { where: 'output of commands', text: this.printed.join('\n') },
      { where: 'the control socket', text: this.daemon.frames.join('\n') },
      ...traces,
      ...files,
    ];
  }

  async close(): Promise<void> {
    await Promise.all(this.drivers.map((driver) => driver.close()));
    await this.daemon.close();
    if (this.serving) await this.run(['server', 'stop']);
    await this.proxy?.down();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** Our program on PATH: by a link where it runs as it is, which is what makes it ours to `init`. */
function placeOurs(path: string, program: string[]): void {
  if (program.length === 2) {
    symlinkSync(program[1]!, path);
    return;
  }
  writeFileSync(path, `#!/bin/sh\nexec ${program.map((word) => `'${word}'`).join(' ')} "$@"\n`);
  chmodSync(path, 0o755);
}

function filesUnder(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}
