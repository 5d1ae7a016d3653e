/** Rows of the contract's table of failures that are about the program as it is installed: real hooks, disks and limits. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { daemonPaths } from '../../src/daemon/paths.ts';
import { folders } from '../../src/local/folders.ts';
import { FakeHarness } from '../daemon/support/harness.ts';
import { asked } from '../daemon/support/line.ts';
import { DaemonProcess } from '../daemon/support/process.ts';
import type { Machine } from '../daemon/world.ts';
import { SmallDisk } from '../faults/small-disk.ts';
import { finished, Home, root, until } from './support/home.ts';
import { PlayedSession } from './support/played.ts';

describe('the installed program, where the machine fails', () => {
  let home: Home;
  const running: DaemonProcess[] = [];
  beforeEach(async () => {
    home = new Home();
    await home.serve();
    await home.json(['board', 'create', 'demo']);
  });
  afterEach(async () => {
    for (const daemon of running.splice(0)) await daemon.kill();
    await home.run(['daemon', 'stop']);
    await home.close();
  });

  const paths = () => daemonPaths(folders({ SERVICE_HOME: home.store }));
  /** A daemon of another build on this home's files. */
  const another = async (version: string): Promise<DaemonProcess> => {
    const machine = { home: home.store, folders: folders({ SERVICE_HOME: home.store }) };
    const daemon = await DaemonProcess.start({
      ...machine,
      env: { SERVICE_TEST_BUILD: version },
    } as unknown as Machine);
    running.push(daemon);
    return daemon;
  };
  const hookInput = (id: string, more: object = {}) => JSON.stringify({ session_id: id, cwd: home.work, ...more });
  const startHook = (id: string) => {
    const child = home.start(['hook', 'claude-code', 'session-start'], { stdin: 'pipe' });
    child.stdin!.end(hookInput(id, { hook_event_name: 'SessionStart', source: 'startup' }));
    return finished(child);
  };
  const starts = () =>
    readFileSync(paths().log, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"daemon_started"')).length;

  it('daemon older than client: ten real hooks at once replace it exactly once, and no waiting session loses its place', async () => {
    const old = await another('0.0.1');
    const url = (await home.json(['whoami'])).server.url;
    // Ten sessions wait at the older one, each with a seat of its own.
    const harnesses = await Promise.all(
      Array.from({ length: 10 }, async (_, n) => {
        await home.json(['agent', 'create', `agent-${n}`, '--board', 'demo']);
        // None names its process, because a new session ends the others of its own.
        const header = { session: `waits-${n}`, boot: n.toString(16).padStart(16, '0'), process: undefined };
        const harness = new FakeHarness(paths().socket, { header });
        await harness.register();
        await harness.ask('bind', { agent: { server: url, board: 'demo', name: `agent-${n}` } });
        harness.start();
        return harness;
      }),
    );
    const turns = async () =>
      (
        (await asked(paths().socket, { op: 'status' })) as { sessions: { key: string; turn: string }[] }
      ).sessions.filter(({ key, turn }) => key.includes('waits-') && turn === 'idle').length;
    await until('all of them wait', async () => (await turns()) === 10);
    expect(starts()).to.equal(1);
    const outcomes = await Promise.all(Array.from({ length: 10 }, (_, n) => startHook(`new-${n}`)));
    expect(outcomes.map(({ code }) => code)).to.deep.equal(Array(10).fill(0));
    expect(outcomes.map(({ stderr }) => stderr).join('')).to.equal('');
    expect(await old.ended()).to.equal(0);
    expect(starts()).to.equal(2);
    const { pid, build } = await home.json(['daemon', 'status']);
    expect(pid).to.not.equal(old.child.pid);
    expect(build.version).to.not.equal('0.0.1');
    await until('all of them wait again', async () => (await turns()) === 10);
    for (let n = 0; n < 10; n++)
      await home.json(['board', 'post', `for number ${n}.`, '--board', 'demo', '--to', `@agent-${n}`]);
    for (const [n, harness] of harnesses.entries()) {
      await until(`number ${n} is woken`, () => harness.times(`for number ${n}.`) > 0);
      expect(harness.times(`for number ${n}.`)).to.equal(1);
    }
    // The same at the younger one: nobody replaces it any more.
    await Promise.all(Array.from({ length: 10 }, (_, n) => startHook(`later-${n}`)));
    expect(starts()).to.equal(2);
    for (const harness of harnesses) await harness.stop();
  });

  it('daemon newer than client: it is used as it is, and a mismatch of protocols names both', async () => {
    const newer = await another('99.0.0');
    expect(await startHook('old-client')).to.include({ code: 0, stderr: '' });
    expect((await home.json(['daemon', 'status'])).pid).to.equal(newer.child.pid);
    expect(newer.gone).to.equal(false);
    const mismatch = (await asked(paths().socket, { v: 2, op: 'status' })) as { error: Record<string, unknown> };
    expect(mismatch.error).to.include({ code: 'daemon_protocol_mismatch' });
    expect(mismatch.error['details']).to.deep.equal({ daemon: 1, client: 2 });
    expect(String(mismatch.error['message'])).to.match(/1.*2/);
  });

  it('disk or process limits on hook start: the harness continues without delivery, and unread waits', async () => {
    const session = new PlayedSession(home, 'limited');
    await session.start();
    const env = session.env;
    await home.json(['join', '--board', 'demo'], { env });
    await home.json(['board', 'post', 'for later', '--board', 'demo']);
    const prompt = hookInput('limited', { hook_event_name: 'UserPromptSubmit', prompt: 'hi' });
    const entry = `${process.execPath} ${join(root, 'bin', 'run.js')} hook claude-code prompt`;
    let taken = '';
    for (const [what, limit] of [
      ['memory', 'ulimit -v 100000'],
      ['open files', 'ulimit -n 12'],
      ['fewer of them', 'ulimit -n 4'],
      ['processor time', 'ulimit -t 0'],
      ['the size of files', 'ulimit -f 0'],
    ] as const) {
      const child = home.startShell(`${limit}; exec ${entry}`, { stdin: 'pipe' });
      child.stdin!.on('error', () => {});
      child.stdin!.end(prompt);
      // Where the runtime itself cannot even end, the harness ends it after the entry's timeout.
      const ending = setTimeout(() => child.kill('SIGKILL'), 4_000);
      const { code, stdout } = await finished(child);
      clearTimeout(ending);
      // 2 alone would be taken for an instruction; whatever was printed is a whole context or nothing.
      expect(code, what).to.not.equal(2);
      if (stdout !== '') taken += JSON.parse(stdout).hookSpecificOutput.additionalContext;
    }
    // What none of them took is still unread, and the next one in order takes it.
    const { stdout } = await session.hook('prompt', 'UserPromptSubmit', { prompt: 'hi' });
    expect(`${taken}${stdout}`).to.contain('for later');
  });

  it('no Unix sockets, unsupported platform: `unsupported_platform`; pull works', async () => {
    await home.json(['agent', 'create', 'codex', '--board', 'demo']);
    const other = join(home.dir, 'other-platform.mjs');
    writeFileSync(other, "Object.defineProperty(process, 'platform', { value: 'freebsd' });\n");
    const env = { NODE_OPTIONS: `--import=${other}` };
    for (const verb of [['start'], ['status'], []]) {
      const { code, stdout, stderr } = await home.run(['daemon', ...verb, '--json'], { env });
      expect(code, verb.join()).to.not.equal(0);
      expect(stdout + stderr, verb.join()).to.contain('unsupported_platform');
    }
    expect(existsSync(paths().socket)).to.equal(false);
    const waiting = finished(home.start(['inbox', '--wait', '60', '--as', 'codex', '--json'], { env }));
    await home.json(['board', 'post', 'pulled', '--board', 'demo']);
    const { code, stdout } = await waiting;
    expect([code, JSON.parse(stdout).messages.map(({ body }: { body: string }) => body)]).to.deep.equal([
      0,
      ['pulled'],
    ]);
  });

  if (process.platform === 'linux') {
    it('journal full: nothing handed, nothing acked; `internal`; hooks exit 0; doctor `journal_unwritable`', async () => {
      const state = home.path('state');
      mkdirSync(state, { recursive: true, mode: 0o700 });
      const disk = new SmallDisk(state);
      const [command, ...words] = disk.words('2m') as [string, ...string[]];
      const entry = join(root, 'bin', 'run.js');
      const daemon = spawn(command, [...words, process.execPath, entry, 'daemon'], {
        env: { ...home.env, SERVICE_HOME: home.store },
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      try {
        disk.heldBy(daemon.pid);
        const socket = disk.seen(paths().socket);
        await until('it answers', async () => (await asked(socket, { op: 'status' }).catch(() => null)) !== null);
        /** The program where the daemon's disk is seen. */
        const beside = (args: string[], input = '') => {
          const enter = [
            '-t',
            String(daemon.pid),
            '-U',
            '-m',
            '--preserve-credentials',
            process.execPath,
            entry,
            ...args,
          ];
          const child = spawn('nsenter', enter, { env: home.env, cwd: home.work, stdio: ['pipe', 'pipe', 'pipe'] });
          child.stdin.on('error', () => {});
          child.stdin.end(input);
          return finished(child);
        };
        const checks = async () =>
          (
            JSON.parse((await beside(['doctor', '--json'])).stdout) as {
              checks: { name: string; code: string | null }[];
            }
          ).checks
            .filter(({ name }) => name === 'journal')
            .map(({ code }) => code);
        const url = (await home.json(['whoami'])).server.url;
        await home.json(['agent', 'create', 'codex', '--board', 'demo']);
        const header = { harness: 'claude-code', session: 'full' };
        await asked(socket, { op: 'register', ...header, source: 'startup' });
        await asked(socket, { op: 'bind', ...header, agent: { server: url, board: 'demo', name: 'codex' } });
        expect(await checks()).to.deep.equal([null]);
        const filler = disk.seen(join(state, 'filler'));
        fill(filler);
        await home.json(['board', 'post', 'while it is full', '--board', 'demo']);
        const unread = async () => (await home.json(['inbox', '--peek', '--as', 'codex'])).messages.length;
        for (const event of ['UserPromptSubmit', 'PostToolBatch', 'Stop']) {
          const run = { UserPromptSubmit: 'prompt', PostToolBatch: 'tool', Stop: 'wait' }[event]!;
          const { code, stdout } = await beside(
            ['hook', 'claude-code', run],
            hookInput('full', { hook_event_name: event, prompt: 'x', tool_name: 'Bash' }),
          );
          expect([code, stdout], event).to.deep.equal([0, '']);
        }
        const refused = (await asked(socket, { op: 'turn_start', ...header })) as { error?: { code: string } };
        expect(refused.error).to.include({ code: 'internal' });
        expect(await checks()).to.deep.equal(['journal_unwritable']);
        expect(await unread()).to.equal(1);
        // There is room again: it goes on by itself.
        rmSync(filler);
        const { code, stdout } = await beside(
          ['hook', 'claude-code', 'prompt'],
          hookInput('full', { hook_event_name: 'UserPromptSubmit', prompt: 'x' }),
        );
        expect(code).to.equal(0);
        expect(stdout).to.contain('while it is full');
        expect(await unread()).to.equal(1);
        await beside(
          ['hook', 'claude-code', 'tool'],
          hookInput('full', { hook_event_name: 'PostToolBatch', tool_name: 'Bash' }),
        );
        await until('it is acknowledged', async () => (await unread()) === 0);
        expect(await checks()).to.deep.equal([null]);
      } finally {
        daemon.kill('SIGKILL');
      }
    });
  }
});

/** Writes until nothing more has room. */
function fill(path: string): void {
  for (const size of [65_536, 4_096, 512, 1]) {
    for (;;) {
      try {
        writeFileSync(path, Buffer.alloc(size), { flag: 'a' });
      } catch {
        break;
      }
    }
  }
}
