/** The kit's environment: an empty home, the real command line, server and daemon, and fake programs. */
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
import { runProgram } from '../../src/harness/programs.ts';
import { installPath } from '../../src/harness/setup/init.ts';
import { folders } from '../../src/local/folders.ts';
import { updateCredentials } from '../../src/local/keys/credentials.ts';
import { Driver, jsonOf, KitFailure } from './driver.ts';
import { placeProgram, setVersion } from './fake-programs.ts';
import { FaultProxy } from './fault-proxy.ts';
import { KitDaemon } from './kit-daemon.ts';
import { People } from './people.ts';

const COMMAND_TIMEOUT_MS = 60_000;

export class KitWorld {
  readonly dir = mkdtempSync(join(tmpdir(), 'service-kit-'));
  readonly profile: Profile;
  readonly env: NodeJS.ProcessEnv;
  /** The folder of the fake programs' queue. */
  readonly folder = join(this.dir, 'fake');
  readonly home = join(this.dir, 's');
  readonly state = join(this.home, 'state');
  readonly daemon: KitDaemon;
  private readonly program: string[];
  private readonly drivers: Driver[] = [];
  private readonly printed: string[] = [];
  private server: Promise<{ people: People; proxy: FaultProxy }> | null = null;
  private proxy: FaultProxy | null = null;
  private count = 0;

  /** @param program runtime and entry file of this command line. */
  constructor(profile: Profile, program: string[], version: string) {
    this.profile = profile;
    this.program = program;
    const [bin, home] = [join(this.dir, 'bin'), join(this.dir, 'home')];
    for (const folder of [bin, home, this.folder]) mkdirSync(folder);
    placeService(join(bin, 'service'), program);
    if (profile.checks.installed.run[0] !== 'service') placeProgram(bin, this.folder, profile);
    this.setVersion(version);
    if (!builtinProfile(profile.harness)) this.saveProfile();
    this.env = {
      HOME: home,
      PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`,
      LANG: 'C.UTF-8',
      SHELL: '/bin/sh',
      SERVICE_HOME: this.home,
      SERVICE_KEYSTORE: 'file',
      ...this.shareCompileCache(),
    };
    // A login shell sets its own PATH.
    writeFileSync(join(home, '.profile'), `export PATH='${this.env['PATH']}'\n`);
    const address = () => this.proxy?.url.replace('http://', '') ?? '';
    this.daemon = new KitDaemon({ state: this.state, env: this.env, program, address });
  }

  /** Shares Node's compile cache between all environments of the kit. @returns the variable for programs other than ours */
  private shareCompileCache(): NodeJS.ProcessEnv {
    const used = getCompileCacheDir();
    if (used === undefined) return {};
    mkdirSync(join(this.home, 'cache'), { recursive: true, mode: 0o700 });
    symlinkSync(dirname(used), join(this.home, 'cache', 'compiled'));
    return { NODE_COMPILE_CACHE: dirname(used) };
  }

  /** Saves a custom profile in the person's configuration. */
  private saveProfile(): void {
    const folder = join(this.home, 'config', 'harnesses');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, `${this.profile.harness}.json`), JSON.stringify(this.profile));
  }

  /** Sets the version that the fake program prints. */
  setVersion(version: string): void {
    setVersion(this.folder, version);
  }

  /** The path of an item that the profile installs. @param cwd the project's folder */
  pathOf(install: Profile['install'][number], scope: 'global' | 'project', cwd = this.dir): string {
    const program = { runtime: '', entry: '', folders: { state: this.state } as never, env: this.env };
    return installPath({ profile: this.profile, scope, program, cwd }, install);
  }

  /** The settings file of this harness, for all sessions. */
  get settings(): string | null {
    const install = this.profile.install.find(({ kind }) => kind === 'hooks');
    return install ? this.pathOf(install, 'global') : null;
  }

  /** Runs a command of ours like a person in a terminal. */
  async run(args: string[], { env = {}, cwd = this.env['HOME'] }: { env?: NodeJS.ProcessEnv; cwd?: string } = {}) {
    const [command, ...words] = this.program;
    const options = { env: { ...this.env, ...env }, cwd, ms: COMMAND_TIMEOUT_MS };
    const { code, stdout, stderr } = await runProgram(command!, [...words, ...args], options);
    this.printed.push(stdout, stderr);
    return { code, stdout, stderr, json: jsonOf(stdout) };
  }

  /** Runs a command that must succeed. @returns its JSON output @throws KitFailure */
  // biome-ignore lint/suspicious/noExplicitAny: checks read single fields of the output
  async command(args: string[], options: { cwd?: string } = {}): Promise<any> {
    const { code, json, stdout, stderr } = await this.run([...args, '--json'], options);
    if (code !== 0) throw new KitFailure(`service ${args.join(' ')} failed: ${stdout}${stderr}`.slice(0, 400));
    return json;
  }

  /** Starts the server, and a proxy in front of it for the daemon's test build; only once. */
  startServer(): Promise<{ people: People; proxy: FaultProxy }> {
    this.server ??= this.createServer();
    return this.server;
  }

  private async createServer(): Promise<{ people: People; proxy: FaultProxy }> {
    await this.command(['board', 'create', 'kit', '--no-link']);
    const address = readFileSync(join(this.home, 'data', 'server.addr'), 'utf8').trim();
    this.proxy = await new FaultProxy(`http://${address}`, join(this.home, 'data')).listen();
    // The proxy's address counts as a former address of the server.
    const { url } = this.proxy;
    await updateCredentials(folders(this.env), ({ servers }) => {
      for (const entry of Object.values(servers)) entry.urls = [...(entry.urls ?? []), url];
    });
    return { people: new People(this.home, `http://${address}`), proxy: this.proxy };
  }

  /** A name that is not used yet. */
  uniqueName(word: string): string {
    return `${word}-${++this.count}`;
  }

  /** Starts a fake harness in its own process. */
  startHarness(env: NodeJS.ProcessEnv = {}): Driver {
    const settings = this.settings ?? join(this.dir, 'none');
    const flags = { profile: this.profile.harness, settings, folder: this.folder };
    const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
    const argv = [...this.program, 'harness', 'fake', ...args];
    const driver = new Driver(argv, { ...this.env, ...env }, this.env['HOME']!);
    this.drivers.push(driver);
    return driver;
  }

  /** Waits until `done` returns true. @throws KitFailure after `ms` */
  async until(what: string, done: () => Promise<boolean> | boolean, ms = 15_000): Promise<void> {
    if (!(await this.within(done, ms))) throw new KitFailure(`${what} did not happen within ${ms / 1000} seconds`);
  }

  /** Waits until `done` returns true. @returns false after `ms` */
  async within(done: () => Promise<boolean> | boolean, ms: number): Promise<boolean> {
    const end = performance.now() + ms;
    // Checks often at first, then less often.
    for (let pause = 10; !(await done()); pause = Math.min(100, pause * 1.5)) {
      if (performance.now() > end) return false;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
    return true;
  }

  /** All output, traces and recorded traffic, and all files outside of the folders with secrets. */
  allOutput(): { where: string; text: string }[] {
    const traces = this.drivers.flatMap(({ trace, printed }, n) => [
      { where: `the trace of session ${n}`, text: JSON.stringify(trace) },
      { where: `the output of commands in session ${n}`, text: printed.join('\n') },
    ]);
    const files = filesUnder(this.state).map((path) => ({ where: path, text: readFileSync(path, 'latin1') }));
    return [
      { where: 'the output of commands', text: this.printed.join('\n') },
      { where: 'the control socket', text: this.daemon.frames.join('\n') },
      ...traces,
      ...files,
    ];
  }

  async close(): Promise<void> {
    await Promise.all(this.drivers.map((driver) => driver.close()));
    await this.daemon.kill();
    if (this.server) await this.run(['server', 'stop']);
    await this.proxy?.down();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** Puts our program on PATH: by a link if it runs without options, because then `init` recognises it. */
function placeService(path: string, program: string[]): void {
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
