/** The entry that harnesses run, as the built program. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ScriptedDaemon } from '../daemon/support/scripted-daemon.ts';
import { collect, finished, type Result, root, until } from './support/home.ts';

const session = 'c0ffee-1';
const handoff = `hnd_${'a'.repeat(32)}`;

describe('a hook', () => {
  let daemon: ScriptedDaemon;
  beforeEach(async () => {
    daemon = await new ScriptedDaemon().listen();
  });
  afterEach(() => daemon.close());

  const environment = () => ({
    PATH: process.env.PATH ?? '',
    HOME: daemon.home,
    SERVICE_HOME: daemon.home,
    SERVICE_NO_AUTOSTART: '1',
  });
  function begin(args: string[], input: string | null, env: Record<string, string> = {}) {
    const child = spawn(process.execPath, [join(root, 'bin', 'run.js'), 'hook', ...args], {
      env: { ...environment(), ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    child.stdin.on('error', () => {});
    if (input !== null) child.stdin.end(input);
    return child;
  }
  const hook = (args: string, input: object | string, env?: Record<string, string>): Promise<Result> =>
    finished(begin(args.split(' '), typeof input === 'string' ? input : JSON.stringify(input), env));
  const of = (event: string, more: object = {}) => ({
    session_id: session,
    hook_event_name: event,
    cwd: '/work',
    ...more,
  });

  it('that is a door prints each text for its program, says that it was taken, and outlives its daemon', async () => {
    let doors = 0;
    daemon.answers['door'] = (_frame, peer) => {
      doors++;
      peer.send({ event: 'waiting' });
      if (doors === 1) {
        peer.send({ event: 'deliver', handoff_id: handoff, bundle: 'its person says so', as_user: true });
      } else {
        peer.send({ event: 'deliver', bundle: 'of others\u001b[2J' });
        peer.send({ event: 'release' });
      }
    };
    const over = finished(begin(['claude-code', 'door'], null));
    await until('it was taken', () => daemon.of('received').length === 1);
    daemon.crash();
    await daemon.listen();
    const { code, stdout, stderr } = await over;
    expect([code, stderr, doors]).to.deep.equal([0, '', 2]);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines[0]).to.deep.equal({ text: 'its person says so', as_user: true });
    expect(lines[1].as_user).to.equal(false);
    expect(lines[1].text).to.include('of others').and.not.include('\u001b');
    expect(daemon.frames[0]).to.deep.include({ op: 'door', harness: 'claude-code' });
    expect((daemon.frames[0]!['process'] as { pid: number }).pid).to.equal(process.pid);
  });

  describe('never stops its harness', () => {
    it('by a command line, an input or an event that it cannot use', async () => {
      const cases: [string, string][] = [
        ['', '{}'],
        ['claude-code', '{}'],
        ['claude-code prompt more', '{}'],
        ['claude-code sing', '{}'],
        ['nobody prompt', '{}'],
        ['claude-code prompt', 'no json'],
        ['claude-code prompt', '[]'],
        ['claude-code prompt', `{"prompt":"${'x'.repeat(4 * 1024 * 1024)}"}`],
      ];
      for (const [args, input] of cases) {
        const { code, stdout, stderr } = await finished(begin(args.split(' ').filter(Boolean), input));
        expect([code, stdout], args + input.slice(0, 20)).to.deep.equal([0, '']);
        expect(stderr, args).to.match(/^service hook: [^\n]+\n$/);
      }
      expect(daemon.frames).to.deep.equal([]);
    });

    it('by an input that does not end', async () => {
      const child = begin(['claude-code', 'prompt'], null);
      const { code, stderr } = await finished(child);
      expect([code, stderr]).to.deep.equal([0, 'service hook: standard input was not complete within 2 seconds\n']);
    });

    it('by an invalid session', async () => {
      for (const session_id of [undefined, 7, '', '../x', 'x'.repeat(201)])
        expect(await hook('claude-code prompt', { session_id })).to.deep.equal({ code: 0, stdout: '', stderr: '' });
      expect(daemon.frames).to.deep.equal([]);
    });

    it('by a daemon that refuses, that is away, or whose socket is not safe', async () => {
      daemon.answers.turn_start = (_, peer) =>
        peer.send({ error: { code: 'internal', message: 'no\nspace\u001b[2J left' } });
      const refused = await hook('claude-code prompt', of('UserPromptSubmit'));
      expect(refused).to.deep.equal({ code: 0, stdout: '', stderr: 'service hook: no space\ufffd[2J left\n' });
      daemon.crash();
      expect((await hook('claude-code prompt', of('UserPromptSubmit'))).code).to.equal(0);
      writeFileSync(join(daemon.state, 'daemon.sock'), '', { mode: 0o644 });
      const unsafe = await hook('codex turn-end', of('Stop'));
      expect([unsafe.code, unsafe.stdout]).to.deep.equal([0, '']);
      expect(unsafe.stderr).to.include('is no socket');
    });
  });

  describe('at a prompt', () => {
    it('says nothing when there is nothing', async () => {
      const result = await hook('claude-code prompt', of('UserPromptSubmit', { prompt: 'top secret plan' }));
      expect(result).to.deep.equal({ code: 0, stdout: '', stderr: '' });
      const [{ process: harness, started, ...frame }] = daemon.of('turn_start') as [Record<string, unknown>];
      expect(frame).to.deep.equal({ op: 'turn_start', harness: 'claude-code', session, cwd: '/work' });
      expect(harness).to.include({ pid: process.pid });
      expect(started).to.be.a('number');
      expect(JSON.stringify(daemon.frames)).not.to.include('secret');
    });

    it('prints what waited as one JSON object, in order, and takes it only then', async () => {
      let printed = '';
      daemon.answers.turn_start = (_, peer) =>
        peer.send({ handoff_id: handoff, notice: 'three', bundle: 'two', nudge: 'one' });
      const child = begin(['codex', 'prompt'], JSON.stringify(of('UserPromptSubmit', { turn_id: 't-9' })));
      child.stdout.on('data', (part) => {
        printed += part;
      });
      const { code } = await finished(child);
      expect(code).to.equal(0);
      expect(JSON.parse(printed)).to.deep.equal({
        hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: 'one\ntwo\nthree' },
      });
      expect(daemon.frames.map(({ op, handoff_id }) => [op, handoff_id])).to.deep.equal([
        ['turn_start', undefined],
        ['received', handoff],
      ]);
      expect(daemon.frames[0]).to.include({ harness_turn: 't-9' });
    });

    it('takes nothing when nobody reads what it prints', async () => {
      daemon.answers.turn_start = (_, peer) => peer.send({ handoff_id: handoff, bundle: 'x'.repeat(200_000) });
      const child = begin(['claude-code', 'prompt'], null);
      child.stdout.destroy();
      child.stdin.end(JSON.stringify(of('UserPromptSubmit')));
      expect((await once(child, 'exit'))[0]).to.equal(0);
      expect(daemon.of('received')).to.deep.equal([]);
    });

    it('tells which bundle came back as the prompt, and which launch ticket it names', async () => {
      const prompt = `service: 1 message on b.\n<service-messages handoff="${handoff}" board="b" seat="s" count="1">`;
      await hook('claude-code prompt', of('UserPromptSubmit', { prompt }));
      expect(daemon.frames[0]).to.include({ wake: true, handoff_id: handoff });
      const ticket = `lch_${'b'.repeat(24)}`;
      await hook('codex prompt', of('UserPromptSubmit', { prompt: `You are x: service status --launch ${ticket}\n` }));
      expect(daemon.frames[1]).to.include({ launch: ticket });
      await hook('codex prompt', of('UserPromptSubmit', { prompt: `first line\n${ticket}` }));
      expect(daemon.frames[2]).not.to.have.property('launch');
    });
  });

  describe('at a session’s start', () => {
    const start = (more: object = {}, env: Record<string, string> = {}) => {
      const file = join(daemon.home, 'env');
      writeFileSync(file, 'export OTHER=1\n');
      daemon.answers.register = (frame, peer) =>
        peer.send({ boot: frame.boot ?? 'feedfeedfeedfeed', note: 'You are x.' });
      return hook('claude-code session-start', of('SessionStart', more), { CLAUDE_ENV_FILE: file, ...env });
    };
    const exported = () => readFileSync(join(daemon.home, 'env'), 'utf8');

    it('registers it with a new boot, prints the note and gives its commands their identity', async () => {
      const result = await start({ source: 'startup' }, { CLAUDE_CONFIG_DIR: '/conf' });
      expect(JSON.parse(result.stdout).hookSpecificOutput).to.deep.equal({
        hookEventName: 'SessionStart',
        additionalContext: 'You are x.',
      });
      const [frame] = daemon.of('register');
      expect(frame).to.include({ source: 'startup', config_dir: '/conf' });
      expect(frame!.boot).to.match(/^[0-9a-f]{16}$/);
      expect(exported()).to.equal(
        `export OTHER=1\nexport SERVICE_SESSION=claude-code:${session}\nexport SERVICE_BOOT=${frame!.boot}\n`,
      );
    });

    it('keeps the boot when it was compacted', async () => {
      await start({ source: 'compact' });
      expect(daemon.of('register')[0]).not.to.have.property('boot');
      expect(exported()).to.include('SERVICE_BOOT=feedfeedfeedfeed\n');
    });

    it('drops the identity of another harness that it runs in', async () => {
      await start({}, { CODEX_THREAD_ID: 't', CODEX_SESSION_ID: 't' });
      expect(exported()).to.match(/unset CODEX_THREAD_ID\nunset CODEX_SESSION_ID\n$/);
    });

    it('gives the identity also when the daemon cannot be asked, and hands in a launch ticket', async () => {
      await start({}, { SERVICE_LAUNCH: `lch_${'c'.repeat(24)}` });
      expect(daemon.of('register')[0]!.launch).to.equal(`lch_${'c'.repeat(24)}`);
      daemon.crash();
      expect((await start()).code).to.equal(0);
      expect(exported()).to.match(/SERVICE_SESSION=claude-code:c0ffee-1\nexport SERVICE_BOOT=[0-9a-f]{16}\n$/);
    });
  });

  describe('whose daemon goes away before it answers', () => {
    /** The first to ask meets what is told; the next one is answered. */
    const once = (first: (peer: { send(frame: object): void; close(): void }) => void) => {
      let asked = 0;
      daemon.answers.turn_start = (_, peer) => {
        asked++;
        if (asked === 1) first(peer);
        else peer.send({ handoff_id: handoff, bundle: 'what waited' });
      };
      return () => asked;
    };
    for (const [how, first] of [
      ['is killed', (peer) => peer.close()],
      ['is being replaced', (peer) => peer.send({ event: 'bye', restart: true })],
      [
        'refuses because it is being replaced',
        (peer) => peer.send({ error: { code: 'daemon_stopping', message: 'stopping', details: { restart: true } } }),
      ],
    ] as [string, Parameters<typeof once>[0]][])
      it(`asks the next one, where it ${how}`, async () => {
        const asked = once(first);
        const { code, stdout } = await hook('claude-code prompt', of('UserPromptSubmit', { prompt: 'x' }));
        expect([code, asked()]).to.deep.equal([0, 2]);
        expect(stdout).to.contain('what waited');
        expect(daemon.of('received')).to.have.length(1);
      });
    for (const [how, first] of [
      ['is stopped', (peer) => peer.send({ event: 'bye', restart: false })],
      [
        'refuses because it is stopped',
        (peer) => peer.send({ error: { code: 'daemon_stopping', message: 'stopping' } }),
      ],
    ] as [string, Parameters<typeof once>[0]][])
      it(`leaves it so, where it ${how}`, async () => {
        const asked = once(first);
        const { code, stdout } = await hook('claude-code prompt', of('UserPromptSubmit', { prompt: 'x' }));
        expect([code, stdout, asked()]).to.deep.equal([0, '', 1]);
      });
  });

  it('of a session that the daemon does not know makes it known first', async () => {
    let known = false;
    daemon.answers.register = (_, peer) => {
      known = true;
      peer.send({ boot: 'feedfeedfeedfeed' });
    };
    daemon.answers.boundary = (_, peer) =>
      known ? peer.send({ notice: 'n' }) : peer.send({ error: { code: 'session_unknown', message: 'no' } });
    expect((await hook('claude-code tool', of('PostToolBatch'))).stdout).to.include('"additionalContext":"n"');
    expect(daemon.frames.map(({ op }) => op)).to.deep.equal(['boundary', 'register', 'boundary']);
  });

  describe('at a tool call', () => {
    it('names what it can take, prints the context under the event’s own name, and tells a plan', async () => {
      daemon.answers.boundary = (_, peer) => peer.send({ notice: 'waiting' });
      const todos = [
        { content: 'a', status: 'completed', activeForm: 'A' },
        { content: 'b', status: 'in_progress', activeForm: `Doing\n${'b'.repeat(200)}` },
        { content: 'c', status: 'pending', activeForm: 'C' },
      ];
      const call = { tool_name: 'TodoWrite', tool_input: { todos } };
      const { stdout } = await hook('claude-code tool', of('PostToolUse', call));
      expect(JSON.parse(stdout).hookSpecificOutput).to.deep.equal({
        hookEventName: 'PostToolUse',
        additionalContext: 'waiting',
      });
      expect(daemon.of('boundary')[0]!.capabilities).to.deep.equal(['midturn-peer']);
      const plan = { text: `Doing ${'b'.repeat(114)}`, done: 1, total: 3 };
      expect(daemon.of('plan').map((frame) => frame.plan)).to.deep.equal([plan]);
      await hook(
        'claude-code tool',
        of('PostToolBatch', { tool_calls: [{ tool_name: 'Bash', tool_input: {} }, call] }),
      );
      expect(daemon.of('plan')).to.have.length(2);
      await hook('claude-code tool', of('PostToolBatch', { tool_name: 'Bash', tool_input: { command: 'x' } }));
      expect(daemon.of('plan')).to.have.length(2);
    });
  });

  it('at a turn’s end continues it with what came, and says whether it was continued before', async () => {
    daemon.answers.turn_end = (_, peer) => peer.send({ handoff_id: handoff, bundle: 'B' });
    const { stdout } = await hook('codex turn-end', of('Stop', { stop_hook_active: true }));
    expect(JSON.parse(stdout)).to.deep.equal({ decision: 'block', reason: 'B' });
    expect(daemon.frames[0]).to.include({ stop_active: true });
    expect(daemon.of('received')).to.have.length(1);
  });

  it('that asks its person tells what, as far as its program does, and the pane of tmux it is in', async () => {
    const bin = join(daemon.home, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'tmux'), '#!/bin/sh\n[ "$4" = %3 ] && echo work:1.0\n', { mode: 0o755 });
    const inTmux = { TMUX: '/tmp/tmux-1/default,1,0', TMUX_PANE: '%3', PATH: `${bin}:${process.env['PATH']}` };
    const asks = (command: string) => ({ tool_name: 'Bash', tool_input: { description: 'Builds', command } });
    const elicitation = { mcp_server_name: 'deploy', message: 'Which region?' };
    const questions = [{ question: 'Which name?' }, { question: 'Which place?' }, {}];
    for (const [harness, event, more, expected, env] of [
      ['claude-code', 'PermissionRequest', asks('make\n\tall'), { what: 'permission', question: 'Bash: make all' }],
      ['claude-code', 'PermissionRequest', { tool_name: 'Mystery', tool_input: { a: 1 } }, { question: 'Mystery' }],
      [
        'claude-code',
        'PermissionRequest',
        { tool_name: 'AskUserQuestion', tool_input: { questions } },
        { what: 'question', question: 'Which name? / Which place?' },
      ],
      ['claude-code', 'Elicitation', elicitation, { what: 'question', question: 'deploy: Which region?' }],
      [
        'claude-code',
        'Notification',
        { notification_type: 'permission_prompt', message: 'It needs your permission' },
        { what: 'permission', question: undefined },
      ],
      ['claude-code', 'PermissionRequest', asks('make'), { where: 'tmux work:1.0' }, inTmux],
      ['claude-code', 'PermissionRequest', asks('make'), { where: 'tmux %4' }, { ...inTmux, TMUX_PANE: '%4' }],
      ['codex', 'PermissionRequest', asks('make'), { question: 'Bash: make', where: undefined }, inTmux],
      ['codex', 'PermissionRequest', asks('x'.repeat(9_000)), { question: `Bash: ${'x'.repeat(1_994)}` }],
    ] as const) {
      expect(await hook(`${harness} needs-person`, of(event, more), env)).to.include({ stdout: '', code: 0 });
      const frame = { what: undefined, question: undefined, where: undefined, ...daemon.of('needs_person').at(-1) };
      expect(frame).to.deep.include(expected);
    }
  });

  it('at a session’s end tells the reason', async () => {
    expect(await hook('claude-code end', of('SessionEnd', { reason: 'logout' }))).to.include({ code: 0, stdout: '' });
    expect(daemon.frames[0]).to.include({ op: 'end', reason: 'logout' });
  });

  describe('in a subagent', () => {
    const events = [
      'session-start SessionStart',
      'prompt UserPromptSubmit',
      'wait Stop',
      'tool PostToolBatch',
      'end SessionEnd',
    ];
    it('takes nothing and changes nothing', async () => {
      for (const event of events) {
        const [run, name] = event.split(' ') as [string, string];
        const file = join(daemon.home, 'env');
        writeFileSync(file, '');
        const result = await hook(`claude-code ${run}`, of(name, { agent_id: 'sub1' }), { CLAUDE_ENV_FILE: file });
        expect(result, event).to.deep.equal({ code: 0, stdout: '', stderr: '' });
        expect(readFileSync(file, 'utf8')).to.equal('');
      }
      expect(daemon.frames).to.deep.equal([]);
    });

    it('marks commands that run this program, and no other tool call', async () => {
      const bash = (command: unknown, more: object = { agent_id: 'sub1' }) =>
        hook(
          'claude-code mark-subagent',
          of('PreToolUse', { tool_name: 'Bash', tool_input: { command, timeout: 5 }, ...more }),
        );
      for (const command of [
        'service say hi',
        'cd /x && /opt/bin/service read',
        'FOO=1 board-service inbox',
        'echo $(service status)',
        '\\service say hi',
        'npx board-service@1.2.3 say hi',
      ]) {
        expect(JSON.parse((await bash(command)).stdout), command).to.deep.equal({
          hookSpecificOutput: {
            hookEventName: 'PreToolUse',
            updatedInput: { command: `export SERVICE_SUBAGENT=sub1; ${command}`, timeout: 5 },
          },
        });
      }
      for (const command of ['ls', 'systemctl status my-service', 'cat service.yaml', 7])
        expect((await bash(command)).stdout, String(command)).to.equal('');
      expect((await bash('service say hi', {})).stdout).to.equal('');
      expect(daemon.frames).to.deep.equal([]);
    });
  });

  it('marks commands of subagents whatever else is in the input, and by ids of any kind', async () => {
    const marked = async (more: object) => {
      const input = of('PreToolUse', { tool_name: 'Bash', tool_input: { command: 'service say hi' }, ...more });
      const { stdout } = await hook('claude-code mark-subagent', input);
      return JSON.parse(stdout).hookSpecificOutput.updatedInput.command;
    };
    const by = (id: string) => `export SERVICE_SUBAGENT=${id}; service say hi`;
    for (const session_id of [undefined, 7, '../x', 'x'.repeat(201)])
      expect(await marked({ agent_id: 'sub1', session_id })).to.equal(by('sub1'));
    expect(await marked({ agent_id: 'scout@team' })).to.equal(by('scout-team'));
    expect(await marked({ agent_id: '$(touch x);\n' })).to.equal(by('--touch-x---'));
    expect(await marked({ agent_id: 'x'.repeat(300) })).to.equal(by('x'.repeat(200)));
    for (const agent_id of [7, ['sub1'], {}]) expect(await marked({ agent_id })).to.equal(by('unnamed'));
  });

  it('marks a command also where a busy system holds it up beyond its own time limits', async () => {
    // Time runs forty times as fast, and the hook stands still after its limits were set until they are over.
    const hold = join(daemon.home, 'hold.cjs');
    writeFileSync(
      hold,
      `const timer = setTimeout;
      globalThis.setTimeout = (done, ms, ...more) => timer(done, ms / 40, ...more);
      const { on } = process.stdin;
      process.stdin.on = function (event, ...more) {
        if (event === 'end') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
        return on.call(this, event, ...more);
      };`,
    );
    const input = { agent_id: 'sub1', tool_name: 'Bash', tool_input: { command: 'service say hi' } };
    const { code, stdout, stderr } = await hook('claude-code mark-subagent', of('PreToolUse', input), {
      NODE_OPTIONS: `--require ${hold}`,
    });
    expect([code, stderr]).to.deep.equal([0, '']);
    expect(stdout).to.include('SERVICE_SUBAGENT=sub1');
  });

  describe('that waits', () => {
    const waiting = () => begin(['claude-code', 'wait'], JSON.stringify(of('Stop')));
    const deliver = { event: 'deliver', handoff_id: handoff, bundle: 'wake\u001b]52;c;x\u0007 up ❤\ufe0f' };

    it('ends with 2 and the text on standard error, after saying that it took it', async () => {
      daemon.answers.wait = (_, peer) => {
        peer.send({ event: 'waiting', turn_id: 3 });
        peer.send(deliver);
      };
      const { code, stdout, stderr } = await finished(waiting());
      expect([code, stdout, stderr]).to.deep.equal([2, '', 'wake\ufffd]52;c;x\ufffd up ❤\ufe0f\n']);
      expect(daemon.of('received')).to.deep.equal([{ op: 'received', handoff_id: handoff }]);
    });

    it('ends with 0 when it is released, or the daemon goes for good', async () => {
      for (const event of [{ event: 'release' }, { event: 'bye' }]) {
        daemon.answers.wait = (_, peer) => peer.send(event);
        expect(await finished(waiting())).to.deep.equal({ code: 0, stdout: '', stderr: '' });
      }
    });

    it('waits for nobody where its program runs for one prompt, which would not end before it; the turn is over', async () => {
      for (const entry of ['sdk-cli', 'sdk-ts']) {
        const result = await hook('claude-code wait', of('Stop'), { CLAUDE_CODE_ENTRYPOINT: entry });
        expect(result, entry).to.deep.equal({ code: 0, stdout: '', stderr: '' });
      }
      expect([daemon.of('turn_end').length, daemon.of('wait').length]).to.deep.equal([2, 0]);
      daemon.answers.wait = (_, peer) => peer.send({ event: 'release' });
      await hook('claude-code wait', of('Stop'), { CLAUDE_CODE_ENTRYPOINT: 'cli' });
      expect(daemon.of('wait')).to.have.length(1);
    });

    it('comes back after a crash and after an upgrade, and says so', async () => {
      daemon.answers.wait = (_, peer) => peer.send({ event: 'waiting' });
      const child = waiting();
      const printed = collect(child);
      await until('the first wait', () => daemon.of('wait').length === 1);
      daemon.crash();
      daemon.answers.wait = (_, peer) => peer.send({ event: 'bye', restart: true });
      await daemon.listen();
      await until('the second wait', () => daemon.of('wait').length === 2);
      daemon.answers.wait = (_, peer) => peer.send(deliver);
      await until('its end', () => child.exitCode !== null);
      expect(child.exitCode).to.equal(2);
      expect(printed().stderr).to.include('wake');
      expect(daemon.of('wait').map(({ resumed }) => resumed)).to.deep.equal([undefined, true, true]);
    });
  });

  it('of a person’s own profile is found in the config folder', async () => {
    const profile = {
      harness: 'mine',
      name: 'Mine',
      command: 'mine',
      drives: 'reimplementation',
      checks: { installed: { run: ['mine'] } },
      session_env: [],
      identity: { kind: 'none' },
      subagent_identity: 'none',
      lifecycle: { liveness: 'process' },
      delivery: { capabilities: [], hooks: [{ event: 'Gone', run: 'gone', op: 'end', timeout: 5, why: 'w' }] },
      install: [],
    };
    mkdirSync(join(daemon.home, 'config', 'harnesses'), { recursive: true });
    writeFileSync(join(daemon.home, 'config', 'harnesses', 'mine.json'), JSON.stringify(profile));
    expect(await hook('mine gone', of('Gone'))).to.deep.equal({ code: 0, stdout: '', stderr: '' });
    expect(daemon.frames[0]).to.include({ op: 'end', harness: 'mine' });
  });

  it('has no code that could reach a network', () => {
    const source = readFileSync(join(root, 'dist', 'hook.cjs'), 'utf8');
    const loaded = [...source.matchAll(/require\("([^"]+)"\)/g)].map(([, name]) => name!.replace(/^node:/, ''));
    for (const name of ['http', 'https', 'http2', 'tls', 'dgram', 'dns', 'undici']) expect(loaded).not.to.include(name);
    expect(source).not.to.match(/\bfetch\(/);
    // The one connection is to a path.
    expect([...source.matchAll(/\bconnect\)?\(/g)].length).to.be.greaterThan(0);
    expect(source).not.to.match(/\bport\b|localhost|127\.0\.0\.1/);
  });
});
