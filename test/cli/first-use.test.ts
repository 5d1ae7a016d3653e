/** Starting the local server without being asked to. */
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { freePort } from '../support/free-port.ts';
import { Home, until } from './support/home.ts';
import { typed } from './support/terminal.ts';

describe('first use', () => {
  let home: Home;
  beforeEach(() => {
    home = new Home({ bare: true, shared: true });
  });
  afterEach(() => home.close());

  it('starts the server once for two commands at the same time', async () => {
    const results = await Promise.all([
      home.run(['board', 'create', 'one', '--no-link']),
      home.run(['board', 'create', 'two', '--no-link']),
    ]);
    expect(results.map((result) => result.code)).to.deep.equal([0, 0]);
    const started = results.filter((result) => result.stderr.includes('Started the local server'));
    expect(started).to.have.length(1);
    const { boards } = await home.json(['board', 'list']);
    expect(boards.map((board: { name: string }) => board.name)).to.have.members(['one', 'two']);
  });

  it('asks for the name of a board, and makes none where nobody can be asked', async () => {
    for (const args of [
      ['board', 'create'],
      ['board', 'new', '--private'],
    ]) {
      const refused = await home.run([...args, '--json']);
      expect(JSON.parse(refused.stdout).error).to.include({
        code: 'invalid_request',
        message: 'The name of the board is missing.',
        hint: 'service board create work',
      });
      expect(refused.code).to.equal(2);
    }
    expect(home.serverPid()).to.equal(null);
    mkdirSync(join(home.work, 'Kitchen Sink!'));
    const asked: [string, string][] = [['Name of the board', '']];
    const taken = await typed(home, 'cd "Kitchen Sink!" && service board create', asked);
    expect(taken).to.include('(kitchen-sink)').and.to.include('Created board kitchen-sink on ');
    expect(await typed(home, 'service board create', [['Name of the board', 'pantry']])).to.include(
      'Created board pantry',
    );
  });

  it('keeps standard output for the result and reports the start in JSON', async () => {
    const result = await home.run(['board', 'create', 'demo', '--json']);
    expect(result.stderr).to.equal('');
    const record = JSON.parse(result.stdout);
    expect(record.autostarted).to.deep.equal(['server']);
    expect(record.board).to.equal('demo');
  });

  it('makes its folders and files for this person only', async () => {
    await home.json(['board', 'create', 'demo']);
    for (const folder of ['config', 'data', 'state']) expect(statSync(home.path(folder)).mode & 0o777).to.equal(0o700);
    expect(statSync(home.path('config', 'credentials.json')).mode & 0o777).to.equal(0o600);
    expect(statSync(home.path('data', 'local-key')).mode & 0o777).to.equal(0o600);
    expect(JSON.parse(readFileSync(join(home.work, '.service'), 'utf8'))).to.have.keys('server', 'board');
  });

  it('works without SERVICE_HOME, in the folders of the platform', async () => {
    const { SERVICE_HOME: _, ...env } = home.env;
    home.env = { ...env, SERVICE_LOCAL_ADDR: `127.0.0.1:${await freePort()}` };
    const { server } = await home.json(['board', 'create', 'demo']);
    expect(server.url).to.equal(`http://${home.env['SERVICE_LOCAL_ADDR']}`);
    expect(existsSync(join(home.dir, '.local', 'share', 'service', 'server.pid'))).to.equal(true);
    expect((await home.run(['server', 'stop'])).stdout).to.equal('Stopped the local server.\n');
  });

  it('names a foreign program on a port that was chosen', async () => {
    const port = await freePort();
    const foreign = createServer((socket) => socket.on('error', () => {}).end('nothing of ours\r\n'));
    foreign.listen(port, '127.0.0.1');
    await once(foreign, 'listening');
    try {
      const result = await home.run(['board', 'list'], { env: { SERVICE_LOCAL_ADDR: `127.0.0.1:${port}` } });
      expect(result.stderr).to.include('Error (address_in_use)').and.to.include(`127.0.0.1:${port}`);
      expect(result.code).to.equal(1);
    } finally {
      foreign.close();
    }
  });

  it('does not start it when that is not wanted', async () => {
    const result = await home.run(['board', 'list', '--json'], { env: { SERVICE_NO_AUTOSTART: '1' } });
    expect(JSON.parse(result.stdout).error.code).to.equal('server_not_running');
    expect(result.code).to.equal(8);
    expect(home.serverPid()).to.equal(null);
  });

  it('does not start it for a join that does not say where to', async () => {
    const { code, stderr } = await home.run(['join']);
    expect([code, stderr]).to.deep.equal([
      2,
      "Error (invalid_request): What to join is missing.\nHint: service join 'Join service board …', or an open board: service join --board BOARD\n",
    ]);
    expect(home.serverPid()).to.equal(null);
  });

  it('starts it again after it was killed', async () => {
    await home.json(['board', 'create', 'demo']);
    const pid = home.serverPid() as number;
    process.kill(pid, 'SIGKILL');
    await until('the server is gone', () => !running(pid));
    const record = await home.json(['say', 'after the crash']);
    expect(record.autostarted).to.deep.equal(['server']);
    expect(record.message.seq).to.equal(3);
  });

  it('says why it did not start, with the end of its log', async () => {
    await home.json(['board', 'create', 'demo']);
    await home.run(['server', 'stop']);
    await home.shell(`chmod 644 "${home.path('data', 'server-secret')}"`);
    const result = await home.run(['board', 'list']);
    expect(result.code).to.equal(8);
    expect(result.stderr).to.include('Error (server_not_running)').and.to.include('server-secret');
  });
});

function running(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}
