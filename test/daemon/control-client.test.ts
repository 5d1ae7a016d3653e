/** How programs of ours reach the daemon: over a socket that is safe, started and replaced when that is due. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import fc from 'fast-check';
import { checkSocket, requirePlatform, socketPath } from '../../src/daemon/control/address.ts';
import { ask, daemonStatus } from '../../src/daemon/control/ask.ts';
import { askDaemon, connectDaemon, type DaemonOptions } from '../../src/daemon/control/client.ts';
import { openConnection } from '../../src/daemon/control/connection.ts';
import { type DaemonError, notRunning } from '../../src/daemon/control/errors.ts';
import { MAX_FRAME_BYTES } from '../../src/daemon/control/limits.ts';
import { encodeFrame, LineReader } from '../../src/daemon/control/lines.ts';
import { daemonEnv, startAndConnect } from '../../src/daemon/control/start.ts';
import { firstFrames, requests } from '../../src/daemon/protocol.ts';
import { parseJsonObject } from '../../src/local/json.ts';
import { takeKernelLock } from '../../src/local/kernel-lock.ts';
import { alive, until } from '../../src/local/process.ts';
import { program } from './support/programs.ts';

const fake = fileURLToPath(new URL('support/fake-daemon.mjs', import.meta.url));

async function codeOf(work: () => Promise<unknown> | unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    return (error as { code: string }).code;
  }
  return 'none';
}

describe('the control socket, from its client', () => {
  let home: string;
  let state: string;
  const servers: Server[] = [];
  const peers: Socket[] = [];

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'board-control-'));
    state = join(home, 'state');
    mkdirSync(state, { mode: 0o700 });
  });
  afterEach(async () => {
    const { pid } = await daemonStatus(state).catch(() => ({ pid: 0 }));
    if (pid) process.kill(pid, 'SIGKILL');
    for (const peer of peers.splice(0)) peer.destroy();
    for (const server of servers.splice(0)) server.close();
    rmSync(home, { recursive: true, force: true });
  });

  /** A daemon that answers with what it is told to. */
  async function serve(answer: (frame: Record<string, unknown>, peer: Socket) => void): Promise<string> {
    const path = socketPath(state);
    const server = createServer((peer) => {
      peers.push(peer);
      peer.on('error', () => {});
      const lines = new LineReader();
      peer.on('data', (piece: Buffer) => {
        for (const line of lines.push(piece)) answer(parseJsonObject(line)!, peer);
      });
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(path, resolve));
    chmodSync(path, 0o600);
    return path;
  }

  const options = (more: Partial<DaemonOptions> = {}): DaemonOptions => ({
    state,
    env: { PATH: process.env.PATH, SERVICE_HOME: home },
    start: null,
    replaceBy: null,
    ...more,
  });
  const starting = (version: string, client = 'test'): Partial<DaemonOptions> => ({
    start: { program: [process.execPath, fake, version], client },
  });
  const starts = (client: string) =>
    JSON.parse(readFileSync(join(state, 'daemon-starts.json'), 'utf8'))[client].length as number;
  const runs = () =>
    readFileSync(join(state, 'runs'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { version: string; env: string[] });

  describe('is used only when it is this user’s alone', () => {
    it('with a folder of mode 0700 and a socket of mode 0600', async () => {
      const path = await serve(() => {});
      expect(checkSocket(path)).to.equal(true);
      chmodSync(path, 0o660);
      expect(await codeOf(() => openConnection(path))).to.equal('socket_unsafe');
      chmodSync(path, 0o600);
      chmodSync(state, 0o750);
      expect(await codeOf(() => openConnection(path))).to.equal('socket_unsafe');
    });

    it('with neither a link as the socket nor as its folder', async () => {
      const path = await serve(() => {});
      renameSync(path, `${path}.real`);
      symlinkSync(`${path}.real`, path);
      expect(await codeOf(() => openConnection(path))).to.equal('socket_unsafe');
      symlinkSync(state, join(home, 'linked'));
      expect(await codeOf(() => openConnection(join(home, 'linked', 'daemon.sock.real')))).to.equal('socket_unsafe');
    });

    it('with a plain file in its place refused, and nothing there told as not running', async () => {
      expect(await codeOf(() => openConnection(socketPath(state)))).to.equal('daemon_not_running');
      writeFileSync(socketPath(state), '', { mode: 0o600 });
      expect(await codeOf(() => openConnection(socketPath(state)))).to.equal('socket_unsafe');
    });

    it('on systems that have such sockets', async () => {
      expect(await codeOf(() => requirePlatform('win32'))).to.equal('unsupported_platform');
      expect(await codeOf(() => requirePlatform('linux'))).to.equal('none');
    });
  });

  describe('carries frames', () => {
    it('with the version, and without what is empty, zero or false', () => {
      expect(
        encodeFrame({ op: 'status', cwd: '', restart: false, turn_id: 0, seats: [], more: { unread: 0 } }),
      ).to.equal('{"v":1,"op":"status","more":{"unread":0}}\n');
    });

    it('that are read whole however they are cut', () => {
      fc.assert(
        fc.property(
          fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 6 }),
          fc.integer({ min: 1, max: 9 }),
          (texts, size) => {
            const all = Buffer.from(texts.map((text) => encodeFrame({ op: 'x', text })).join(''));
            const lines = new LineReader();
            const got: string[] = [];
            for (let at = 0; at < all.length; at += size) got.push(...lines.push(all.subarray(at, at + size)));
            expect(got.map((line) => parseJsonObject(line)?.text ?? '')).to.deep.equal(texts);
          },
        ),
      );
    });

    it('of at most 256 KiB both ways', async () => {
      const path = await serve((_, peer) => peer.write(`${'x'.repeat(MAX_FRAME_BYTES + 1)}\n`));
      const connection = await openConnection(path);
      const long = { op: 'status', text: 'x'.repeat(MAX_FRAME_BYTES) };
      expect(await codeOf(() => connection.send(long))).to.equal('invalid_request');
      expect(await codeOf(() => ask(connection, 'status', {}))).to.equal('internal');
    });

    it('whose refusal is thrown with its code, hint and details', async () => {
      await serve((_, peer) =>
        peer.write(encodeFrame({ error: { code: 'name_taken', message: 'm', hint: 'h', details: { name: 'x' } } })),
      );
      const error = await askDaemon(options(), 'status', {}).catch((e) => e);
      expect(error).to.include({ code: 'name_taken', message: 'm', hint: 'h' });
      expect(error.details).to.deep.equal({ name: 'x' });
    });

    it('of this protocol only; a refusal of another one is understood', async () => {
      let answer = '{"v":2,"pid":1}\n';
      await serve((_, peer) => peer.write(answer));
      expect(await codeOf(() => askDaemon(options(), 'status', {}))).to.equal('daemon_protocol_mismatch');
      answer = '{"v":2,"error":{"code":"daemon_protocol_mismatch","message":"2 and 1","hint":"x"}}\n';
      expect(await codeOf(() => askDaemon(options(), 'status', {}))).to.equal('daemon_protocol_mismatch');
    });

    it('within their time, and not after the other side went away', async () => {
      await serve((frame, peer) => {
        if (frame.op === 'agents') peer.destroy();
        if (frame.op === 'boards') peer.write('{"v":1,"event":"bye"}\n');
      });
      const connection = await openConnection(socketPath(state));
      expect(await codeOf(() => ask(connection, 'status', {}, 20))).to.equal('request_timeout');
      const header = { harness: 'codex', session: 's' };
      expect(await codeOf(() => askDaemon(options(), 'agents', header))).to.equal('daemon_stopping');
      expect(await codeOf(() => askDaemon(options(), 'boards', header))).to.equal('daemon_stopping');
    });
  });

  describe('has schemas', () => {
    const header = { v: 1, harness: 'claude-code', session: 'a.b-c_1' };

    it('that ignore unknown fields and take absent ones as nothing', () => {
      const parsed = requests.register.parse({ ...header, op: 'register', source: 'resume', later: 1 });
      expect(parsed).to.deep.equal({ ...header, op: 'register', source: 'resume' });
      expect(requests.shutdown.parse({ v: 1, op: 'shutdown' }).restart).to.equal(false);
    });

    it('that refuse other versions, verbs, and invalid names', () => {
      expect(firstFrames).to.not.have.property('sing');
      for (const wrong of [
        { ...header, v: 2, op: 'agents' },
        { ...header, op: 'agents', harness: 'Claude' },
        { ...header, op: 'agents', session: 'a/b' },
        { ...header, op: 'agents', session: 'x'.repeat(201) },
        { ...header, op: 'agents', boot: 'zz' },
        { ...header, op: 'agents', cwd: 'x'.repeat(4_097) },
        { ...header, op: 'agents', process: { pid: 0, start: '1' } },
        { ...header, op: 'turn_start', handoff_id: 'hnd_1' },
        { v: 1, op: 'agents' },
      ])
        expect(
          firstFrames[wrong.op as keyof typeof firstFrames].safeParse(wrong).success,
          JSON.stringify(wrong),
        ).to.equal(false);
    });
  });

  describe('finds the daemon started', () => {
    it('when nobody answers and it may be, with a reduced environment', async () => {
      const more = { ...starting('1.0.0'), env: { ...options().env, SERVICE_TOKEN: 'abh_secret', LC_ALL: 'C' } };
      const connection = await connectDaemon(options(more));
      connection.close();
      const [run] = runs();
      expect(run!.env).to.include.members(['SERVICE_HOME', 'LC_ALL']);
      expect(run!.env).not.to.include('SERVICE_TOKEN');
      const given = { HOME: '/h', XDG_STATE_HOME: '/s', NO_PROXY: '*', DBUS_SESSION_BUS_ADDRESS: 'unix:path=/b' };
      expect(daemonEnv({ ...given, SERVICE_AGENT: 'x', AWS_SECRET: 'y' })).to.deep.equal(given);
    });

    it('never when it must not be', async () => {
      expect(await codeOf(() => connectDaemon(options()))).to.equal('daemon_not_running');
    });

    it('once for ten at the same moment', async () => {
      const all = await Promise.all(
        Array.from({ length: 10 }, (_, n) => connectDaemon(options(starting('1.0.0', `codex:${n}`)))),
      );
      for (const connection of all) connection.close();
      expect(runs()).to.have.length(1);
    });

    it('at most 5 times in 10 minutes by one client', async () => {
      let now = 1_000_000;
      const ways = {
        state,
        env: options().env,
        // One that ends well and finds another one answering was not needed, and does not count.
        program: [process.execPath, '-e', 'process.exit(3)'],
        client: 'codex:s',
        now: () => now,
      };
      const there = async () => 'there';
      for (let n = 0; n < 5; n++) expect(await startAndConnect(ways, there)).to.equal('there');
      expect(await codeOf(() => startAndConnect(ways, there))).to.equal('daemon_not_running');
      expect(await startAndConnect({ ...ways, client: 'codex:other' }, there)).to.equal('there');
      // Nor is anybody bounded who says so.
      for (let n = 0; n < 7; n++) expect(await startAndConnect({ ...ways, client: null }, there)).to.equal('there');
      now += 600_001;
      expect(await startAndConnect(ways, there)).to.equal('there');
      // What was noted before the machine's clock was set back does not count.
      for (let n = 0; n < 4; n++) expect(await startAndConnect(ways, there)).to.equal('there');
      now -= 3_600_000;
      expect(await startAndConnect(ways, there)).to.equal('there');
    });

    it('without a count where another one’s was there first', async () => {
      const pid = join(home, 'pid');
      const ending = `require('node:fs').writeFileSync(${JSON.stringify(pid)}, String(process.pid))`;
      const ways = { state, env: options().env, program: [process.execPath, '-e', ending], client: 'codex:s' };
      expect(await startAndConnect(ways, async () => 'there')).to.equal('there');
      expect(await until(() => starts('codex:s') === 0, 5_000)).to.equal(true);
      rmSync(pid, { force: true });
      const onceItEnded = async () => {
        if (!existsSync(pid) || alive(Number(readFileSync(pid, 'utf8')))) throw notRunning();
        return 'there';
      };
      expect(await startAndConnect(ways, onceItEnded)).to.equal('there');
      expect(starts('codex:s')).to.equal(0);
    });

    it('at most 5 times where another one was there first and does not answer', async () => {
      const start = { program: [process.execPath, '-e', '0'], client: 'codex:s' };
      const connecting = () => connectDaemon(options({ start })).catch(({ hint }: DaemonError) => hint);
      for (const hint of await Promise.all(Array.from({ length: 5 }, connecting)))
        expect(hint).to.equal('service doctor; service daemon run says why');
      expect(starts('codex:s')).to.equal(5);
      expect(await connecting()).to.equal('service daemon start');
    });

    it('or is told at once that it could not be, and where to look', async () => {
      for (const end of ['process.exit(1)', 'process.kill(process.pid, "SIGKILL")']) {
        const program = [process.execPath, '-e', end];
        const started = performance.now();
        const error = await connectDaemon(options({ start: { program, client: null } })).catch(
          (thrown: unknown) => thrown,
        );
        expect(error).to.include({ code: 'daemon_not_running', hint: 'service doctor; service daemon run says why' });
        expect(performance.now() - started, end).to.be.below(5_000);
      }
    });

    it('and leaves no draft behind where its starts cannot be noted', async () => {
      mkdirSync(join(state, 'daemon-starts.json'));
      expect(await codeOf(() => connectDaemon(options(starting('1.0.0'))))).to.equal('EISDIR');
      expect(readdirSync(state)).to.deep.equal(['daemon-starts.json']);
    });
  });

  describe('has an older daemon replaced', () => {
    const build = (version: string) => ({ replaceBy: { version } });

    it('exactly once by ten newer clients', async () => {
      (await connectDaemon(options(starting('1.0.0')))).close();
      // Each has its own limit of starts, which those that find the daemon gone for a moment would use up together.
      const newer = (n: number) => options({ ...starting('1.1.0', `client ${n}`), ...build('1.1.0') });
      const all = await Promise.all(Array.from({ length: 10 }, (_, n) => connectDaemon(newer(n))));
      for (const connection of all) connection.close();
      expect(runs().map((run) => run.version)).to.deep.equal(['1.0.0', '1.1.0']);
      expect((await daemonStatus(state)).build.version).to.equal('1.1.0');
    });

    it('but neither a newer one nor by a client that must not', async () => {
      (await connectDaemon(options(starting('2.0.0')))).close();
      for (const more of [build('1.0.0'), build('2.0.0'), {}])
        (await connectDaemon(options({ ...starting('1.0.0'), ...more }))).close();
      (await connectDaemon(options({ start: null, ...build('3.0.0') }))).close();
      expect(runs()).to.have.length(1);
    });
  });

  it('has locks of which one is taken by exactly one of those who try at the same moment', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'board-locks-'));
    const main = await program('lock-process');
    const begin = Date.now() + 1_000;
    const moments = Array.from({ length: 60 }, (_, n) => begin + n * 10);
    const children = [1, 2, 3].map(() =>
      spawn(process.execPath, [main, folder, JSON.stringify(moments)], { stdio: ['pipe', 'pipe', 'inherit'] }),
    );
    const taken = await Promise.all(
      children.map(async ({ stdout }) => JSON.parse(String((await once(stdout, 'data'))[0])) as boolean[]),
    );
    for (const child of children) child.stdin.end();
    const holders = moments.map((_, n) => taken.filter((got) => got[n]).length);
    expect(holders).to.deep.equal(moments.map(() => 1));
    rmSync(folder, { recursive: true });
  });

  it('has locks that are kept although nothing refers to them', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const path = join(state, 'unreferenced.lock');
    takeKernelLock(path);
    for (let n = 0; n < 5; n++) {
      await new Promise((resolve) => setImmediate(resolve));
      collect();
    }
    await new Promise((resolve) => setImmediate(resolve));
    expect(takeKernelLock(path)).to.equal(null);
  });

  it('has locks that can be taken whatever their file holds', () => {
    const path = join(state, 'damaged.lock');
    writeFileSync(path, 'no database '.repeat(1_000));
    const lock = takeKernelLock(path)!;
    expect(takeKernelLock(path)).to.equal(null);
    writeFileSync(path, 'damaged while it is held '.repeat(1_000));
    expect(takeKernelLock(path)).to.equal(null);
    lock.release();
  });

  it('has locks that end with their holder', async () => {
    const path = join(state, 'daemon.lock');
    const lock = takeKernelLock(path)!;
    expect(takeKernelLock(path)).to.equal(null);
    lock.release();
    (await connectDaemon(options(starting('1.0.0')))).close();
    expect(takeKernelLock(path)).to.equal(null);
    const { pid } = await daemonStatus(state);
    process.kill(pid, 'SIGKILL');
    expect(await until(() => !alive(pid), 5_000)).to.equal(true);
    const again = takeKernelLock(path);
    again?.release();
    expect(again).not.to.equal(null);
  });
});
