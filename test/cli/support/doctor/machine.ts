/** A machine whose agent programs can be broken and mended, and what `service doctor` says of it. */
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { Machine } from '../machine.ts';

export interface Finding {
  name: string;
  level: 'ok' | 'note' | 'warning' | 'error';
  code: string | null;
  message: string;
  fix: string | null;
}

/** What is not well; a note says of nothing that it has to be mended. */
export const isWrong = ({ code, level }: Finding): boolean => code !== null && level !== 'note';

/** What is asked of it most often needs no runtime. */
const program = `name=\${0##*/}
case "$1 $2" in
  '--version ') cat "$HOME/agents/$name.version" 2>/dev/null || exit 3 ;;
  'queue --help')
    if [ -e "$HOME/agents/$name.queueless" ]; then echo 'Usage: codex [PROMPT]'
    else echo 'Usage: codex queue --thread T --message M'; fi ;;
  *) exec node '${fileURLToPath(new URL('fake-agent.mjs', import.meta.url))}' "$name" "$@" ;;
esac`;
const versions: Record<string, string> = {
  claude: '2.1.197 (Claude Code)',
  codex: 'codex-cli 0.169.0',
  omp: 'omp/18.5.1',
};

export class DoctorMachine extends Machine {
  constructor() {
    super({});
    mkdirSync(this.at('agents'));
    this.program('fake-agent', program);
    for (const name of Object.keys(versions)) this.install(name);
    // As npm would: puts the program of a package where programs are.
    const places = {
      '@anthropic-ai/claude-code': 'claude',
      '@openai/codex': 'codex',
      '@oh-my-pi/pi-coding-agent': 'omp',
    };
    const cases = Object.entries(places).map(
      ([name, bin]) => `${name}) cp "$HOME/bin/fake-agent" "$HOME/bin/${bin}" ;;`,
    );
    this.program('npm', `case "$3" in ${cases.join(' ')} board-service) touch "$HOME/updated" ;; *) exit 1 ;; esac`);
    this.env.SHELL = '/bin/sh';
    this.put('.profile', `PATH=${this.at('bin')}:$PATH\n`);
  }

  install(name: string): void {
    copyFileSync(this.at('bin', 'fake-agent'), this.at('bin', name));
    this.says(name, versions[name]!);
  }

  remove(name: string): void {
    rmSync(this.at('bin', name), { force: true });
  }

  /** What a program says its version is; null: nothing. */
  says(name: string, version: string | null): void {
    const path = this.at('agents', `${name}.version`);
    if (version === null) rmSync(path);
    else writeFileSync(path, version);
  }

  /** Has a program do something wrong, such as `queueless`. */
  mark(what: string, text = ''): void {
    writeFileSync(this.at('agents', what), text);
  }

  edit(path: string, change: (text: string) => string): void {
    const text = this.text(path);
    const changed = change(text);
    expect(changed).to.not.equal(text);
    writeFileSync(this.at(path), changed);
  }

  /** The same text in place of another, and in what was noted, as an earlier version of this program left it. */
  asEarlier(path: string, kind: string, text: string): void {
    writeFileSync(this.at(path), text);
    this.edit('store/state/installed.json', (all) => {
      const installed = JSON.parse(all);
      const item = installed.items.find(
        (one: { path: string; kind: string }) => one.path === this.at(path) && one.kind === kind,
      );
      item.sha256 = createHash('sha256').update(text).digest('hex');
      return JSON.stringify(installed);
    });
  }

  /** What is found, of the daemon and the agent programs or of everything; the exit code has to fit it. */
  async doctor(args: string[] = [], env: Record<string, string> = {}): Promise<Finding[]> {
    const { code, stdout, stderr } = await this.run(['doctor', '--json', ...args], { env });
    if (code !== 0 && code !== 3) throw new Error(stdout + stderr);
    const { checks } = JSON.parse(stdout) as { checks: Finding[] };
    expect(code).to.equal(checks.some(({ level }) => level === 'error') ? 3 : 0);
    return checks;
  }

  /** The one finding with this code, which has to be there at this level. */
  async names(
    code: string,
    level: Finding['level'],
    env: Record<string, string> = {},
  ): Promise<Finding & { fix: string }> {
    const found = await this.doctor([], env);
    const named = found.find((finding) => finding.code === code);
    if (!named) throw new Error(`no ${code} in ${JSON.stringify(found.filter((one) => one.code !== null))}`);
    expect(named.level, named.message).to.equal(level);
    if (named.fix === null) throw new Error(`${code} has no line that mends it`);
    return named as Finding & { fix: string };
  }

  /** Codes of what is not well. */
  async codes(env: Record<string, string> = {}): Promise<string[]> {
    return (await this.doctor([], env)).filter(isWrong).map(({ code }) => code!);
  }

  /** Runs what doctor printed, as its person would paste it into a shell. */
  async mend(line: string, env: Record<string, string> = {}): Promise<void> {
    const { code, stdout, stderr } = await this.shell(line, { env });
    if (code !== 0) throw new Error(`${line}: exit ${code} ${stdout}${stderr}`);
  }

  has(path: string): boolean {
    return existsSync(this.at(path));
  }
}
