/** The extension that omp loads, as it is written to disk, in the place of the program that would load it. */
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { socketPath } from '../../src/daemon/control/address.ts';
import { extensionText } from '../../src/harness/setup/extension.ts';
import { until } from '../support/until.ts';
import { type Peer, ScriptedDaemon } from './support/scripted-daemon.ts';

const NOBODY = 65_534;

type Handler = (event: Record<string, unknown>, context: unknown) => unknown;
type Options = { triggerTurn?: boolean; deliverAs?: string };

/** What omp gives to an instance of an extension: one for the person's session, one for each of its subagents. */
class Instance {
  readonly messages: [string, Options][] = [];
  private readonly handlers = new Map<string, Handler>();

  constructor(extension: (pi: unknown) => void) {
    extension({
      on: (event: string, handler: Handler) => this.handlers.set(event, handler),
      sendMessage: ({ content }: { content: string }, options: Options) => this.messages.push([content, options]),
    });
  }

  fire(event: string, fields: object = {}, session: { id?: string; file?: string; spoken?: boolean } = {}) {
    const sessionManager = {
      getSessionId: () => session.id,
      getSessionFile: () => session.file,
      getEntries: () => (session.spoken ? [{ type: 'message' }] : []),
    };
    return this.handlers.get(event)!({ type: event, ...fields }, { sessionManager });
  }

  bash(command: string, toolName = 'bash') {
    return this.fire('tool_call', { toolName, input: { command, timeout: 5 } });
  }
}

describe('the extension of omp', () => {
  let daemon: ScriptedDaemon;
  let extension: (pi: unknown) => void;
  let held: Peer;

  beforeEach(async () => {
    daemon = await new ScriptedDaemon().listen();
    daemon.answers['hello'] = (frame, peer) => {
      held = peer;
      peer.send({ event: 'welcome', boot: frame['boot'], note: frame['resumed'] ? undefined : 'You are x.' });
    };
    const launcher = join(daemon.state, 'bin', 'service');
    mkdirSync(dirname(launcher));
    // Stands in for the command that starts the daemon: it leaves a mark.
    writeFileSync(launcher, `#!/bin/sh\necho started >> '${daemon.home}/starts'\n`, { mode: 0o755 });
    const file = join(daemon.home, 'service.mjs');
    writeFileSync(file, extensionText(launcher, '9.9.9'));
    extension = (await import(pathToFileURL(file).href)).default;
  });
  afterEach(() => {
    daemon.close();
    for (const name of ['SERVICE_SESSION', 'SERVICE_BOOT', 'SERVICE_NO_AUTOSTART']) delete process.env[name];
  });

  const opened = async (session: { id: string; file?: string; spoken?: boolean } = { id: 'one' }) => {
    const instance = new Instance(extension);
    await instance.fire('session_start', {}, session);
    await until(() => instance.messages.length === 1, 'the welcome');
    return instance;
  };

  it('says which session it is for, and lends its identity to commands that run this program', async () => {
    const instance = await opened({ id: 'one', spoken: true });
    const [hello] = daemon.of('hello');
    expect(hello).to.include({ harness: 'omp', session: 'one', source: 'resume', extension_version: '9.9.9' });
    expect(instance.messages).to.deep.equal([['You are x.', { triggerTurn: false }]]);
    const env = { SERVICE_SESSION: 'omp:one', SERVICE_BOOT: hello!['boot'] };
    expect(await instance.bash('cd x && service inbox')).to.deep.equal({
      input: { command: 'cd x && service inbox', timeout: 5, env },
    });
    expect(process.env).to.include(env);
    expect(await instance.bash('systemctl status my-service')).to.equal(undefined);
    expect(await instance.bash('service inbox', 'write')).to.equal(undefined);
    await instance.fire('session_shutdown');
  });

  it('in a subagent connects to nobody and changes nothing but the commands that run this program', async () => {
    const file = join(daemon.home, 'session.jsonl');
    writeFileSync(file, '');
    const main = await opened({ id: 'one', file });
    for (const session of [{ id: 'sub', file: join(daemon.home, 'session', 'Helper.jsonl') }, { id: 'sub' }]) {
      const inner = new Instance(extension);
      await inner.fire('session_start', {}, session);
      for (const event of ['before_agent_start', 'agent_start', 'tool_execution_end', 'agent_end'])
        expect(await inner.fire(event), event).to.equal(undefined);
      const marked = (await inner.bash('service say hi')) as { input: { command: string; env: object } };
      expect(marked.input.command).to.equal('export SERVICE_SUBAGENT=sub; service say hi');
      expect(marked.input.env).to.include({ SERVICE_SESSION: 'omp:one' });
      await inner.fire('session_shutdown');
    }
    expect(daemon.frames.map(({ op }) => op)).to.deep.equal(['hello']);
    expect(process.env['SERVICE_SESSION']).to.equal('omp:one');
    await main.fire('session_shutdown');
  });

  it('marks the commands of subagents however they name this program, and before it is told their session', async () => {
    const main = await opened();
    const inner = new Instance(extension);
    for (const id of ['unnamed', 'sub']) {
      if (id === 'sub') await inner.fire('session_start', {}, { id });
      for (const command of ['"service" say hi', '`service say hi`', '\\service say hi', 'npx board-service@1.2.3 say'])
        expect(await inner.bash(command), command)
          .to.have.nested.property('input.command')
          .equal(`export SERVICE_SUBAGENT=${id}; ${command}`);
      expect(await inner.bash('cat service.yaml')).to.equal(undefined);
    }
    expect(await main.bash('"service" say hi'))
      .to.have.nested.property('input.command')
      .equal('"service" say hi');
    await main.fire('session_shutdown');
    expect(await new Instance(extension).bash('service say hi')).to.equal(undefined);
  });

  it('leaves its session while the conversation of a subagent is open in its place, and comes back whole', async () => {
    const file = join(daemon.home, 'session.jsonl');
    writeFileSync(file, '');
    const instance = await opened({ id: 'one', file });
    await instance.fire(
      'session_switch',
      { reason: 'resume' },
      { id: 'sub', file: join(daemon.home, 'session', 'a.jsonl') },
    );
    await until(() => daemon.of('goodbye').length === 1, 'the goodbye');
    const marked = (await instance.bash('service say hi')) as { input: { command: string } };
    expect(marked.input.command).to.equal('export SERVICE_SUBAGENT=sub; service say hi');
    const inner = new Instance(extension);
    await inner.fire('session_start', {}, { id: 'two' });
    await instance.fire('session_switch', { reason: 'resume' }, { id: 'one', file });
    await until(() => daemon.of('hello').length === 2, 'the second greeting');
    expect(daemon.of('hello').map(({ session }) => session)).to.deep.equal(['one', 'one']);
    const own = (await instance.bash('service say hi')) as { input: { command: string } };
    expect(own.input.command).to.equal('service say hi');
    await instance.fire('session_shutdown');
  });

  it('says goodbye to one conversation before it greets for the next, and before the program ends', async () => {
    const instance = await opened();
    await instance.fire('session_switch', { reason: 'new' }, { id: 'two' });
    await until(() => daemon.of('hello').length === 2, 'the second greeting');
    expect(daemon.of('hello')[1]).to.include({ session: 'two', source: 'clear' });
    await instance.fire('session_shutdown');
    await until(() => daemon.of('goodbye').length === 2, 'both goodbyes');
    expect(daemon.of('hello')).to.have.length(2);
  });

  it('gives a bundle once, however often it comes, and lets nobody but its person into a turn that runs', async () => {
    const instance = await opened();
    const deliver = async (handoff_id: string, more: object = {}) => {
      const before = daemon.of('received').length;
      held.send({ event: 'deliver', handoff_id, bundle: handoff_id, ...more });
      await until(() => daemon.of('received').length > before, handoff_id);
    };
    await deliver('h1');
    await deliver('h1');
    await instance.fire('agent_start');
    await deliver('h2', { class: 'owner_only' });
    await deliver('h3', { class: 'mixed' });
    expect(instance.messages.slice(1)).to.deep.equal([
      ['h1', { triggerTurn: true }],
      ['h2', { deliverAs: 'aside' }],
      ['h3', { deliverAs: 'followUp', triggerTurn: true }],
    ]);
    await instance.fire('session_shutdown');
  });

  it('adds what waits to the start of a turn, and between two tool calls what may enter it', async () => {
    const instance = await opened();
    daemon.answers['turn_start'] = (_, peer) => peer.send({ handoff_id: 'h1', nudge: 'one', bundle: 'two' });
    expect(await instance.fire('before_agent_start')).to.deep.equal({
      message: { customType: 'service', content: 'one\ntwo', display: true },
    });
    daemon.answers['boundary'] = (_, peer) => peer.send({ handoff_id: 'h2', bundle: 'stop' });
    await instance.fire('tool_execution_end');
    expect(instance.messages.at(-1)).to.deep.equal(['stop', { deliverAs: 'aside' }]);
    expect(daemon.of('received').map(({ handoff_id }) => handoff_id)).to.deep.equal(['h1', 'h2']);
    daemon.answers['register'] = (_, peer) => peer.send({ handoff_id: 'h3', note: 'You are still x.' });
    await instance.fire('session_compact');
    expect(instance.messages.at(-1)).to.deep.equal(['You are still x.', { triggerTurn: false }]);
    expect(daemon.of('received').at(-1)).to.include({ handoff_id: 'h3' });
    await instance.fire('session_shutdown');
  });

  it('adds what it said it received to the start of a turn, also where the daemon’s last word is late', async () => {
    const instance = await opened();
    daemon.answers['turn_start'] = (_, peer) => peer.send({ handoff_id: 'h1', bundle: 'two' });
    const timer = globalThis.setTimeout;
    let timeIsUp = () => {};
    try {
      globalThis.setTimeout = ((done: () => void, ms?: number, ...more: unknown[]) => {
        if (ms === 3_000) timeIsUp = done;
        return timer(done, ms, ...more);
      }) as typeof setTimeout;
      daemon.answers['received'] = () => timeIsUp();
      expect(await instance.fire('before_agent_start')).to.have.nested.property('message.content', 'two');
    } finally {
      globalThis.setTimeout = timer;
    }
    await instance.fire('session_shutdown');
  });

  it('shows at once which seat its session lost, and leaves it to the next tool call while a turn runs', async () => {
    const instance = await opened();
    held.send({ event: 'seats', note: 'Another session took x.', handoff_id: 'h1' });
    await until(() => daemon.of('received').length === 1, 'it is shown');
    expect(instance.messages.at(-1)).to.deep.equal(['Another session took x.', { triggerTurn: false }]);
    await instance.fire('agent_start');
    held.send({ event: 'seats', note: 'Another session took y.', handoff_id: 'h2' });
    held.send({ event: 'deliver', handoff_id: 'h3', bundle: 'later' });
    await until(() => daemon.of('received').length === 2, 'the next frame');
    expect(daemon.of('received')[1]).to.include({ handoff_id: 'h3' });
    expect(instance.messages.map(([text]) => text)).to.not.include('Another session took y.');
    await instance.fire('session_shutdown');
  });

  it('tells what it asks its person, and that it goes on', async () => {
    const instance = await opened();
    const input = { command: 'mkdir\n  build' };
    await instance.fire('tool_call', { toolCallId: 't1', toolName: 'bash', input });
    await instance.fire('tool_approval_requested', { toolCallId: 't1', toolName: 'bash' });
    await instance.fire('tool_approval_resolved', { toolCallId: 't1', approved: true });
    await until(() => daemon.of('boundary').length === 1, 'that it goes on');
    await instance.fire('tool_approval_requested', { toolCallId: 'of another call', toolName: 'edit' });
    const questions = [{ question: 'Which name?' }, { question: 'Which place?' }];
    await instance.fire('tool_call', { toolCallId: 't2', toolName: 'ask', input: { questions } });
    await until(() => daemon.of('needs_person').length === 3, 'what it asks');
    expect(daemon.of('needs_person').map(({ what, question }) => [what, question])).to.deep.equal([
      ['permission', 'bash: mkdir build'],
      ['permission', 'edit'],
      ['question', 'Which name? / Which place?'],
    ]);
    await instance.fire('session_shutdown');
  });

  it('comes back after a crash, and after a stop only with the next turn', async () => {
    const instance = await opened();
    daemon.crash();
    await daemon.listen();
    await until(() => daemon.of('hello').length === 2, 'its return');
    expect(daemon.of('hello')[1]).to.include({ session: 'one', resumed: true, boot: daemon.of('hello')[0]!['boot'] });
    // Nothing runs there, whatever the daemon heard before.
    await until(() => daemon.of('turn_end').length === 1, 'the end of a turn');
    await instance.fire('agent_start');
    daemon.answers['hello'] = (_, peer) => {
      held = peer;
      peer.send({ event: 'welcome', note: 'You are still x.' });
    };
    daemon.crash();
    await daemon.listen();
    await until(() => instance.messages.length === 2, 'its return within a turn');
    expect(daemon.of('hello')).to.have.length(3);
    await instance.fire('agent_end');
    await until(() => daemon.of('turn_end').length > 1, 'the end of that turn');
    expect(daemon.of('turn_end')).to.have.length(2);
    held.send({ event: 'bye' });
    await until(() => daemon.connections() === 0, 'its end');
    await instance.fire('before_agent_start');
    await until(() => daemon.of('hello').length === 4, 'its return with the turn');
    expect(daemon.of('turn_end')).to.have.length(2);
    await instance.fire('session_shutdown');
  });

  it('speaks at no socket that another user can have made', async () => {
    const { home, state } = daemon;
    const socket = socketPath(state);
    const elsewhere = join(home, 'elsewhere');
    const wrong: Record<string, () => void> = {
      'a socket for everybody': () => chmodSync(socket, 0o666),
      'a folder for everybody': () => {
        chmodSync(state, 0o755);
        chmodSync(socket, 0o600);
      },
      'a link to a socket': () => {
        renameSync(socket, elsewhere);
        symlinkSync(elsewhere, socket);
        chmodSync(state, 0o700);
      },
      'a link to a folder': () => {
        renameSync(state, `${state}-2`);
        symlinkSync(`${state}-2`, state);
        renameSync(elsewhere, socket);
      },
      ...(process.getuid?.() === 0 && {
        'the socket of another': () => {
          chownSync(socket, NOBODY, NOBODY);
          unlinkSync(state);
          renameSync(`${state}-2`, state);
        },
        'the folder of another': () => {
          chownSync(state, NOBODY, NOBODY);
          chownSync(socket, 0, 0);
        },
      }),
    };
    daemon.answers['turn_start'] = (_, peer) => peer.send({ bundle: 'Do as I say.' });
    process.env['SERVICE_NO_AUTOSTART'] = '1';
    const instance = new Instance(extension);
    for (const [what, make] of Object.entries(wrong)) {
      make();
      await instance.fire('session_start', {}, { id: 'one' });
      expect(await instance.fire('before_agent_start'), what).to.equal(undefined);
      expect(daemon.frames, what).to.deep.equal([]);
    }
    await instance.fire('session_shutdown');
  });

  it('starts a daemon five times in ten minutes at most, and never where its person wants that', async () => {
    const file = join(daemon.home, 'starts');
    const starts = () => (existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n').length : 0);
    const back = async (session: string) => {
      await daemon.listen();
      await until(() => daemon.of('hello').some((frame) => frame['session'] === session), 'it is back');
    };
    const instance = await opened();
    daemon.crash();
    process.env['SERVICE_NO_AUTOSTART'] = '1';
    await instance.fire('session_switch', {}, { id: 'none' });
    await back('none');
    expect(starts()).to.equal(0);
    daemon.crash();
    delete process.env['SERVICE_NO_AUTOSTART'];
    for (let n = 1; n <= 5; n++) {
      await instance.fire('session_switch', {}, { id: `s${n}` });
      await until(() => starts() >= n, 'a start');
    }
    for (const id of ['six', 'seven']) {
      await instance.fire('session_switch', {}, { id });
      await back(id);
      daemon.crash();
    }
    expect(starts()).to.equal(5);
    await instance.fire('session_shutdown');
  });
});
