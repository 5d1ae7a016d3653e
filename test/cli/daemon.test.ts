/** The delivery daemon from the command line, as it is built. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { finished, Home, until } from './support/home.ts';

describe('service daemon', () => {
  let home: Home;
  beforeEach(() => {
    home = new Home();
  });
  afterEach(async () => {
    if (existsSync(home.path('state'))) chmodSync(home.path('state'), 0o700);
    await home.run(['daemon', 'stop']);
    await home.close();
  });

  const findings = async (name: string) => {
    const { stdout } = await home.run(['doctor', '--json']);
    const { checks } = JSON.parse(stdout) as { checks: { name: string; level: string; code: string | null }[] };
    return checks.filter((one) => one.name === name).map(({ level, code }) => [level, code]);
  };

  it('is started once, says what it does, and is stopped', async () => {
    const first = await home.json(['daemon', 'start']);
    expect(first.started).to.equal(true);
    expect(await home.json(['daemon', 'start'])).to.deep.equal({ pid: first.pid, started: false });
    // A second one in the foreground finds it and leaves.
    const second = await home.run(['daemon']);
    expect(second).to.deep.equal({ code: 0, stdout: '', stderr: '' });
    expect(await home.run(['daemon', 'run'])).to.deep.equal({ code: 0, stdout: '', stderr: '' });
    const status = await home.json(['daemon', 'status']);
    expect(status).to.include({ pid: first.pid, protocol: 1, open_sessions: 0 });
    expect(status.servers).to.deep.equal([]);
    const text = await home.run(['daemon', 'status']);
    expect(text.stdout).to.match(/^Daemon {5}\d+\.\d+\.\d+ \(pid \d+\), started just now\n/);
    const exact = await home.run(['daemon', 'status', '--time', 'iso']);
    expect(exact.stdout).to.include(`, started ${status.started_at}\n`);
    const logs = await home.run(['daemon', 'logs', '--limit', '1']);
    expect(JSON.parse(logs.stdout)).to.include({ ev: 'daemon_started', pid: first.pid });
    const again = await home.json(['daemon', 'restart']);
    expect(again.started).to.equal(true);
    expect(again.pid).to.not.equal(first.pid);
    expect(await home.json(['daemon', 'stop'])).to.deep.equal({ stopped: true });
    expect(await home.json(['daemon', 'stop'])).to.deep.equal({ stopped: false });
    const gone = await home.run(['daemon', 'status', '--json']);
    expect(JSON.parse(gone.stdout).error.code).to.equal('daemon_not_running');
    expect(gone.code).to.not.equal(0);
  });

  it('is not started in a sandbox, which would keep it in there, but used from one', async () => {
    const sandboxes = [
      { CODEX_THREAD_ID: 'one', CODEX_SANDBOX: 'seatbelt' },
      { CLAUDECODE: '1', SANDBOX_RUNTIME: '1' },
    ] as Record<string, string>[];
    const verbs = [['start'], ['restart'], ['run'], []];
    for (const env of sandboxes) {
      for (const verb of verbs) {
        const { code, stdout } = await home.run(['daemon', ...verb, '--json'], { env });
        const { error } = JSON.parse(stdout);
        expect([error.code, code], verb.join()).to.deep.equal(['daemon_in_sandbox', 1]);
        expect(error.hint).to.include('service');
      }
      expect(existsSync(join(home.path('state'), 'daemon.sock'))).to.equal(false);
    }
    const { pid } = await home.json(['daemon', 'start']);
    for (const env of sandboxes) {
      expect(await home.json(['daemon', 'start'], { env })).to.include({ pid, started: false });
      expect((await home.run(['daemon', 'restart'], { env })).code).to.equal(1);
    }
    expect(await home.json(['daemon', 'status'])).to.include({ pid });
  });

  it('is named in the result of a command that started it by itself, and only there', async () => {
    await home.json(['board', 'create', 'demo']);
    await home.json(['server', 'stop']);
    const env = { SERVICE_SESSION: 'claude-code:one', SERVICE_BOOT: 'feedfeedfeedfeed', CLAUDECODE: '1' };
    const first = await home.json(['join', '--board', 'demo', '--name', 'codex'], { env });
    expect(first.autostarted).to.deep.equal(['server', 'daemon']);
    const second = await home.json(['boards'], { env });
    expect(second).to.not.have.property('autostarted');
    await home.json(['daemon', 'stop']);
    expect((await home.json(['boards'], { env })).autostarted).to.deep.equal(['daemon']);
    await home.json(['daemon', 'stop']);
    expect(await home.json(['daemon', 'start'])).to.not.have.property('autostarted');
  });

  it('says that a seat has ended, and sends nobody to doctor for it, which finds nothing', async () => {
    await home.json(['board', 'create', 'demo']);
    const env = { SERVICE_SESSION: 'claude-code:one', SERVICE_BOOT: 'feedfeedfeedfeed', CLAUDECODE: '1' };
    await home.json(['join', '--board', 'demo', '--name', 'bot'], { env });
    await home.json(['agent', 'remove', 'bot', '--board', 'demo', '--yes']);
    const ended = async () => (await home.json(['daemon', 'status'])).agents;
    await until('the end of the seat', async () => (await ended()).length > 0);
    expect((await ended())[0].problem).to.equal('agent_removed');
    const { stdout } = await home.run(['daemon', 'status']);
    expect(stdout)
      .to.match(/^Ended {6}bot on demo: the agent was removed$/m)
      .and.not.include('service doctor');
    for (const name of ['seats', 'delivery']) expect(await findings(name), name).to.deep.equal([]);
  });

  it('is not started where others can read the credentials, as a command and a hook say', async () => {
    await home.json(['board', 'create', 'demo']);
    const path = home.path('config', 'credentials.json');
    chmodSync(path, 0o644);
    const { code, stdout } = await home.run(['daemon', 'start', '--json']);
    const { error } = JSON.parse(stdout);
    expect([code === 0, error.code, error.hint]).to.deep.equal([false, 'credentials_unsafe', `chmod 600 '${path}'`]);
    for (const event of ['prompt', 'wait']) {
      const hook = home.start(['hook', 'claude-code', event], { stdin: 'pipe' });
      hook.stdin!.end(JSON.stringify({ session_id: 'one', hook_event_name: 'UserPromptSubmit', prompt: 'hi' }));
      const printed = await finished(hook);
      expect([printed.code, printed.stdout]).to.deep.equal([0, '']);
      expect(printed.stderr, event).to.include(`${path} can be read by others`);
    }
    expect(existsSync(join(home.path('state'), 'daemon.log'))).to.equal(false);
    chmodSync(path, 0o600);
    expect((await home.json(['daemon', 'start'])).started).to.equal(true);
  });

  it('writes why it did not start into its log as JSON, and to the terminal in words', async () => {
    mkdirSync(home.path('state'), { recursive: true, mode: 0o700 });
    const db = new Database(join(home.path('state'), 'delivery.db'));
    db.pragma('user_version = 99');
    db.close();
    const { stdout } = await home.run(['daemon', 'start', '--json']);
    expect(JSON.parse(stdout).error.code).to.equal('daemon_not_running');
    const lines = readFileSync(join(home.path('state'), 'daemon.log'), 'utf8')
      .trim()
      .split('\n');
    expect(lines.map((line) => JSON.parse(line)).map(({ level, ev, code }) => [level, ev, code])).to.deep.equal([
      ['error', 'daemon_stopping', 'data_newer'],
    ]);
    expect((await home.run(['daemon', 'run'])).stderr).to.include('newer');
  });

  it('is stopped together with the local server, or left running', async () => {
    await home.json(['daemon', 'start']);
    await home.json(['server', 'start']);
    const only = await home.json(['server', 'stop', '--server-only']);
    expect(only).to.deep.equal({ server_stopped: true, daemon_stopped: false });
    await home.json(['server', 'start']);
    const both = await home.run(['down']);
    expect(both.stdout).to.equal('Stopped the local server and the daemon.\n');
    await home.json(['daemon', 'start']);
    expect((await home.run(['server', 'stop'])).stdout).to.equal('Stopped the daemon.\n');
    expect((await home.run(['server', 'stop'])).stdout).to.equal('Nothing was running.\n');
  });

  it('that applies another mode than was set is named by doctor', async () => {
    await home.json(['board', 'create', 'demo']);
    await home.json(['agent', 'create', 'codex', '--board', 'demo']);
    expect(await findings('seats')).to.deep.equal([['ok', null]]);
    const saved = JSON.parse(readFileSync(home.path('config', 'credentials.json'), 'utf8')) as {
      servers: Record<string, { seats: Record<string, { token: string }> }>;
    };
    const [[url, { seats }]] = Object.entries(saved.servers) as [
      [string, { seats: Record<string, { token: string }> }],
    ];
    const report = await fetch(`${url}/v1/me/presence`, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${Object.values(seats)[0]!.token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ presence: 'idle', delivery: 'off' }),
    });
    expect(report.status).to.equal(200);
    expect(await findings('seats')).to.deep.equal([['warning', 'delivery_mode_unconfirmed']]);
  });

  it('is looked at by doctor, with its journal', async () => {
    expect(await findings('daemon')).to.deep.equal([['ok', null]]);
    mkdirSync(home.path('state'), { recursive: true, mode: 0o700 });
    writeFileSync(join(home.path('state'), 'installed.json'), '{}', { mode: 0o600 });
    expect(await findings('daemon')).to.deep.equal([['warning', 'daemon_not_running']]);
    await home.json(['daemon', 'start']);
    expect(await findings('daemon')).to.deep.equal([['ok', null]]);
    expect(await findings('journal')).to.deep.equal([['ok', null]]);
    chmodSync(home.path('state'), 0o755);
    expect(await findings('daemon')).to.deep.equal([['error', 'socket_unsafe']]);
    chmodSync(home.path('state'), 0o700);
    await home.json(['daemon', 'stop']);
    const path = join(home.path('state'), 'delivery.db');
    expect(existsSync(path)).to.equal(true);
    const db = new Database(path);
    db.pragma('user_version = 99');
    db.close();
    expect(await findings('journal')).to.deep.equal([['error', 'data_newer']]);
    writeFileSync(path, 'no database '.repeat(1_000));
    expect(await findings('journal')).to.deep.equal([['error', 'journal_unwritable']]);
  });
});
