/** Every command against a server that writes hostile text wherever it may: nothing of it acts on a terminal. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { readCatalog } from '../../src/cli/help/catalog.ts';
import { operations } from '../../src/contract/operations.ts';
import { finished, Home, type Result } from './support/home.ts';
import { Answers, actingIn, HostileServer, type Manner, shown, shownInJson } from './support/hostile.ts';
import { root } from './support/root.ts';
import { programs, texts } from './support/stage.ts';

const LANES = 4;
const commands = Object.values(readCatalog(root).commands);

/** These ask no server of others, or only from the session of an agent's program: everything else has to be seen asking. */
const alone = new Set([
  ...['board:unlink', 'completion', 'daemon:logs', 'daemon:restart', 'daemon:run', 'daemon:start', 'daemon:status'],
  ...['daemon:stop', 'harness:fake', 'harness:test', 'help', 'hook', 'init', 'pairing:accept', 'pairing:select', 'run'],
  ...['serve', 'server:logs', 'server:recover-key', 'server:restart', 'server:start', 'server:stop', 'servers:forget'],
  ...['servers:list', 'servers:name', 'servers:use', 'skill', 'storage:check', 'storage:copy', 'storage:migrate'],
  ...['swarm:down', 'swarm:list', 'swarm:ps', 'swarm:show', 'uninstall', 'version'],
]);
/** What names a server has for a shell to complete, is left out where it is no name. */
const silent = new Set(['complete']);
/** On a machine where nobody is signed in. */
const arriving = new Set(['connect', 'machine:request', 'machine:collect']);
/** An answer that it could use would have it start programs. */
const starting = new Set(['swarm:up']);

const refused = { manner: 'refused', last: false } as const;
const manners: { manner: Manner; last: boolean }[] = [
  { manner: 'kept', last: false },
  { manner: 'kept', last: true },
  { manner: 'broken', last: false },
  refused,
];

interface Seen {
  asked: number;
  shown: boolean;
  /** What acts, and by which line it was printed. */
  acting: string[];
}

const seen = new Map<string, Seen>();
const walked = commands.filter(({ id }) => !alone.has(id));
const waiting = [...walked];

describe('a hostile server', function () {
  this.timeout(900_000);

  before(async () => {
    await Promise.all(Array.from({ length: LANES }, walk));
  });

  it('answers as the schemas have it, where it keeps to them', () => {
    for (const [name, { answer }] of Object.entries(operations))
      for (const last of [false, true])
        expect(answer.safeParse(new Answers('kept', last).of(answer)).error?.issues, name).to.equal(undefined);
  });

  for (const { id } of walked)
    it(`does nothing to a terminal by ${id.replaceAll(':', ' ')}`, () => {
      const { asked, shown: visible, acting } = seen.get(id)!;
      expect(acting).to.deep.equal([]);
      expect(asked, 'requests').to.be.above(0);
      expect(visible, 'what the server wrote is shown').to.equal(!silent.has(id));
    });
});

async function walk(): Promise<void> {
  const server = await HostileServer.start();
  const home = new Home();
  furnish(home);
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const { id, examples = [] } = next;
    const found: Seen = { asked: 0, shown: false, acting: [] };
    seen.set(id, found);
    for (const [n, example] of examples.entries())
      for (const how of mannersOf(id, n)) {
        settle(home, server, arriving.has(id));
        Object.assign(server, how, { asked: [] });
        const said = await play(home, lineFor(example, server));
        found.asked += server.asked.length;
        found.shown ||= said.includes(shown) || said.includes(shownInJson);
        const acting = actingIn(said);
        if (acting) found.acting.push(`${example} (${how.manner}, ${how.last ? 'last' : 'first'}): ${acting}`);
      }
  }
  home.discard();
  server.stop();
}

/** Further examples differ in what they print, and little in how they fail. */
function mannersOf(id: string, n: number): typeof manners {
  if (starting.has(id)) return [refused];
  return n === 0 || arriving.has(id) ? manners : [manners[n % 2]!];
}

/** What waits does not wait long; what goes into a pipe or a file as it is goes to the terminal. */
function lineFor(example: string, { url }: HostileServer): string {
  return example
    .replace(/ \| .*$| > \S+$/, '')
    .replace(/^.* \| /, '')
    .replace(/(?<=--wait |inbox wait )\d+/, '1')
    .replace(/https:\/\/(team|gone)\.example\.com/, url)
    .replace(/^(service (?:connect|invite preview) -)$/, '$1 < invite.txt')
    .replace('service pair', 'service pair --new')
    .replace('pair --newing', 'pairing')
    .replace(/^service machine collect.*$/, `service machine request ${url} --handle maya --detach; $&`);
}

/** Everything that is printed, in colour: with its question, and with a yes to it. */
async function play(home: Home, line: string): Promise<string> {
  const { stdout, stderr } = await run(home, line);
  const said = `${stdout}${stderr}`;
  return said.includes('confirmation_required')
    ? `${said}${await play(home, line.replace(/$| < /, ' --yes$&'))}`
    : said;
}

/** Data and JSON are made harmless for a terminal only. */
async function run(home: Home, line: string): Promise<Result> {
  const terminal = / (--json|--ndjson|-)(?= |$)|openapi/.test(line) && !line.includes('<');
  const typed = terminal ? `script -qec '${line.replaceAll("'", "'\\''")}' /dev/null` : line;
  const env = { FORCE_COLOR: '1', SERVICE_NO_INPUT: '1' };
  if (!terminal && !line.includes('; service')) return home.shell(line, { env });
  const child = home.startShell(typed, { group: true, env });
  const late = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), 60_000);
  const result = await finished(child).finally(() => clearTimeout(late));
  if (result.code === null) throw new Error(`not in time: ${line}`);
  return { ...result, stdout: terminal ? result.stdout.replaceAll('\r\n', '\n') : result.stdout };
}

const token = (prefix: string) => `${prefix}${'A'.repeat(43)}`;

/** As signing in, making seats and linking the folder would leave it. */
function settle(home: Home, server: HostileServer, signedOut: boolean): void {
  const key = { id: 'key_1', name: 'local-key', expires_at: null, store: 'file', token: token('abh_') };
  const seat = { board_id: 'brd_1', board: 'general', role: 'member', harness: null, session: null, created_at: '' };
  const names = ['codex', 'claude', 'triage'];
  const seats = Object.fromEntries(names.map((name, n) => [`mem_${n}`, { ...seat, name, token: token('aba_') }]));
  const person = { id: `hum_${'0'.repeat(25)}1`, handle: 'general' };
  const entry = { server_id: server.serverId, name: 'team', mode: 'team', person, key, seats };
  const servers = signedOut ? {} : { [server.url]: entry };
  const saved = { v: 1, default: signedOut ? null : server.url, servers };
  put(home.path('config', 'credentials.json'), JSON.stringify(saved));
  put(join(home.work, '.service'), JSON.stringify({ server: server.url, board: 'general' }));
  rmSync(join(home.work, 'general.ndjson'), { force: true });
  put(join(home.work, 'invite.txt'), `${server.url}/join#${token('abi_')}\n`);
}

function furnish(home: Home): void {
  const git = (...words: string[]) => execFileSync('git', words, { cwd: home.work });
  git('init', '-q');
  git('remote', 'add', 'origin', 'https://git.example.com/acme/api.git');
  for (const [name, text] of Object.entries(texts)) put(join(home.work, name), text);
  put(join(home.work, 'key.txt'), `${token('abh_')}\n`);
  const swarm = 'board: payments\nagents:\n  - name: triage\n    harness: command\n    args: ["true"]\n';
  for (const name of ['service.yaml', 'team/service.yaml']) put(join(home.work, name), swarm);
  for (const [name, script] of Object.entries(programs)) home.program(name, script);
  home.env = { ...home.env, VISUAL: 'vi', BROWSER: 'browser', SERVICE_KEYSTORE: 'file', SERVICE_NO_AUTOSTART: '1' };
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, text, { mode: 0o600 });
}
