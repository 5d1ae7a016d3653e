/** A world in which every example of the help means something: a server with people, agents, boards, tasks and files, and a home that is signed in. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Api } from '../../support/api.ts';
import { type Agent, newAgent, post } from '../../support/cast.ts';
import { copyFolder } from '../../support/copy-folder.ts';
import { put } from '../../support/files.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { Home } from './home.ts';

const MESSAGES = 30;
const TASKS = 17;

/** Programs that examples use beside this one. */
export const programs: Record<string, string> = {
  npm: 'echo "12 passing"',
  make: 'echo "# The report"',
  jq: 'cat >/dev/null',
  source: 'cat >/dev/null',
  vi: 'echo "one more line" >>"$1"',
  browser: 'exit 0',
};

/** Files of the folder that examples are typed in. */
export const texts: Record<string, string> = {
  'charter.md': 'Be kind.\n',
  'reviewer.md': 'Read everything.\n',
  'notes.md': '# Notes\n',
  'state.md': 'Half done.\n',
  'about.md': 'Retries pile up.\n',
  'brief.html': '<h1>Where we are</h1>\n',
  'out/report.md': '# Report\n',
};

type Seats = Record<'codex' | 'claude', Agent>;

/** A world at rest, and who is in it: made once, since making it takes much longer than copying it. */
interface Seeded {
  folder: string;
  maya: Api;
  sam: Api;
  agents: Seats;
}

let seeded: Promise<Seeded> | null = null;

export class Stage {
  readonly server: TestServer;
  readonly home = new Home();
  readonly maya: Api;
  readonly sam: Api;
  readonly agents: Seats;
  /** What `credentials.json` holds at first. */
  #saved = '';

  private constructor(server: TestServer, { maya, sam, agents }: Seeded) {
    const here = ({ token, personId }: Api) => new Api(server.url, token, personId);
    const seat = (agent: Agent): Agent => Object.assign(here(agent), { memberId: agent.memberId, name: agent.name });
    this.server = server;
    this.maya = here(maya);
    this.sam = here(sam);
    this.agents = { codex: seat(agents.codex), claude: seat(agents.claude) };
  }

  static async set(): Promise<Stage> {
    seeded ??= seed();
    const world = await seeded;
    const stage = new Stage(await startTestServer('sqlite', { like: world.folder }), world);
    await stage.#furnish();
    return stage;
  }

  /** Removes what every world is a copy of. */
  static async clear(): Promise<void> {
    if (seeded) rmSync((await seeded).folder, { recursive: true, force: true });
    seeded = null;
  }

  /** Whose home it is. */
  get dana(): Api {
    return this.server.dana;
  }

  async strike(): Promise<void> {
    this.home.discard();
    await this.server.stop();
  }

  /** Puts a file into the folder that examples are typed in. */
  write(name: string, text: string): void {
    const path = join(this.home.work, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  /** Links the folder to the board that examples without one are about. */
  link(): void {
    this.write('.service', JSON.stringify({ server: this.server.url, board: 'general' }));
  }

  /** Signs the home in to the server, or leaves it with nothing. */
  sign(how: 'in' | 'out'): void {
    mkdirSync(this.home.path('config'), { recursive: true, mode: 0o700 });
    const text = how === 'in' ? this.#saved : JSON.stringify({ v: 1, default: null, servers: {} });
    writeFileSync(this.home.path('config', 'credentials.json'), text, { mode: 0o600 });
  }

  /** As signing in and making seats here would leave the home. */
  async #furnish(): Promise<void> {
    const { home, dana, server } = this;
    const { server_id } = await dana.ok('getInfo');
    const { id, name: handle } = await dana.ok('getMe');
    const { current_key_id } = await dana.ok('listKeys');
    const key = { id: current_key_id, name: 'local-key', expires_at: null, store: 'file', token: dana.token };
    const seat = { board_id: '', board: 'general', role: 'member', harness: null, session: null, created_at: '' };
    const seats = Object.fromEntries(
      Object.values(this.agents).map(({ memberId, name, token }) => [memberId, { ...seat, name, token }]),
    );
    const entry = { server_id, name: 'team', mode: 'team', person: { id, handle }, key, seats };
    this.#saved = JSON.stringify({ v: 1, default: server.url, servers: { [server.url]: entry } });
    this.sign('in');
    this.link();
    this.write('key.txt', `${dana.token}\n`);
    for (const [name, text] of Object.entries(texts)) this.write(name, text);
    for (const [name, script] of Object.entries(programs)) home.program(name, script);
    home.env = { ...home.env, VISUAL: 'vi', BROWSER: 'browser', SERVICE_KEYSTORE: 'file', SERVICE_NO_AUTOSTART: '1' };
  }
}

async function seed(): Promise<Seeded> {
  const server = await startTestServer('sqlite');
  const [maya, sam] = [await server.person('maya'), await server.person('sam')];
  const { dana } = server;
  const board = 'general';
  for (const name of [board, 'payments', 'checkout']) await dana.ok('createBoard', { body: { name } });
  await dana.ok('createBoard', { body: { name: 'review', template: 'writer-reviewer' } });
  await maya.ok('createBoard', { body: { name: 'open-house' } });
  await dana.ok('updateBoard', { params: { board }, body: { task_prefix: 'CHK' } });
  for (const name of [board, 'payments'])
    for (const handle of ['maya', 'sam'])
      await dana.ok('addBoardPerson', { params: { board: name }, body: { handle } });
  await dana.ok('makeBoardOwner', { params: { board: 'payments' }, body: { handle: 'sam' } });
  const agents = {
    codex: await newAgent(dana, board, { name: 'codex' }),
    claude: await newAgent(dana, board, { name: 'claude' }),
  };
  for (const name of ['codex', 'claude', 'writer']) await newAgent(dana, 'payments', { name });
  const roles = { member: { can: ['post'] }, reviewer: { can: ['post'] } };
  await dana.ok('updateBoard', { params: { board: 'payments' }, body: { roles } });
  for (let n = 0; n < MESSAGES; n++) await post(dana, board, `message ${n}`);
  for (let n = 1; n <= TASKS; n++) await dana.ok('createTask', { params: { board }, body: { title: `Task ${n}` } });
  for (const name of ['notes/api.md', 'plan.md', 'report.md', 'status.md', 'notes/old.md'])
    for (let base = 0; base < 5; base++) await put(dana, board, name, `line ${base}\n`, base === 0 ? {} : { base });
  await server.close();
  const folder = mkdtempSync(join(tmpdir(), 'board-cli-seeded-'));
  copyFolder(server.dataDir, folder);
  await server.restart();
  await server.stop();
  return { folder, maya, sam, agents };
}
