/** `service status`: what is in use here and why, with the daemon, what was set up, and how the agent is reached. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { modeTexts } from '../../src/contract/waking.ts';
import { startTestServer } from '../support/server.ts';
import { Machine } from './support/machine.ts';

describe('service status', () => {
  let machine: Machine;
  beforeEach(() => {
    machine = new Machine();
  });
  afterEach(() => machine.close());

  it('says that nothing is here, and starts nothing', async () => {
    const status = await machine.json(['status']);
    expect(status).to.deep.include({
      server_running: false,
      daemon: { running: false, pid: null, version: null, problem: null },
      setup: [],
      agent: null,
      delivery: null,
      presence: null,
    });
    expect(machine.serverPid()).to.equal(null);
    const { stdout } = await machine.run(['status']);
    expect(stdout)
      .to.match(/^Daemon +not running$/m)
      .and.match(/^Setup +none$/m);
  });

  it('names no board of a folder that is linked to one of another server', async () => {
    await machine.json(['board', 'create', 'demo']);
    await machine.json(['server', 'stop']);
    const link = (server: string) =>
      writeFileSync(join(machine.work, '.service'), JSON.stringify({ server, board: 'demo' }));
    link('https://team.example.com');
    const elsewhere = await machine.json(['status', '--server', 'local']);
    expect(elsewhere).to.include({ board_source: 'none' }).and.not.have.property('board');
    link('local');
    expect(await machine.json(['status', '--server', 'local'])).to.include({
      board_source: 'project_file',
      board: 'demo',
    });
  });

  it('says which daemon runs, which programs are set up where, and how the agent is reached', async () => {
    await machine.json(['init', '--yes']);
    await machine.json(['init', '--yes', '--scope', 'project', '--harness', 'codex']);
    await machine.json(['board', 'create', 'demo']);
    const { agent } = await machine.json(['agent', 'create', 'reviewer', '--board', 'demo']);
    await machine.json(['agent', 'delivery', 'all', '--as', 'reviewer']);
    const { pid } = await machine.json(['daemon', 'start']);
    const session = { SERVICE_SESSION: 'claude-code:one', SERVICE_BOOT: 'feedfeedfeedfeed', CLAUDECODE: '1' };
    const resumed = await machine.run(['resume', 'reviewer'], { env: session });
    expect(resumed.stdout).to.include(`\nDelivery mode all: ${modeTexts.all}\n`);
    const status = await machine.json(['status'], { env: session });
    expect(status.daemon).to.include({ running: true, pid, problem: null });
    expect(status.setup).to.deep.equal([
      { harness: 'claude-code', scope: 'global' },
      { harness: 'codex', scope: 'global' },
      { harness: 'codex', scope: 'project' },
    ]);
    expect(status).to.include({ agent: 'reviewer', agent_source: 'session', delivery: 'all' });
    expect(['idle', 'working', 'no_session']).to.include(status.presence);
    expect(status).to.not.have.property('subagent');
    expect(status.seats).to.deep.equal([{ agent: 'reviewer', board: 'demo', server: 'local', member_id: agent.id }]);
    const part = { ...session, SERVICE_SUBAGENT: 'a1' };
    expect(await machine.json(['status'], { env: part })).to.include({ subagent: 'a1' });
    const { stdout } = await machine.run(['status'], { env: part });
    expect(stdout)
      .to.match(new RegExp(`^Daemon +running \\(pid ${pid}\\), version \\d`, 'm'))
      .and.match(/^Setup +claude-code \(global\), codex \(global\), codex \(project\)$/m)
      .and.match(/^Agent +reviewer \(from this session\), all, \w+$/m)
      .and.match(/^Subagent +a1$/m);
    expect(stdout.replaceAll(/\s+/g, ' ')).to.include(` Delivery ${modeTexts.all} `);
  });

  it('names the agent that a token is of', async () => {
    await machine.json(['board', 'create', 'demo']);
    const { token } = await machine.json(['agent', 'create', 'ci', '--board', 'demo', '--print-token']);
    const { url } = (await machine.json(['whoami'])).server;
    const env = { SERVICE_TOKEN: token, SERVICE_SERVER: url };
    expect(await machine.json(['status'], { env })).to.include({ agent: 'ci', agent_source: 'token', board: 'demo' });
  });

  it('says why the daemon could not be asked', async () => {
    await machine.json(['daemon', 'start']);
    await machine.shell('chmod 755 "$SERVICE_HOME/state"');
    expect((await machine.json(['status'])).daemon).to.deep.equal({
      running: false,
      pid: null,
      version: null,
      problem: 'socket_unsafe',
    });
    await machine.shell('chmod 700 "$SERVICE_HOME/state"');
  });

  it('says of an agent that was removed, or whose board was deleted, that it has', async () => {
    const { url, dana, stop } = await startTestServer('sqlite');
    await machine.shell(`printf %s '${dana.token}' | service login ${url} --store file`);
    await machine.json(['board', 'create', 'demo', '--no-link']);
    await machine.json(['agent', 'create', 'reviewer', '--board', 'demo']);
    await machine.json(['agent', 'create', 'writer', '--board', 'demo']);
    await dana.ok('removeMember', { params: { board: 'demo', member: 'reviewer' } });
    const removed = await machine.json(['status', '--as', 'reviewer']);
    expect([removed.agent, removed.problem.code]).to.deep.equal(['reviewer', 'agent_removed']);
    // A write drops the token that was refused.
    await machine.run(['say', '--as', 'reviewer', 'Still here?']);
    expect((await machine.json(['status', '--as', 'reviewer'])).problem.code).to.equal('agent_removed');
    await dana.ok('archiveBoard', { params: { board: 'demo' } });
    await dana.ok('deleteBoard', { params: { board: 'demo' } });
    const gone = await machine.json(['status', '--as', 'writer']);
    expect([gone.agent, gone.problem.code]).to.deep.equal(['writer', 'board_not_found']);
    await stop();
  });

  it('names a team’s server that does not answer, or that there is no key for, and says which it is', async () => {
    const { url, dana, stop } = await startTestServer('sqlite');
    await machine.shell(`printf %s '${dana.token}' | service login ${url} --store file`);
    await stop();
    const { server, server_running, problem } = await machine.json(['status', '--timeout', '1']);
    expect([server.url, server_running, problem.code]).to.deep.equal([url, false, 'server_unreachable']);
    await machine.json(['logout', url, '--keep-key']);
    const { stdout } = await machine.run(['status']);
    expect(stdout)
      .to.match(/^Server +\S+ \(http:\S+\)$/m)
      .and.match(/^Problem +There is no key for /m);
  });
});
