/** Whoever calls the program by its other name is told commands by that name: in hints of its own and of servers. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readCatalog } from '../../src/cli/help/catalog.ts';
import { Home, root } from './support/home.ts';

const firstWords = Object.values(readCatalog(root).commands).flatMap(({ id, aliases }) =>
  [id, ...aliases].map((name) => name.split(/[: ]/)[0]!),
);
/** The words of a line that is passed on to another machine stay. */
const byFirstName = new RegExp(`(?<![\\w/.@-])(?<!Join )service (?:${firstWords.join('|')})(?![\\w-])[^\\n]*`, 'g');

describe('the program by its other name', () => {
  const home = new Home();
  before(() => home.json(['board', 'create', 'demo']));
  after(() => home.close());

  async function said(args: string[], env: Record<string, string> = {}): Promise<string> {
    const quoted = args.map((word) => `'${word}'`).join(' ');
    const { stdout, stderr } = await home.shell(`board-service ${quoted}`, { env });
    expect(`${stdout}${stderr}`.match(byFirstName), args.join(' ')).to.equal(null);
    return stdout + stderr;
  }
  const both = async (args: string[], env = {}) => [await said(args, env), await said([...args, '--json'], env)];

  it('is named in what this program says', async () => {
    expect(await said(['key', 'create', 'spare'])).to.include('board-service key revoke spare');
    expect(await said(['init'])).to.include('board-service init --harness NAME --yes');
    expect(await said(['doctor'])).to.include('board-service init');
    for (const args of [['board', 'list', '--archived'], ['swarm', 'list'], ['swarm', 'up'], ['file', 'list'], ['x']])
      await both(args);
  });

  it('is named in what a server answers, with its next step', async () => {
    for (const text of await both(['task', 'show', 'DEM-7'])) expect(text).to.include('board-service task list shows');
    await home.json(['agent', 'create', 'codex']);
    const agent = { SERVICE_AGENT: 'codex' };
    await both(['agent', 'create', 'codex']);
    for (const text of await both(['board', 'add', 'nobody'])) expect(text).to.include('board-service people list');
    expect(await said(['invite', 'create'], agent)).to.include('board-service approvals allow');
    expect(await said(['inbox'])).to.include('board-service approval allow');
    await both(['say', 'How is it going?'], agent);
  });

  it('is named in the log of the server by a file that is found from everywhere', async () => {
    expect(await said(['server', 'logs'])).to.include(`Next: ${join(root, 'bin', 'run.js')} board create general`);
  });

  it('is what the agents of a swarm are started by, whose logs name it then', async () => {
    const file = 'board: demo\nagents: [{name: bot, harness: command, launcher: headless, args: [cat]}]\n';
    writeFileSync(join(home.work, 'service.yaml'), file);
    const { agents } = JSON.parse(await said(['swarm', 'show', '--json']));
    expect(agents[0].argv).to.include(join(home.dir, 'bin', 'board-service'));
    rmSync(join(home.work, 'service.yaml'));
  });

  it('is named where a key has ended', async () => {
    const { current_key_id: id } = await home.json(['key', 'list']);
    for (const text of await both(['key', 'revoke', id, '--yes'])) expect(text.length).to.be.above(0);
    for (const text of await both(['whoami'])) expect(text).to.include('board-service server restart');
    for (const text of await both(['status'])) expect(text).to.include('board-service server restart');
    await both(['board', 'list', '--all-servers']);
    expect((await home.shell(`${join(home.dir, 'bin', 'board-service')} server restart`)).code).to.equal(0);
  });
});
