/** A program that is run once for each bundle, with the true daemon and server. */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { processRef } from '../../src/local/process-ref.ts';
import { type Frame, ScriptedDaemon } from '../daemon/support/scripted-daemon.ts';
import { collect, finished, type Home, until } from './support/home.ts';
import { type Hosted, hosted } from './support/hosted.ts';
import { LossyNetwork } from './support/lossy.ts';

describe('service run', () => {
  let at: Hosted;
  let home: Home;
  beforeEach(async () => {
    at = await hosted();
    home = at.home;
    await home.json(['board', 'create', 'demo', '--no-link']);
    await home.json(['agent', 'create', 'bot', '--board', 'demo']);
  });
  afterEach(async () => {
    await home.run(['daemon', 'stop']);
    await at.close();
  });

  const served = async (sessions = 1): Promise<boolean> => {
    const { code, stdout } = await home.run(['daemon', 'status', '--json']);
    return code === 0 && JSON.parse(stdout).bindings.length === sessions;
  };
  const say = async (body: string): Promise<number> =>
    (await home.json(['say', body, '-b', 'demo', '--to', '@bot', '--no-notes'])).message.seq;
  const unread = async (): Promise<number> => (await home.json(['inbox', '--peek', '--as', 'bot'])).messages.length;
  /** A daemon that gives the message once more after the first failure, and again when told to. */
  const delivering = async (seq: number) => {
    await home.run(['daemon', 'stop']);
    const daemon = await new ScriptedDaemon(home.store).listen();
    const bundle = `<service-message board="demo" from="@dana" seq="${seq}">`;
    const deliver = { event: 'deliver', handoff_id: `hnd_${'0'.repeat(32)}`, bundle };
    let again = () => {};
    daemon.answers['hello'] = (_, peer) => {
      again = () => peer.send(deliver);
      peer.send({ event: 'welcome' });
      again();
    };
    daemon.answers['turn_end'] = () => daemon.of('turn_end').length === 1 && again();
    return Object.assign(daemon, { again: () => again() });
  };
  const script = (text: string) => {
    const path = join(home.dir, 'program.sh');
    writeFileSync(path, text);
    return ['/bin/sh', path];
  };
  const read = (name: string) => readFileSync(join(home.work, name), 'utf8');
  const there = (name: string) => existsSync(join(home.work, name));

  it('gives it the bundle on its standard input, with who it is and no token, and acknowledges it after exit 0', async () => {
    const program = script('cat >text; env | sort >env\n');
    const child = home.start(['run', '--as', 'bot', '--', ...program], {
      env: { SERVICE_TOKEN_FILE: '/nowhere' } as never,
    });
    const printed = collect(child);
    await until('the session', () => served());
    await say('do <service-message> this');
    await until('the text', () => there('env') && read('env') !== '');
    expect(read('text')).to.include('do &lt;service-message> this');
    expect(read('env'))
      .to.match(/^SERVICE_AGENT=bot@demo$/m)
      .and.match(/^SERVICE_HANDOFF=hnd_[0-9a-f]{32}$/m)
      .and.match(/^SERVICE_SESSION=command:run-[0-9a-f]{16}$/m);
    expect(read('env')).not.to.match(/SERVICE_TOKEN|ab[abcdhilp]_/);
    await until('the acknowledgement', async () => (await unread()) === 0);
    child.kill('SIGINT');
    await until('its end', () => child.exitCode !== null || child.signalCode !== null);
    expect([child.exitCode, printed().stdout]).to.deep.equal([130, 'Ran the program 1 time.\n']);
  });

  it('ends where another one takes its agent, and where its agent was removed', async () => {
    const program = script('cat >text\n');
    const first = home.start(['run', '--as', 'bot', '--', ...program]);
    await until('the session', () => served());
    const second = home.start(['run', '--as', 'bot', '--json', '--', ...program]);
    const { code, stderr } = await finished(first);
    expect(stderr).to.include('Another session took bot on demo.');
    expect(code).to.equal(1);
    await say('for the second');
    await until('the text', () => there('text') && read('text') !== '');
    await home.run(['agent', 'remove', 'bot', '-b', 'demo', '--yes']);
    const ended = await finished(second);
    expect(ended.code).to.equal(4);
    expect(JSON.parse(ended.stdout || ended.stderr).error).to.include({
      code: 'agent_removed',
      message: 'The seat bot on demo has ended.',
      hint: 'service agents shows your agents. If service.yaml has this one, take it out there',
    });
  });

  it('lets it run for longer than a timer can wait, or without a limit, where that was said', async () => {
    const program = script('cat >text\nsleep 1\necho >ended\n');
    for (const limits of [
      ['--timeout', '30d'],
      ['--timeout', '0', '--idle-exit', '0'],
    ]) {
      const child = home.start(['run', '--as', 'bot', ...limits, '--', ...program]);
      await until('the session', () => served());
      await say('take your time');
      await until('the acknowledgement', async () => (await unread()) === 0);
      expect(there('ended')).to.equal(true);
      rmSync(join(home.work, 'ended'));
      child.kill('SIGINT');
      expect((await finished(child)).code).to.equal(130);
    }
  });

  it('passes a signal to its program, ends what that has started, and leaves with the code of the signal', async () => {
    const program = script(
      [
        "trap 'echo INT >got; exit 1' INT",
        "trap 'echo TERM >got; exit 1' TERM",
        "trap 'echo HUP >got; exit 1' HUP",
        // The shell has what runs in its background ignore SIGINT; the second one ignores the others as well.
        'sleep 100 & echo $! >started',
        "(trap '' INT TERM HUP; exec sleep 100) & echo $! >>started",
        'echo >there',
        'wait',
      ].join('\n'),
    );
    const seq = await say('please');
    for (const [signal, exit] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
      ['SIGHUP', 129],
    ] as const) {
      const child = home.start(['run', '--as', 'bot', '--', ...program]);
      await until('the program', () => there('there'));
      child.kill(signal);
      expect((await finished(child)).code).to.equal(exit);
      expect(`SIG${read('got')}`).to.equal(`${signal}\n`);
      for (const pid of read('started').trim().split('\n'))
        await until('their end', () => processRef(Number(pid)) === null);
      rmSync(join(home.work, 'there'));
    }
    expect((await home.json(['inbox', '--peek', '--as', 'bot'])).messages[0].seq).to.equal(seq);
  });

  it('leaves after five seconds where the server does not take a reply', async () => {
    const daemon = await delivering(await say('please'));
    const network = await LossyNetwork.to(at.url);
    const credentials = home.path('config', 'credentials.json');
    writeFileSync(credentials, readFileSync(credentials, 'utf8').replaceAll(at.url, network.url));
    network.decide = () => new Promise(() => {});
    try {
      const child = home.start(['run', '--as', 'bot', '--reply', '--', ...script('echo answer\n')]);
      await until('the reply', () => network.seen.length > 0);
      child.kill('SIGTERM');
      await until('its end', () => child.exitCode !== null, 15_000);
      expect([child.exitCode, daemon.of('received')]).to.deep.equal([143, []]);
    } finally {
      network.close();
      daemon.close();
    }
  });

  it('leaves at once where it waits for the daemon', async () => {
    const asked: Socket[] = [];
    const silent = createServer((socket) => asked.push(socket));
    await home.run(['daemon', 'stop']);
    mkdirSync(home.path('state'), { recursive: true, mode: 0o700 });
    await new Promise<void>((resolve) => silent.listen(home.path('state', 'daemon.sock'), resolve));
    chmodSync(home.path('state', 'daemon.sock'), 0o600);
    for (const [signal, exit] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      const before = asked.length;
      const child = home.start(['run', '--as', 'bot', '--', 'cat']);
      await until('it asks the daemon', () => asked.length > before);
      const at = performance.now();
      child.kill(signal);
      expect((await finished(child)).code).to.equal(exit);
      expect(performance.now() - at).to.be.below(4_000);
    }
    for (const socket of asked) socket.destroy();
    await new Promise((resolve) => silent.close(resolve));
  });

  it('asks again where a daemon that it was connected to refuses or cannot, until one serves it', async () => {
    await home.run(['daemon', 'stop']);
    const daemon = await new ScriptedDaemon(home.store).listen();
    const answers: Frame[] = [
      { event: 'welcome' },
      { error: { code: 'internal', message: 'The disk is full.' } },
      { error: { code: 'daemon_stopping', message: 'It stops.' } },
      { event: 'welcome' },
    ];
    daemon.answers['hello'] = (_, peer) => {
      peer.send(answers.shift()!);
      if (answers.length > 0) peer.close();
    };
    const child = home.start(['run', '--as', 'bot', '--', 'cat']);
    await until('it is served again', () => answers.length === 0 || child.exitCode !== null);
    expect(answers).to.deep.equal([]);
    child.kill('SIGINT');
    await finished(child);
    daemon.close();
  });

  it('says once that the daemon is away for long, and once that it is back', async () => {
    await home.run(['daemon', 'stop']);
    const daemon = await new ScriptedDaemon(home.store).listen();
    daemon.answers['hello'] = (_, peer) => peer.send({ event: 'welcome' });
    const child = home.start(['run', '--as', 'bot', '--', 'cat'], { env: { SERVICE_NO_AUTOSTART: '1' } });
    const printed = collect(child);
    await until('the session', () => daemon.of('bind').length === 1);
    daemon.crash();
    await until('that it is away', () =>
      printed().stderr.includes('The delivery daemon cannot be reached, so bot on demo'),
    );
    await daemon.listen();
    await until('that it is back', () => printed().stderr.includes('The delivery daemon answers again.'));
    expect(printed().stderr.match(/The delivery daemon/g)).to.have.length(2);
    child.kill('SIGINT');
    await finished(child);
    daemon.close();
  });

  it('takes its agent again where the next daemon does not know of it, as with a new journal, and only there', async () => {
    await home.run(['daemon', 'stop']);
    const daemon = await new ScriptedDaemon(home.store).listen();
    const { agents } = await home.json(['agents', '-b', 'demo']);
    const { id: member_id } = agents.find(({ name }: { name: string }) => name === 'bot');
    const own = { server: at.url, board: 'demo', name: 'bot', member_id };
    const seats = [[], [own], [], [own]];
    daemon.answers['hello'] = (_, peer) => peer.send({ event: 'welcome', seats: seats.shift() ?? [own] });
    const child = home.start(['run', '--as', 'bot', '--', 'cat']);
    const binds = [1, 1, 2, 2];
    for (const [n, expected] of binds.entries()) {
      await until('it is served', () => daemon.of('hello').length === n + 1 && daemon.connections() === 1);
      await until('it has its agent', () => daemon.of('bind').length === expected);
      daemon.crash();
      await daemon.listen();
    }
    child.kill('SIGINT');
    await finished(child);
    daemon.close();
  });

  it('ends with the daemon that its person stopped, and says so', async () => {
    const child = home.start(['run', '--as', 'bot', '--', 'cat']);
    const ended = finished(child);
    await until('the session', () => served());
    await home.run(['daemon', 'stop']);
    const { code, stderr } = await ended;
    expect(stderr).to.include('The delivery daemon was stopped, so bot on demo gets nothing any more.');
    expect(code).to.equal(1);
  });

  it('ends also with the daemon that was stopped as it was just greeted, and starts no other one', async () => {
    await home.run(['daemon', 'stop']);
    const daemon = await new ScriptedDaemon(home.store).listen();
    daemon.answers['hello'] = (_, peer) => peer.send({ event: 'bye', restart: false });
    const { code, stderr } = await home.run(['run', '--as', 'bot', '--', 'cat']);
    daemon.close();
    expect(stderr).to.include('The delivery daemon was stopped, so bot on demo gets nothing any more.');
    expect([code, daemon.of('hello').length]).to.deep.equal([1, 1]);
  });

  it('starts the daemon for itself, whatever other commands have started', async () => {
    await home.run(['daemon', 'stop']);
    const starts = Array(5).fill(Date.now());
    mkdirSync(home.path('state'), { recursive: true, mode: 0o700 });
    writeFileSync(home.path('state', 'daemon-starts.json'), JSON.stringify({ command: starts }), { mode: 0o600 });
    const child = home.start(['run', '--as', 'bot', '--', 'cat']);
    await until('the session', () => served());
    child.kill('SIGINT');
    await finished(child);
  });

  it('goes on where the daemon could not note what it said, and says again that its program has the text', async () => {
    await home.run(['daemon', 'stop']);
    const daemon = await new ScriptedDaemon(home.store).listen();
    const id = `hnd_${'0'.repeat(32)}`;
    const full = { error: { code: 'internal', message: 'The disk is full.' } };
    const refused = new Set<unknown>();
    for (const op of ['prompt', 'received'])
      daemon.answers[op] = (_, peer) => {
        if (!refused.has(op)) peer.send(full);
        refused.add(op);
      };
    daemon.answers['hello'] = (_, peer) => {
      peer.send({ event: 'welcome' });
      if (daemon.of('hello').length === 1) peer.send({ event: 'deliver', handoff_id: id, bundle: 'do this' });
    };
    const program = script('cat >>text; until [ -e go ]; do sleep 0.05; done\n');
    const child = home.start(['run', '--as', 'bot', '--', ...program]);
    const ended = () => child.exitCode !== null;
    await until('it is back while its program runs', () => daemon.of('hello').length === 2 || ended());
    writeFileSync(join(home.work, 'go'), '');
    await until('it says it again', () => daemon.of('received').length === 2 || ended());
    expect(daemon.of('received')).to.deep.equal(Array(2).fill({ op: 'received', handoff_id: id }));
    expect(read('text')).to.equal('do this');
    child.kill('SIGINT');
    expect((await finished(child)).code).to.equal(130);
    daemon.close();
  });

  it('says in a reply that was too long for a message how much of it is missing', async () => {
    const program = script('cat >/dev/null; i=0; while [ $i -lt 4000 ]; do i=$((i+1)); echo "line $i"; done\n');
    home.start(['run', '--as', 'bot', '--reply', '--', ...program]);
    await until('the session', () => served());
    const seq = await say('count');
    const replies = async () => (await home.json(['read', '-b', 'demo', '--after', String(seq)])).messages;
    await until('the reply', async () => (await replies()).length > 0);
    const [{ body }] = await replies();
    expect(body.length).to.be.within(32_000, 32_768);
    const [, last, left] = /\nline (\d+)\n\[(\d+) lines, \d+ characters left out\]$/.exec(body)!;
    expect(Number(last) + Number(left)).to.equal(4_000);
  });

  it('tries again what failed, each time later, and posts one reply', async () => {
    const program = script('echo x >>tries; [ "$(wc -l <tries)" -ge 3 ] || exit 1; echo "Done: tested."\n');
    const child = home.start(['run', '--as', 'bot', '--reply', '--', ...program]);
    await until('the session', () => served());
    const seq = await say('please');
    await until('the acknowledgement', async () => (await unread()) === 0);
    expect(read('tries')).to.equal('x\nx\nx\n');
    const { replies } = await home.json(['board', 'thread', String(seq), '-b', 'demo']);
    expect(replies.map(({ body, from }: { body: string; from: { name: string } }) => [from.name, body])).to.deep.equal([
      ['bot', 'Done: tested.'],
    ]);
    child.kill('SIGTERM');
    await until('its end', () => child.exitCode !== null);
  });

  it('says when what failed is not tried again', async () => {
    const daemon = await delivering(3);
    const child = home.start(['run', '--as', 'bot', '--', ...script('exit 1\n')]);
    const printed = collect(child);
    for (let n = 2; n < 5; n++) {
      await until(`failure ${n}`, () => daemon.of('turn_end').length === n);
      expect(printed().stderr).not.to.include('failures in a row');
      daemon.again();
    }
    await until('the last failure', () => daemon.of('turn_end').length === 5);
    child.kill('SIGTERM');
    await finished(child);
    expect(printed().stderr).to.include('That was 5 failures in a row: what it was given stays unread');
    daemon.close();
  });

  it('counts no attempt, and keeps the answer, while its board is archived', async () => {
    const seq = await say('please');
    const daemon = await delivering(seq);
    const program = script('echo x >>tries; until [ -e go ]; do sleep 0.05; done; echo "Done: tested."\n');
    const child = home.start(['run', '--as', 'bot', '--reply', '--', ...program]);
    await until('the program', () => there('tries'));
    const printed = collect(child);
    await home.json(['board', 'archive', 'demo', '--yes']);
    writeFileSync(join(home.work, 'go'), '');
    await until('the second try', () => daemon.of('turn_end').length === 2);
    expect(daemon.of('failed').map(({ later }) => later)).to.deep.equal([true, true]);
    expect(printed().stderr.match(/The reply could not be posted, and is kept until it can be: /g)).to.have.length(1);
    await home.json(['board', 'restore', 'demo', '--yes']);
    daemon.again();
    await until('it counts as received', () => daemon.of('received').length === 1);
    const { replies } = await home.json(['board', 'thread', String(seq), '-b', 'demo']);
    expect(replies.map(({ body }: { body: string }) => body)).to.deep.equal(['Done: tested.']);
    expect(read('tries')).to.equal('x\n');
    child.kill('SIGTERM');
    await finished(child);
    daemon.close();
  });

  it('acknowledges what was answered to somebody who has left, and goes on', async () => {
    const ana = await at.server.person('ana');
    await home.json(['board', 'add', 'ana', '-b', 'demo']);
    const program = script('echo x >>tries; until [ -e go ]; do sleep 0.05; done; echo "Done: tested."\n');
    const child = home.start(['run', '--as', 'bot', '--reply', '--', ...program]);
    const printed = collect(child);
    await until('the session', () => served());
    await ana.ok('postMessage', { params: { board: 'demo' }, body: { body: 'please', to: ['@bot'] } });
    await until('the program', () => there('tries'));
    await ana.ok('removeBoardPerson', { params: { board: 'demo', handle: 'ana' } });
    writeFileSync(join(home.work, 'go'), '');
    await until('the acknowledgement', async () => (await unread()) === 0);
    expect(printed().stderr).to.include('The reply could not be posted: Nobody else is in this thread.');
    const seq = await say('and now?');
    await until('the acknowledgement', async () => (await unread()) === 0);
    const { replies } = await home.json(['board', 'thread', String(seq), '-b', 'demo']);
    expect(replies.map(({ body }: { body: string }) => body)).to.deep.equal(['Done: tested.']);
    child.kill('SIGTERM');
    await finished(child);
  });

  it('counts no attempt, and keeps the answer, while the server is away', async () => {
    const daemon = await delivering(3);
    const program = script('echo x >>tries; until [ -e go ]; do sleep 0.05; done; echo "Done."\n');
    const child = home.start(['run', '--as', 'bot', '--reply', '--', ...program]);
    await until('the program', () => there('tries'));
    await at.server.stop();
    writeFileSync(join(home.work, 'go'), '');
    await until('the second try', () => daemon.of('failed').length === 2, 60_000);
    expect(daemon.of('failed').map(({ later }) => later)).to.deep.equal([true, true]);
    expect(read('tries')).to.equal('x\n');
    child.kill('SIGTERM');
    await finished(child);
    daemon.close();
    await home.close();
    // What is closed after each test.
    at = await hosted();
    home = at.home;
  });

  it('has its answer when it ends, also where what it started keeps its output open', async () => {
    const program = script('setsid sleep 60 & echo $! >>started; echo "Done."\n');
    home.start(['run', '--as', 'bot', '--reply', '--', ...program]);
    await until('the session', () => served());
    const seq = await say('please');
    await until('the acknowledgement', async () => (await unread()) === 0);
    const { replies } = await home.json(['board', 'thread', String(seq), '-b', 'demo']);
    expect(replies.map(({ body }: { body: string }) => body)).to.deep.equal(['Done.']);
    const [pid, ...more] = read('started').trim().split('\n').map(Number);
    process.kill(pid!);
    expect(more).to.deep.equal([]);
  });

  it('keeps from its program what stands in the environment for its person', async () => {
    const program = script('env >env\n');
    home.start(['run', '--as', 'bot', '--', ...program], {
      env: { SERVICE_BOARD: 'other', SERVICE_DB: 'postgres://dana:secret@db.example/board' },
    });
    await until('the session', () => served());
    await say('please');
    await until('the acknowledgement', async () => (await unread()) === 0);
    expect(read('env')).not.to.match(/^SERVICE_(BOARD|DB)=/m);
  });

  it('lets its program act as the agent also where another server has one of the same name', async () => {
    await say('please');
    const path = join(home.store, 'config', 'credentials.json');
    const saved = JSON.parse(readFileSync(path, 'utf8'));
    const [entry] = Object.values<{ seats: object }>(saved.servers);
    const [seat] = Object.values(entry!.seats);
    saved.servers['https://other.example.com'] = { ...entry, server_id: 'srv_other', seats: { mem_other: seat } };
    writeFileSync(path, JSON.stringify(saved));
    const program = script('service status --json >said\n');
    const one = ['run', '--as', 'bot', '--', ...program];
    expect((await home.run(one)).stderr).to.contain(`--as bot@demo --server ${at.url}\n`);
    home.start([...one.slice(0, 3), '--server', at.url, ...one.slice(3)]);
    await until('it has run', () => there('said') && read('said').endsWith('}\n'));
    expect(JSON.parse(read('said')).error).to.equal(undefined);
  });

  it('tells a program that posts nothing of what it was just given', async () => {
    const program = script(
      'service say -b demo --reply "$(sed -n \'s/.* seq="\\([0-9]*\\)".*/\\1/p\' | tail -1)" done --json >said\n',
    );
    const child = home.start(['run', '--as', 'bot', '--', ...program]);
    await until('the session', () => served());
    await say('please');
    await until('what it said', () => there('said') && read('said') !== '');
    expect(JSON.parse(read('said')).unread).to.deep.equal({ count: 0, seqs: [], from: [] });
    child.kill('SIGTERM');
    await until('its end', () => child.exitCode !== null);
  });

  it('gives the same again after it was killed in the middle', async () => {
    const program = script('cat >text-$$; echo >>tries; sleep 30\n');
    const first = home.start(['run', '--as', 'bot', '--', ...program]);
    await until('the session', () => served());
    await say('once more');
    await until('the first run', () => there('tries'));
    first.kill('SIGKILL');
    const second = home.start(['run', '--as', 'bot', '--idle-exit', '1s', '--', ...script('cat >again\n')]);
    await until('the second run', () => there('again') && read('again') !== '');
    expect(read('again')).to.include('once more');
    await until('its end', () => second.exitCode !== null);
    expect([second.exitCode, await unread()]).to.deep.equal([0, 0]);
  });

  it('starts no second program beside what one of a killed runner has started', async () => {
    const begin = (text: string) => home.start(['run', '--as', 'bot', '--', ...script(text)]);
    const pids = () => (there('pids') ? read('pids').trim().split('\n').map(Number) : []);
    // The shell ends at SIGTERM, what it runs does not.
    const first = begin(`sh -c 'trap "" TERM; echo $$ >>pids; exec tail -f /dev/null'; echo ended\n`);
    await until('the session', () => served());
    await say('please');
    await until('the program', () => pids().length === 1);
    first.kill('SIGKILL');
    await until('its end', () => first.signalCode !== null);
    const second = begin('echo $$ >>pids; exec tail -f /dev/null\n');
    await until('the next program', () => pids().length === 2);
    const left = processRef(pids()[0]!);
    second.kill('SIGTERM');
    await finished(second);
    expect(left).to.equal(null);
  });

  it('starts no second program beside the one that runs, where the daemon was started again meanwhile', async () => {
    const program = script(
      'cat; echo begun >>tries; for n in $(seq 200); do [ -e go ] && break; sleep 0.05; done; rm go; echo ended >>tries; exit 1\n',
    );
    const child = home.start(['run', '--as', 'bot', '--', ...program]);
    await until('the session', () => served());
    await say('the first');
    await until('the first run', () => there('tries'));
    const { pid } = JSON.parse((await home.run(['daemon', 'status', '--json'])).stdout);
    process.kill(pid, 'SIGKILL');
    // With another line above it the bundle has another id.
    await home.json(['agent', 'delivery', 'all', '--as', 'bot@demo']);
    await say('the second');
    const turn = async (): Promise<string> =>
      JSON.parse((await home.run(['daemon', 'status', '--json'])).stdout || '{}').sessions?.[0]?.turn;
    await until('the new daemon knows that it runs', async () => (await turn()) === 'busy');
    writeFileSync(join(home.work, 'go'), '');
    await until('the next run', () => read('tries').split('begun').length === 3);
    expect(read('tries')).to.equal('begun\nended\nbegun\n');
    child.kill('SIGINT');
    await finished(child);
    expect(readFileSync(home.path('state', 'daemon.log'), 'utf8')).to.include('handoff_retry');
  });

  it('starts two programs that answer each other no oftener than the limit, and for a person at once', async () => {
    await home.json(['agent', 'create', 'other', '--board', 'demo']);
    const program = script('cat >>"$1-texts"; echo >>"$1-runs"; echo "Answer $(wc -l <"$1-runs")."\n');
    const begin = (name: string) =>
      collect(home.start(['run', '--as', name, '--reply', '--max-runs', '3/1h', '--', ...program, name]));
    const runs = (name: string) => (there(`${name}-runs`) ? read(`${name}-runs`).length : 0);
    const [bot, other] = [begin('bot'), begin('other')];
    await until('both sessions', () => served(2));
    await home.json(['say', 'go', '-b', 'demo', '--as', 'other', '--to', '@bot', '--no-notes']);
    const told =
      /Agents’ messages have started the program 3 times in 1h, so those wait until .*\. What a person writes starts it at once\.\n/;
    await until('the first pauses', () => told.test(bot().stderr));
    expect([runs('bot'), runs('other')]).to.deep.equal([3, 3]);
    await say('enough');
    await until('the run for a person', () => runs('bot') === 4 && read('bot-texts').includes('enough'));
    // What waited came with it.
    expect(read('bot-texts')).to.include('Answer 3.');
    await until('all is acknowledged', async () => (await unread()) === 0);
    expect([runs('bot'), runs('other'), other().stderr]).to.deep.equal([4, 3, '']);
    expect(bot().stderr.split('\n')).to.have.length(2);
  });

  it('holds two programs that answer each other until a person lets them go on', async () => {
    await home.json(['agent', 'create', 'other', '--board', 'demo']);
    await home.json(['board', 'policy', '--board', 'demo', '--set', 'agent_run=4/8']);
    const program = script('cat >>"$1-texts"; echo >>"$1-runs"; echo "Answer $(wc -l <"$1-runs")."\n');
    const begin = (name: string) =>
      collect(home.start(['run', '--as', name, '--reply', '--max-runs', 'off', '--', ...program, name]));
    const runs = () =>
      ['bot', 'other'].reduce((sum, name) => sum + (there(`${name}-runs`) ? read(`${name}-runs`).length : 0), 0);
    const [bot, other] = [begin('bot'), begin('other')];
    await until('both sessions', () => served(2));
    const { message: root } = await home.json([
      'say',
      'go',
      '-b',
      'demo',
      '--as',
      'other',
      '--to',
      '@bot',
      '--no-notes',
    ]);
    const held = () => `${bot().stderr}${other().stderr}`.match(/The reply is held/g)?.length ?? 0;
    await until('the hold', () => held() === 1);
    // The first message and seven replies woke somebody; the ninth message is held.
    expect(runs()).to.equal(8);
    const waiting = await home.json(['inbox']);
    expect(
      waiting.needs.map(({ kind, agents, agent_run }: { kind: string; agents: string[]; agent_run: number }) => [
        kind,
        agents,
        agent_run,
      ]),
    ).to.deep.equal([['thread_held', ['bot', 'other'], 9]]);
    expect((await home.run(['inbox'])).stdout).to.include(`Next: service thread continue ${root.seq} --board demo`);
    await home.run(['thread', 'continue', String(root.seq), '--board', 'demo']);
    await until('eight more', () => held() === 2);
    expect(runs()).to.equal(16);
    await home.json(['say', 'enough', '-b', 'demo', '--reply', String(root.seq), '--no-notes']);
    await until('the hold after a word of the person', () => held() >= 3);
    expect((await home.json(['inbox'])).needs).to.have.length(1);
    const { replies } = await home.json(['board', 'thread', String(root.seq), '--board', 'demo']);
    expect(replies.length).to.be.greaterThan(20);
  });

  it('ends with the code of a shell where the program is not there, or cannot be run', async () => {
    writeFileSync(join(home.work, 'plain'), 'no program');
    for (const [program, code, what] of [
      ['./nonexistent', 127, 'There is no program ./nonexistent'],
      ['nonexistent', 127, 'There is no program nonexistent'],
      ['./plain', 126, './plain is no program that may be run'],
    ] as const) {
      const ended = await home.run(['run', '--as', 'bot', '--', program]);
      expect([ended.code, ended.stderr.includes(what)], ended.stderr).to.deep.equal([code, true]);
    }
  });

  it('ends when three starts in a row failed in that way, and leaves the message unread', async () => {
    home.program('goes', 'echo x >>tries; rm -f "$0"; exit 1');
    const child = home.start(['run', '--as', 'bot', '--', 'goes']);
    const printed = collect(child);
    await until('the session', () => served());
    await say('please');
    await until('its end', () => child.exitCode !== null);
    expect([child.exitCode, read('tries'), await unread()]).to.deep.equal([127, 'x\n', 1]);
    expect(printed().stderr).to.include('Error (start_failed): The program could not be started 3 times in a row: ');
    const inShell = home.start(['run', '--as', 'bot', '--', '/bin/sh', '-c', './nonexistent']);
    await until('its end too', () => inShell.exitCode !== null);
    expect(inShell.exitCode).to.equal(127);
  });

  it('gives it as an argument or a file of its own', async () => {
    const program = script('printf "%s" "$1" >arg; cp "$2" file; stat -c %a "$2" >mode\n');
    const child = home.start(['run', '--as', 'bot', '--input', 'file', '--', ...program, '{bundle}', '{bundle_file}']);
    await until('the session', () => served());
    await say('$(touch hacked) "quoted"');
    await until('the file', () => there('mode') && read('mode') !== '');
    expect(read('file')).to.equal(read('arg'));
    expect(read('arg')).to.include('$(touch hacked) "quoted"');
    expect(read('mode')).to.equal('600\n');
    expect(there('hacked')).to.equal(false);
    child.kill('SIGTERM');
    await until('its end', () => child.exitCode !== null);
  });

  it('needs a seat, a program, and names in braces that fit', async () => {
    for (const args of [
      ['--', 'true'],
      ['--as', 'bot'],
      ['--as', 'bot', '--input', 'arg', '--', 'true'],
      ['--as', 'bot', '--timeout', 'soon', '--', 'true'],
    ])
      expect((await home.run(['run', ...args])).code, args.join(' ')).to.equal(2);
    const inside = await home.run(['run', '--as', 'bot', '--', 'true'], { env: { CLAUDECODE: '1' } as never });
    expect(inside.stderr).to.equal(
      'Error (agent_seat_elsewhere): The runner serves a seat of this machine, from outside a session.\n' +
        'Hint: Make one: service agent create NAME --board BOARD; then name it with --as\n',
    );
  });
});
