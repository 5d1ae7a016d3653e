/** SIGINT, SIGTERM and SIGHUP end every command that takes long with the same exit codes, whatever it waits for. */
import type { ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { processRef } from '../../src/local/process-ref.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { freePort } from '../support/free-port.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { collect, finished, Home, until } from './support/home.ts';
import { addProfile } from './support/launched.ts';
import { SwarmHome } from './support/swarm-home.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
type Signal = (typeof SIGNALS)[number];
type Exits = Record<Signal, number>;
const WAITS: Exits = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };
const FOLLOWS: Exits = { SIGINT: 0, SIGTERM: 143, SIGHUP: 129 };
const SERVES: Exits = { SIGINT: 0, SIGTERM: 0, SIGHUP: 0 };

/** What a process left with that was sent a signal once it did something. */
async function ended(child: ChildProcess, at: string, works: () => boolean, signal: Signal): Promise<number | null> {
  await until(at, works);
  child.kill(signal);
  return (await finished(child)).code;
}

describe('a signal, while a server is asked,', () => {
  const home = new Home({ bare: true, shared: true });
  let server: TestServer;
  let proxy: FaultProxy;
  before(async () => {
    server = await startTestServer('sqlite');
    proxy = await new FaultProxy(server.url).listen();
    const env = { KEY: server.dana.token ?? '' };
    await home.shell(`echo "$KEY" | service login ${proxy.url} --store file`, { env });
    await home.json(['board', 'create', 'demo']);
    expect((await home.json(['say', 'first'])).message.seq).to.equal(3);
    await home.json(['agent', 'create', 'codex']);
  });
  after(async () => {
    home.discard();
    await proxy.down();
    await server.stop();
  });

  const rows: [line: string, exits: Exits, asks?: RegExp][] = [
    ['inbox --wait 60 --as codex', WAITS],
    ['inbox wait 60 --as codex', WAITS],
    ['inbox notices --wait 60 --as codex', WAITS],
    ['inbox --follow --as codex', FOLLOWS],
    ['say waiting --wait-reply 60', WAITS],
    ['say waiting --wait-reply 60 --no-notes --as codex', WAITS],
    ['ask @codex Waiting? Yes No --wait 60', WAITS],
    ['board thread 3 --wait 60', WAITS],
    ['read --follow', FOLLOWS, /^\/v1\/stream/],
    ['watch', FOLLOWS, /^\/v1\/stream/],
    ['watch --all-boards', FOLLOWS, /^\/v1\/stream/],
  ];
  for (const [line, exits, asks = /[?&]wait=/] of rows)
    it(`ends service ${line}`, async () => {
      for (const signal of SIGNALS) {
        const before = proxy.seen.length;
        const asked = () => proxy.seen.slice(before).some(({ path }) => asks.test(path));
        expect(await ended(home.start(line.split(' ')), 'it waits', asked, signal), signal).to.equal(exits[signal]);
      }
    });

  it('ends the wait of a whole list for a server that takes no more requests', async () => {
    for (const path of ['GET /v1/search', 'GET /v1/boards/demo/messages', 'GET /v1/boards/demo/events'])
      proxy.fail(path, { status: 429, code: 'rate_limited', retryAfter: 50 });
    for (const line of ['search first --all --json', 'read --all', 'audit verify', 'audit log --ndjson']) {
      const child = home.start(line.split(' '));
      const printed = collect(child);
      const waits = () => printed().stderr === 'The server takes no more requests for 50 s; the rest follows then.\n';
      expect(await ended(child, 'it says that it waits', waits, 'SIGINT'), line).to.equal(130);
    }
    const one = await home.run(['search', 'first']);
    expect([one.code, one.stderr.split(':')[0]]).to.deep.equal([8, 'Error (rate_limited)']);
    proxy.heal();
  });

  it('does not have to end a list that goes on once the server takes more', async () => {
    const { name } = await server.dana.ok('getMe');
    for (const [line, path] of [
      ['search first --all', 'GET /v1/search'],
      ['read --all', 'GET /v1/boards/demo/messages'],
      [`audit log --actor ${name} --limit 9 --ndjson`, 'GET /v1/boards/demo/events'],
      [`audit log --actor ${name} --limit 9 --json`, 'GET /v1/boards/demo/events'],
      ['audit export -', 'GET /v1/boards/demo/events'],
    ] as const) {
      proxy.fail(path, { status: 429, code: 'rate_limited', retryAfter: 1 }, 1);
      const found = await home.run([...line.split(' '), '--timeout', '1']);
      expect([found.code, found.stderr], line).to.deep.equal([
        0,
        'The server takes no more requests for 1 s; the rest follows then.\n',
      ]);
      expect(found.stdout, line).to.include('first');
    }
    proxy.fail('GET /v1/search', { status: 429, code: 'rate_limited', retryAfter: 600 });
    expect((await home.run(['search', 'first', '--all'])).code).to.equal(8);
    proxy.heal();
  });

  it('does not have to end lines that are posted once the server takes more', async () => {
    proxy.fail('POST /v1/boards/demo/messages', { status: 429, code: 'rate_limited', retryAfter: 1 }, 1);
    const lines = `'{"body":"in"}' '{"body":"order"}'`;
    const posted = await home.shell(`printf '%s\\n' ${lines} | service say --ndjson-in --timeout 1 --jq .message.body`);
    expect(posted).to.deep.equal({
      code: 0,
      stdout: 'in\norder\n',
      stderr: 'The server takes no more requests for 1 s; the rest follows then.\n',
    });
    proxy.heal();
  });

  it('asks for as much of a search at once as the server gives', async () => {
    await home.run(['search', 'first', '--all']);
    expect(proxy.seen.findLast(({ path }) => path.startsWith('/v1/search'))?.path).to.include('limit=50');
  });

  it('leaves nothing of an export of the record', async () => {
    for (const signal of SIGNALS) {
      proxy.fail('GET /v1/boards/demo/events', 'hold');
      const before = readdirSync(home.work);
      const begun = () => readdirSync(home.work).length > before.length;
      expect(await ended(home.start(['audit', 'export', 'record.ndjson']), 'it writes', begun, signal)).to.equal(
        WAITS[signal],
      );
      expect(readdirSync(home.work)).to.deep.equal(before);
      proxy.heal();
    }
  });
});

describe('a signal, on one machine,', () => {
  let world: SwarmHome;
  before(async () => {
    world = new SwarmHome();
    const { home } = world;
    await home.json(['board', 'create', 'demo']);
    await home.json(['agent', 'create', 'codex']);
    await home.json(['daemon', 'start']);
    home.program('deaf', 'exec sleep 100');
    addProfile(home, 'mine', { interactive: { start: ['deaf'] } });
    world.write('board: demo\nagents:\n  - {name: deaf, harness: mine, launcher: local}\n');
    await home.json(['swarm', 'up', '--yes', '--wait', '0']);
  });
  after(() => world.close());

  /** The same once a text is printed. */
  async function printing(child: ChildProcess, text: RegExp, signal: Signal): Promise<number | null> {
    const printed = collect(child);
    return ended(child, `it prints ${text}`, () => text.test(Object.values(printed()).join('')), signal);
  }

  for (const [line, exits, text] of [
    ['swarm up --wait 60 --verbose', WAITS, /GET/],
    ['server logs --follow', FOLLOWS, /listening/],
    ['daemon logs --follow', FOLLOWS, /daemon_started/],
  ] as const)
    it(`ends service ${line}`, async () => {
      for (const signal of SIGNALS)
        expect(await printing(world.home.start(line.split(' ')), text, signal), signal).to.equal(exits[signal]);
    });

  it('ends service serve and the daemon in order, also before they serve', async () => {
    const { home } = world;
    await home.json(['daemon', 'stop']);
    const listen = `127.0.0.1:${await freePort()}`;
    const serve = ['serve', '--data', join(home.dir, 'srv'), '--listen', listen];
    const nowhere = { SERVICE_DB: `postgres://127.0.0.1:${await freePort()}/none` };
    for (const signal of SIGNALS) {
      expect(await printing(home.start(serve), /listening/i, signal), signal).to.equal(SERVES[signal]);
      const waiting = home.start([...serve, '--wait-for-db', '60'], { env: nowhere });
      expect(await printing(waiting, /waiting for the database/, signal), signal).to.equal(SERVES[signal]);
      const daemon = home.start(['daemon']);
      await until('the daemon answers', async () => (await home.run(['daemon', 'status'])).code === 0);
      daemon.kill(signal);
      expect((await finished(daemon)).code, signal).to.equal(SERVES[signal]);
    }
  });

  it('ends a command that reads its standard input', async () => {
    const { home } = world;
    await home.shell('mkfifo lines');
    for (const signal of SIGNALS) {
      const child = home.startShell('exec service say --ndjson-in --verbose <lines');
      const lines = openSync(join(home.work, 'lines'), 'r+');
      writeSync(lines, '{"body":"one"}\n');
      expect(await printing(child, /POST/, signal), signal).to.equal(WAITS[signal]);
      closeSync(lines);
    }
  });

  describe('at a terminal', () => {
    before(async () => {
      await world.home.json(['board', 'create', 'gone']);
      await world.home.json(['board', 'archive', 'gone', '--yes']);
    });

    /** Runs a command there and sends it a signal once it shows a text. @returns what was shown, with its exit code last */
    async function atTerminal(line: string, shows: string, signal: Signal | null, env: Record<string, string> = {}) {
      const { home } = world;
      const [pid, started] = [join(home.work, 'pid'), join(home.work, 'started')];
      const runs = () => processRef(Number(readFileSync(started, 'utf8'))) !== null;
      const typed = `sh -c "echo \\$\\$ >${pid}; exec service ${line}"; echo "exit $?"; read -r _`;
      const child = home.startShell(`exec script -qc '${typed}' /dev/null`, {
        stdin: 'pipe',
        env: { TERM: 'xterm', ...env },
      });
      const printed = collect(child);
      await until(`it shows ${shows}`, () => printed().stdout.includes(shows));
      if (signal) process.kill(Number(readFileSync(pid, 'utf8')), signal);
      await until(`it ends; so far ${printed().stdout}`, () => /exit \d+\r\n/.test(printed().stdout));
      // What a closed terminal would end has ended by then.
      if (existsSync(started)) await until('what it started ends', () => !runs());
      rmSync(started, { force: true });
      child.stdin?.write('\n');
      await finished(child);
      return printed().stdout;
    }

    for (const [line, shows] of [
      ['board archive demo', 'Archive'],
      ['board delete gone', 'Type gone'],
      ['login https://team.example.com', 'Key'],
    ] as const)
      it(`ends service ${line} at its question`, async () => {
        for (const signal of SIGNALS)
          expect(await atTerminal(line, shows, signal)).to.match(new RegExp(`exit ${WAITS[signal]}\\r\\n`));
      });

    it('shows the cursor again that a choice has hidden', async () => {
      const { home } = world;
      await home.shell('echo one | service file put notes.md - -q --board demo');
      home.program(
        'edits',
        'echo "$1" >>"$1"; date +%N | service file put notes.md - -q --board demo --replace --as codex',
      );
      for (const signal of SIGNALS) {
        const shown = await atTerminal('file edit notes.md --board demo', 'What now?', signal, { EDITOR: 'edits' });
        expect(shown.lastIndexOf('\x1b[?25h')).to.be.above(shown.lastIndexOf('\x1b[?25l')).and.above(0);
        expect(shown).to.match(new RegExp(`exit ${WAITS[signal]}\\r\\n`));
      }
    });

    it('ends an editor with the command, keeps what was written, and leaves Ctrl-C to the editor', async () => {
      const { home } = world;
      home.program('waits', 'echo more >>"$1"; echo $$ >started; echo editing; exec sleep 100');
      const shown = await atTerminal('board charter --edit --board demo', 'editing', 'SIGTERM', { EDITOR: 'waits' });
      expect(shown).to.match(/exit 143\r\n/);
      const path = /Your text is still here: (\S+)/.exec(shown)?.[1] ?? '';
      expect(readFileSync(path, 'utf8')).to.include('more');
      // The signal has to come before the editor's end does: until it is taken it shows among those of the process.
      const untilTaken = 'while grep -qs "^ShdPnd:.*[1-9a-f]" "/proc/$(cat pid)/status"; do :; done';
      home.program('edits', `kill -INT "$(cat pid)"; echo more >>"$1"; ${untilTaken}`);
      const edited = await atTerminal('board charter --edit --board demo', 'exit', null, { EDITOR: 'edits' });
      expect(edited).to.match(/exit 0\r\n/);
      expect((await home.json(['board', 'charter', '--board', 'demo'])).charter).to.include('more');
    });

    it('ends a pager with the command', async () => {
      world.home.program('pages', 'echo $$ >started; echo paging; exec sleep 100');
      expect(await atTerminal('help', 'paging', 'SIGTERM', { PAGER: 'pages' })).to.match(/exit 143\r\n/);
    });
  });
});
