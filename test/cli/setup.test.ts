/** The walk from an invite to a session that takes part: what it does, what it leaves to whom, and that it may be repeated. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ScriptedDaemon } from '../daemon/support/scripted-daemon.ts';
import { Home } from './support/home.ts';
import { type Hosted, hosted } from './support/hosted.ts';
import { PlayedSession } from './support/played.ts';

interface Step {
  name: string;
  state: string;
  text: string;
  next?: string;
}

const inSession = { SERVICE_SESSION: 'claude-code:one', SERVICE_BOOT: 'feedfeedfeedfeed', CLAUDECODE: '1' };

describe('setup', () => {
  let at: Hosted;
  let host: Home;
  let laptop: Home;
  let url: string;
  before(async () => {
    at = await hosted();
    ({ url, home: host } = at);
    await host.json(['board', 'create', 'launch', '--private']);
    await host.json(['agent', 'create', 'helper', '--board', 'launch']);
  });
  after(() => at.close());
  beforeEach(() => {
    laptop = new Home();
  });
  afterEach(() => laptop.close());

  const invite = async (...flags: string[]): Promise<{ id: string; invite: string }> =>
    (await host.json(['invite', 'create', '--board', 'launch', ...flags])).invite;
  const walk = async (text: string, flags: string[] = [], env: Record<string, string> = {}) => {
    const result = await laptop.shell(`printf %s '${text}' | service setup - ${flags.join(' ')} --json`, { env });
    expect(`${result.stdout}${result.stderr}`).to.not.match(/ab[a-z]_[\w-]{20,}/);
    const steps = JSON.parse(result.stdout).steps as Step[];
    expect(steps.map(({ name }) => name)).to.deep.equal([
      'installed',
      'account',
      'memberships',
      'harness',
      'pairing',
      'delivery',
    ]);
    return { code: result.code, steps, states: Object.fromEntries(steps.map(({ name, state }) => [name, state])) };
  };
  const of = (steps: Step[], name: string) => steps.find((step) => step.name === name);
  const people = async (): Promise<string[]> =>
    (await host.json(['people', 'list'])).people.map(({ handle }: { handle: string }) => handle);

  it('makes the account once a handle is chosen, and leaves the work to the session that should do it', async () => {
    const { invite: link } = await invite('--pairing', 'Review the API', '--agent', 'helper', '--handle', 'mia');
    const first = await walk(link);
    expect([first.code, first.states]).to.deep.equal([
      0,
      {
        installed: 'needs_you',
        account: 'needs_you',
        memberships: 'waiting',
        harness: 'waiting',
        pairing: 'waiting',
        delivery: 'waiting',
      },
    ]);
    expect(of(first.steps, 'account')?.text).to.include('--handle; mia is suggested.');
    expect(of(first.steps, 'account')?.next).to.equal('service setup - --handle mia');
    expect(await people()).to.not.include('maya');

    const second = await walk(link, ['--handle', 'maya', '--name', 'workbench']);
    expect(of(second.steps, 'account')).to.include({ state: 'done', text: `@maya at ${url}.` });
    expect(of(second.steps, 'memberships')).to.include({ state: 'done', text: 'On launch.' });
    const pairing = of(second.steps, 'pairing');
    expect([pairing?.state, second.states['delivery']]).to.deep.equal(['needs_you', 'waiting']);
    expect(pairing?.next).to.match(/^service pairing accept prq_\w{26} --here$/);
    const [key] = (await laptop.json(['key', 'list'])).keys;
    expect(key.name).to.equal('workbench');

    const third = await walk(link);
    expect([third.code, third.steps]).to.deep.equal([0, second.steps]);
    expect((await people()).filter((handle) => handle === 'maya')).to.have.length(1);
    const elsewhere = await walk(link, [], { SERVICE_SERVER: 'local' });
    expect(of(elsewhere.steps, 'pairing')?.next).to.equal(`${pairing?.next} --server ${url}`);
    const prq = pairing?.next?.split(' ')[3] ?? '';
    const named = await laptop.json(['setup', prq]);
    expect(named.steps).to.deep.equal(second.steps);
    const { stdout } = await laptop.run(['setup', prq]);
    expect(stdout).to.include(`account      done       @maya at ${url}.`);
    expect(stdout).to.include(`service pairing accept ${prq} --here`);

    await host.json(['key', 'revoke', key.id, '--person', 'maya', '--yes']);
    const ended = await walk(link);
    expect([ended.code, ended.states['account'], ended.states['memberships']]).to.deep.equal([1, 'failed', 'waiting']);
    expect(of(ended.steps, 'account')?.text).to.equal(
      `Your key for ${url} does not work any more: it was revoked or has expired. service login ${url}`,
    );
  });

  it('leads somebody whose account has ended to another one by a new invite, in a session too', async () => {
    await walk((await invite()).invite, ['--handle', 'ana']);
    await host.json(['people', 'remove', 'ana', '--yes']);
    const { invite: link } = await invite();
    const session = new PlayedSession(laptop, 'one');
    await session.start();
    for (const env of [{}, { ...session.env, CLAUDECODE: '1' }]) {
      const led = await walk(link, ['--handle', 'ana2'], env);
      expect([led.code, led.states['memberships'], led.states['pairing']]).to.deep.equal([0, 'waiting', 'waiting']);
      expect(of(led.steps, 'account')).to.deep.equal({
        name: 'account',
        state: 'needs_you',
        text: `The key of @ana at ${url} does not work any more: it was revoked or has expired. Forget it, then run this again to come by the invite.`,
        next: `service logout ${url}`,
      });
    }
    await laptop.run(['daemon', 'stop']);
    expect(await people()).to.not.include('ana2');
    await laptop.json(['logout', url]);
    const come = await walk(link, ['--handle', 'ana2']);
    expect(of(come.steps, 'account')).to.include({ state: 'done', text: `@ana2 at ${url}.` });
    expect(come.states['memberships']).to.equal('done');
  });

  it('sets the programs of agents up where that was said, and lists what it would change where not', async () => {
    laptop.program('claude', "echo '2.1.197 (Claude Code)'");
    const { invite: link } = await invite();
    const settings = join(laptop.dir, '.claude', 'settings.json');
    const first = await walk(link);
    expect(of(first.steps, 'installed')).to.include({ state: 'needs_you', next: 'service init --yes' });
    expect(of(first.steps, 'installed')?.text).to.include(settings);
    expect(existsSync(settings)).to.equal(false);
    const second = await walk(link, ['--yes', '--handle', 'pia']);
    expect(of(second.steps, 'installed')).to.include({ state: 'done', text: 'Set up: claude-code.' });
    expect(of(second.steps, 'harness')?.state).to.equal('needs_you');
    const written = readFileSync(settings, 'utf8');
    expect(written).to.include('hook');
    const third = await walk(link);
    expect(third.steps).to.deep.equal(second.steps);
    expect(readFileSync(settings, 'utf8')).to.equal(written);
    writeFileSync(settings, '{ not json');
    const broken = await walk(link);
    expect([of(broken.steps, 'installed')?.state, broken.code]).to.deep.equal(['failed', 1]);
    expect(of(broken.steps, 'account')?.state).to.equal('done');
  });

  it('is one failed step where the invite does not work, and the rest follows from it', async () => {
    const { id, invite: link } = await invite();
    await host.json(['invite', 'revoke', id]);
    const account = of((await walk(link)).steps, 'account');
    expect(account).to.deep.equal({
      name: 'account',
      state: 'failed',
      text: 'This invite does not work. Ask the person who sent it for a new one: service invite create.',
    });
    const { code, steps, states } = await walk(link, ['--handle', 'nils']);
    expect([code, states['account'], states['memberships']]).to.deep.equal([1, 'failed', 'waiting']);
    expect(of(steps, 'account')?.text).to.not.equal('');
    expect(await people()).to.not.include('nils');
    const lost = await laptop.run(['setup', 'prq_01K5A0000000000000000000P1', '--json'], {
      env: { SERVICE_NO_AUTOSTART: '1' },
    });
    expect(JSON.parse(lost.stdout).steps[1].state).to.equal('needs_you');
    const wrong = await laptop.run(['setup', 'what', '--json']);
    expect([wrong.code, JSON.parse(wrong.stdout).error.code]).to.deep.equal([2, 'invite_link_invalid']);
  });

  it('takes part with the session it runs in, by the daemon, which alone reads for it', async () => {
    await laptop.json(['board', 'create', 'own', '--no-link']);
    const { invite: link } = await invite('--pairing', 'Review the API', '--agent', 'helper');
    const refused = await laptop.shell(`printf %s '${link}' | service connect - --yes --json`, { env: inSession });
    expect(JSON.parse(refused.stdout).error.code).to.equal('human_command_in_session');
    const alone = await walk(link, ['--handle', 'olga'], inSession);
    expect(alone.states).to.deep.equal({
      installed: 'needs_you',
      account: 'done',
      memberships: 'waiting',
      harness: 'needs_you',
      pairing: 'waiting',
      delivery: 'waiting',
    });

    const board = (await laptop.json(['board', 'show', '--board', 'launch', '--server', url])).board_record;
    const [request] = (await laptop.json(['pairing', 'list', '--server', url])).requests;
    const { agent } = await host.json(['agent', 'show', 'helper', '--board', 'launch']);
    const daemon = await new ScriptedDaemon(laptop.store).listen();
    let accepted = false;
    const now = () => (accepted ? { ...request, accepted, state: 'verifying' } : request);
    daemon.answers.agents = (_, peer) => peer.send({ seats: [], boot: 'feedfeedfeedfeed', turn: 'busy' });
    daemon.answers.boards = (_, peer) => peer.send({ server: url, boards: [board] });
    daemon.answers.join = (_, peer) =>
      peer.send({ joined: true, board, member: agent, mode: 'focused', seats: [], reused: false });
    daemon.answers.pairing = ({ action }, peer) => {
      if (action === 'accept') accepted = true;
      peer.send(action === 'list' ? { pairings: [now()] } : { pairing: now() });
    };
    const together = await walk(link, [], inSession);
    expect(together.states).to.deep.equal({
      installed: 'done',
      account: 'done',
      memberships: 'done',
      harness: 'done',
      pairing: 'done',
      delivery: 'waiting',
    });
    // This machine's own server stays the one that is used.
    expect(of(together.steps, 'delivery')?.next).to.equal(`service pairing list --server ${url}`);
    expect(daemon.of('join')[0]).to.have.nested.property('agent.board', 'launch');
    const accepts = () => daemon.of('pairing').filter(({ action }) => action === 'accept');
    expect(accepts()).to.have.length(1);
    expect(accepts()[0]).to.include({ pairing_id: request.id, session: 'one', harness: 'claude-code' });
    const again = await walk(link, [], inSession);
    expect([again.states, accepts().length]).to.deep.equal([together.states, 1]);
    request.state = 'ready';
    daemon.answers.pairing = (_, peer) => peer.send({ pairings: [{ ...request, accepted: true }] });
    expect((await walk(link, [], inSession)).states['delivery']).to.equal('done');
    Object.assign(request, { state: 'cancelled', closed_reason: 'cancelled' });
    daemon.answers.pairing = (_, peer) => peer.send({ pairings: [request] });
    const over = await walk(link, [], inSession);
    expect(of(over.steps, 'pairing')).to.include({
      state: 'failed',
      next: `service pairing show ${request.id} --server ${url}`,
    });
    daemon.close();
  });
});
