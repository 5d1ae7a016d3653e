/** A message's whole way with the built program: from a post, through the daemon, into the hooks of a session. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { noteSecrets } from '../support/secrets.ts';
import { startTestServer } from '../support/server.ts';
import { finished, Home, until } from './support/home.ts';
import { PlayedSession } from './support/played.ts';
import { Stranger } from './support/stranger.ts';

/** Agents that sessions hold, with the address of each one's server. */
const boundIn = async (home: Home): Promise<[string, string][]> =>
  (await home.json(['daemon', 'status'])).bindings.map(
    ({ agent }: { agent: { member_id: string; server: string } }) => [agent.member_id, agent.server],
  );

describe('delivery with the built program', () => {
  let home: Home;
  let session: PlayedSession;
  beforeEach(() => {
    home = new Home();
    session = new PlayedSession(home, 'one');
  });
  afterEach(async () => {
    await home.run(['daemon', 'stop']);
    await home.close();
  });

  const begin = (event: string, input: object) => session.begin(event, input);
  const hook: PlayedSession['hook'] = (...args) => session.hook(...args);

  it('wakes a session that waits, is seen to be received, and is acknowledged', async () => {
    await home.serve();
    await home.json(['board', 'create', 'demo']);
    await session.start();
    const { env } = session;
    expect(env).to.include({ SERVICE_SESSION: 'claude-code:one' });
    const joined = await home.json(['join', '--board', 'demo'], { env });
    expect(joined.agent.name).to.be.a('string');
    expect((await home.json(['daemon', 'status'])).bindings).to.have.length(1);

    const waiting = begin('wait', { hook_event_name: 'Stop' });
    const woken = finished(waiting);
    await until('the hook waits', async () => {
      const { sessions } = await home.json(['daemon', 'status']);
      return sessions[0]?.turn === 'idle';
    });
    await home.json(['board', 'post', 'please look at the tests', '--board', 'demo']);
    const { code, stderr } = await woken;
    expect(code).to.equal(2);
    expect(stderr).to.contain('please look at the tests').and.contain('<service-messages handoff="hnd_');

    const prompt = await hook('prompt', 'UserPromptSubmit', { prompt: stderr });
    expect([prompt.code, prompt.stdout]).to.deep.equal([0, '']);
    const unread = async () => (await home.json(['inbox', '--peek'], { env })).messages.length;
    expect(await unread()).to.equal(1);
    await hook('tool', 'PostToolBatch', { tool_name: 'Bash' });
    await until('it is acknowledged', async () => (await unread()) === 0);

    // The owner's word enters the turn that runs.
    await home.json(['board', 'post', 'stop that', '--board', 'demo']);
    await until('it reaches the turn', async () => {
      const { stdout } = await hook('tool', 'PostToolBatch', { tool_name: 'Bash' });
      return stdout.includes('stop that');
    });
    await hook('end', 'SessionEnd', { reason: 'exit' });
    expect((await home.json(['daemon', 'status'])).open_sessions).to.equal(0);
    const log = readFileSync(join(home.path('state'), 'daemon.log'), 'utf8');
    expect(log).to.not.contain('please look at the tests');
    expect(existsSync(join(home.path('state'), 'delivery.db'))).to.equal(true);
  });

  it('begins with a pair: the first session makes board and code by its own seat, the second comes by the line', async () => {
    await home.serve();
    await session.start();
    const made = await session.json(['pair', 'writer-reviewer', '--name', 'claude', '--title', 'Retry design']);
    expect(made.agent).to.include({ name: 'claude', role: 'writer' });
    expect([made.join.role, made.use.bound_session]).to.deep.equal(['reviewer', 'claude-code:one']);
    const board = made.board_record.name;
    const { events } = await home.json(['audit', 'log', '--board', board]);
    const [code] = events.filter(({ type }: { type: string }) => type === 'joincode.created');
    expect(code.actor).to.include({ kind: 'agent', name: 'claude' });
    const other = new PlayedSession(home, 'two');
    await other.start();
    const joined = await other.json(['join', made.join.line, '--name', 'codex']);
    expect(joined.agent).to.include({ name: 'codex', role: 'reviewer', board });
    expect(joined.use.bound_session).to.equal('claude-code:two');
    const unknown = await session.run(['pair', 'no-such-template', '--new']);
    expect(JSON.parse(unknown.stdout).error.code).to.equal('template_not_found');
    const text = await session.woken(() => other.json(['say', '--to', '@claude', 'I am here', '--no-notes']));
    expect(text).to.include('I am here');
  });

  it('brings a session that has seats onto further boards by their lines, and messages of each arrive', async () => {
    await home.serve();
    await session.start();
    const lineOf = async (board: string) => {
      await home.json(['board', 'create', board, '--no-link']);
      return (await home.json(['code', 'create', '--board', board])).code;
    };
    for (const [board, key] of [
      ['first', 'join_line'],
      ['second', 'join_line'],
      ['third', 'code'],
    ] as const) {
      const joined = await session.json(['join', (await lineOf(board))[key], '--name', `on-${board}`]);
      expect(joined.agent).to.include({ name: `on-${board}`, board, harness: 'claude-code' });
      expect(joined.use.bound_session).to.equal('claude-code:one');
    }
    const { bindings } = await home.json(['daemon', 'status']);
    expect(bindings.map(({ agent }: { agent: { board: string } }) => agent.board)).to.have.members([
      'first',
      'second',
      'third',
    ]);
    const text = await session.woken(async () => {
      for (const board of ['second', 'third']) await home.json(['say', '--board', board, `on ${board}`]);
    });
    expect(text).to.include('on second').and.to.include('on third');
  });

  it('counts as unread after a post neither what was delivered nor what was answered', async () => {
    await home.serve();
    await home.json(['board', 'create', 'demo']);
    await session.start();
    await session.json(['join', '--board', 'demo']);
    const say = async (...args: string[]) => (await session.json(['say', ...args])).unread;
    const seqOf = async (text: string) => (await home.json(['say', text])).message.seq as number;
    const waiting = finished(begin('wait', { hook_event_name: 'Stop' }));
    await until('the hook waits', async () => (await home.json(['daemon', 'status'])).sessions[0]?.turn === 'idle');
    const delivered = await seqOf('wake up');
    expect((await waiting).stderr).to.include('wake up');
    expect(await say('good morning')).to.deep.equal({ count: 0, seqs: [], from: [] });
    expect(await say('--reply', String(delivered), 'awake')).to.include({ count: 0 });
    await home.run(['daemon', 'stop']);
    const [one, two] = [await seqOf('one'), await seqOf('two')];
    expect(await say('--reply', String(one), 'done')).to.deep.include({ count: 1, seqs: [two] });
    expect(await say('and on')).to.deep.include({ count: 1, seqs: [two] });
    expect(await say('--reply', String(two), 'done too')).to.deep.equal({ count: 0, seqs: [], from: [] });
  });

  it('finds the seat again of a session that is given the line of its board once more', async () => {
    await home.serve();
    await session.start();
    await home.json(['board', 'create', 'demo']);
    const { join_line: line } = (await home.json(['code', 'create'])).code;
    const [first, again] = [await session.json(['join', line]), await session.json(['join', line])];
    expect([again.agent.id, again.reused]).to.deep.equal([first.agent.id, true]);
  });

  it('finds the seat again of a session that is given a line once its server has moved to another port', async () => {
    await session.start();
    const { url } = (await home.json(['board', 'create', 'demo'])).server;
    const lineOf = async () => (await home.json(['code', 'create', '--board', 'demo'])).code.join_line;
    const first = await session.json(['join', await lineOf()]);
    await home.run(['server', 'stop']);
    const stranger = await Stranger.listen({}, { port: Number(new URL(url).port) });
    try {
      const line = await lineOf();
      expect(line).to.not.include(new URL(url).port);
      const again = await session.json(['join', line]);
      expect([again.agent.id, again.reused]).to.deep.equal([first.agent.id, true]);
    } finally {
      stranger.close();
    }
  });

  it('leaves a running session its one seat when its person signs in to the local server at another port', async () => {
    await session.start();
    const { url } = (await home.json(['board', 'create', 'demo'])).server;
    const first = await session.json(['join', '--board', 'demo']);
    await home.run(['server', 'stop']);
    const stranger = await Stranger.listen({}, { port: Number(new URL(url).port) });
    try {
      await home.json(['login', 'local']);
      expect((await home.json(['servers', 'list'])).servers[0].url).to.not.equal(url);
      expect((await session.json(['say', 'still here'])).message.from.id).to.equal(first.agent.id);
      const again = await session.json(['join', '--board', 'demo']);
      expect([again.agent.id, again.reused]).to.deep.equal([first.agent.id, true]);
      expect(await boundIn(home)).to.deep.equal([[first.agent.id, url]]);
      expect((await home.json(['board', 'list', '--server', url])).boards).to.have.length(1);
    } finally {
      stranger.close();
    }
  });

  it('is one seat for an agent whose server is known by two addresses', async () => {
    const server = await startTestServer('sqlite');
    const moved = await Stranger.listen({}, { relayTo: server.url });
    try {
      const eve = await server.person('eve');
      const { token } = await eve.ok('createKey', { body: { name: 'second' } });
      noteSecrets(token);
      const signIn = (url: string) => home.shell(`printf %s '${token}' | service login ${url} --store file`);
      await signIn(server.url);
      await session.start();
      await home.json(['board', 'create', 'demo', '--server', server.url, '--no-link']);
      const join = (url: string) => session.json(['join', '--board', 'demo', '--name', 'codex', '--server', url]);
      const first = await join(server.url);
      expect((await signIn(moved.url)).code).to.equal(0);
      const again = await join(moved.url);
      expect([again.agent.id, again.reused]).to.deep.equal([first.agent.id, true]);
      expect(await boundIn(home)).to.deep.equal([[first.agent.id, moved.url]]);
      expect((await session.json(['say', 'from it'])).message.from.id).to.equal(first.agent.id);
      const outside = await home.json(['say', 'from outside', '--as', 'codex', '--board', 'demo']);
      expect(outside.message.from.id).to.equal(first.agent.id);
      const posted = { params: { board: 'demo' }, body: { body: 'once only' } };
      const text = await session.woken(() => eve.ok('postMessage', posted));
      expect(text.split('once only')).to.have.length(2);
    } finally {
      await home.run(['daemon', 'stop']);
      moved.close();
      await server.stop();
    }
  });

  it('goes on for a hook that waits while the daemon is killed', async () => {
    await home.serve();
    await home.json(['board', 'create', 'demo']);
    await hook('session-start', 'SessionStart', { source: 'startup' });
    const env = { SERVICE_SESSION: 'claude-code:one' };
    await home.json(['join', '--board', 'demo'], { env });
    const woken = finished(begin('wait', { hook_event_name: 'Stop' }));
    await until('the hook waits', async () => (await home.json(['daemon', 'status'])).sessions[0]?.turn === 'idle');
    const { pid } = await home.json(['daemon', 'status']);
    process.kill(pid, 'SIGKILL');
    await home.json(['board', 'post', 'after the crash', '--board', 'demo']);
    const { code, stderr } = await woken;
    expect(code).to.equal(2);
    expect(stderr).to.contain('after the crash');
    expect((await home.json(['daemon', 'status'])).pid).to.not.equal(pid);
  });

  it('ends a hook that waits when the daemon is stopped, and leaves it stopped', async () => {
    await hook('session-start', 'SessionStart', { source: 'startup' });
    const waiting = finished(begin('wait', { hook_event_name: 'Stop' }));
    await until('the hook waits', async () => (await home.json(['daemon', 'status'])).sessions[0]?.turn === 'idle');
    await home.run(['down']);
    expect(await waiting).to.deep.equal({ code: 0, stdout: '', stderr: '' });
    expect((await home.run(['daemon', 'status'])).code).to.not.equal(0);
  });
});
