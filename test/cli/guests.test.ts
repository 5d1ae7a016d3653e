/** A guest from outside comes onto one board from a machine of their own, with one pasted line; and what a lost answer does to it. */
import { readFileSync, statSync } from 'node:fs';
import { expect } from 'chai';
import { Home } from './support/home.ts';
import { type Hosted, hosted } from './support/hosted.ts';
import { LossyNetwork } from './support/lossy.ts';
import { typed } from './support/terminal.ts';

describe('a guest from outside', () => {
  let at: Hosted;
  let host: Home;
  let laptop: Home;
  let url: string;
  let guests = 0;
  before(async () => {
    at = await hosted();
    ({ url, home: host } = at);
    await host.json(['board', 'create', 'payments', '--private', '--no-link']);
    await host.json(['board', 'create', 'elsewhere', '--no-link']);
  });
  after(() => at.close());
  beforeEach(() => {
    laptop = new Home();
  });
  afterEach(() => laptop.close());

  const invited = async () => {
    const handle = `zoe-${++guests}`;
    const { code, prompt } = await host.json(['code', 'guest', handle, '--board', 'payments', '--ttl', '1h']);
    return { handle, line: code.join_line as string, code: code.code as string, prompt: prompt as string };
  };
  const credentials = () => JSON.parse(readFileSync(laptop.path('config', 'credentials.json'), 'utf8'));
  const errorOf = (result: { stdout: string }) => JSON.parse(result.stdout).error as { code: string; message: string };

  it('comes onto one board with an agent, and reaches nothing else', async () => {
    const { handle, prompt } = await invited();
    const came = await laptop.shell('printf "%s" "$TEXT" | service join - --yes --name zoes', {
      env: { TEXT: prompt },
    });
    expect(came.code, came.stderr).to.equal(0);
    expect(came.stderr.match(/^Saved in /gm), came.stderr).to.have.length(1);
    expect(came.stdout).to.include(`Joined ${url} as ${handle} (guest).`);
    expect(came.stdout).to.include(`Joined payments on ${url} as zoes (member).`).and.to.include('--as zoes');
    expect(statSync(laptop.path('config', 'credentials.json')).mode & 0o777).to.equal(0o600);
    expect(JSON.stringify(credentials())).not.to.include('pending');
    await laptop.json(['say', '--as', 'zoes', 'the agent is here']);
    await laptop.json(['say', '--board', 'payments', 'and so am I']);
    const { messages } = await host.json(['read', '--board', 'payments']);
    expect(messages.map(({ from }: { from: { name: string } }) => from.name)).to.deep.equal(['zoes', handle]);
    const { boards } = await laptop.json(['board', 'list', '--all']);
    expect(boards.map(({ name }: { name: string }) => name)).to.deep.equal(['payments']);
    for (const [args, expected] of [
      [['read', '--board', 'elsewhere'], 'board_not_found'],
      [['join', '--board', 'elsewhere'], 'board_not_found'],
      [['board', 'create', 'mine'], 'guest_not_allowed'],
      [['code', 'create', '--board', 'payments'], 'guest_not_allowed'],
      [['agent', 'create', 'more', '--board', 'payments'], 'guest_not_allowed'],
      [['key', 'list'], 'guest_not_allowed'],
    ] as const) {
      expect(errorOf(await laptop.run([...args, '--json'])).code, args.join(' ')).to.equal(expected);
    }
  });

  it('is asked first: without a yes nothing is sent and nothing is kept', async () => {
    const { line } = await invited();
    const unasked = await laptop.run(['join', line, '--json']);
    expect(errorOf(unasked)).to.include({ code: 'confirmation_required' });
    expect(errorOf(unasked).message).to.include('payments').and.to.include(url);
    expect(unasked.code).to.equal(2);
    expect(await typed(laptop, `service join "${line}"`, [['as a guest?', 'n']])).to.include('Nothing changed.');
    const { servers } = await laptop.json(['servers', 'list']);
    expect(servers).to.deep.equal([]);
    const shown = await typed(laptop, `service join "${line}"`, [['as a guest?', 'y']]);
    expect(shown).to.include('Joined payments');
  });

  it('is refused by a code that does not work, and keeps nothing of it', async () => {
    const { line } = await invited();
    const wrong = await laptop.run(['join', line.replace(/code .*/, 'code 000-000'), '--yes', '--json']);
    expect([wrong.code, errorOf(wrong).code]).to.deep.equal([6, 'join_code_invalid']);
    expect(credentials().servers).to.deep.equal({});
    const agent = await laptop.run(['join', line, '--yes', '--json'], { env: { SERVICE_SESSION: 'claude-code:1' } });
    expect([agent.code, errorOf(agent).code]).to.deep.equal([5, 'human_command_in_session']);
  });

  it('comes with another code for the account they have', async () => {
    const first = await invited();
    await laptop.json(['join', first.line, '--yes', '--name', 'first']);
    await host.json(['board', 'create', `with-${first.handle}`, '--private', '--no-link']);
    const { code } = await host.json(['code', 'guest', first.handle, '--board', `with-${first.handle}`]);
    const second = await laptop.json(['join', code.join_line, '--name', 'second']);
    expect(second.agent).to.include({ name: 'second', owner: first.handle });
    expect(second.guest).to.equal(undefined);
    const { boards } = await laptop.json(['board', 'list']);
    expect(boards.map(({ name }: { name: string }) => name)).to.deep.equal(['payments', `with-${first.handle}`]);
  });

  describe('over a network that loses answers', () => {
    let network: LossyNetwork;
    beforeEach(async () => {
      network = await LossyNetwork.to(url);
    });
    afterEach(() => network.close());

    const through = (line: string) => line.replace(new URL(url).port, new URL(network.url).port);
    const joins = () => network.seen.filter(({ path }) => path === '/v1/guest-join');
    const guestsNamed = async (handle: string): Promise<number> => {
      const { people } = await host.json(['board', 'people', '--board', 'payments']);
      return people.filter((person: { handle: string }) => person.handle === handle).length;
    };

    it('is one guest with one agent, whose token works', async () => {
      const { handle, line } = await invited();
      let lost = 0;
      network.decide = ({ path }) => (path === '/v1/guest-join' && lost++ < 2 ? 'lose' : 'pass');
      const { agent } = await laptop.json(['join', through(line), '--yes', '--name', `of-${handle}`]);
      expect(joins()).to.have.length(3);
      expect(new Set(joins().map(({ body }) => body)).size).to.equal(1);
      expect(await guestsNamed(handle)).to.equal(1);
      expect((await laptop.json(['whoami', '--as', agent.name])).me.id).to.equal(agent.id);
    });

    it('keeps the key when nothing comes back, and goes on with the same command', async () => {
      const { handle, line } = await invited();
      network.decide = ({ path }) => (path === '/v1/guest-join' ? 'lose' : 'pass');
      const unclear = await laptop.run(['join', through(line), '--yes', '--json', '--timeout', '20']);
      expect([unclear.code, errorOf(unclear).code]).to.deep.equal([8, 'outcome_unknown']);
      const [entry] = Object.values<{ pending: { kind: string; token: string } }>(credentials().servers);
      expect(entry?.pending.kind).to.equal('guest');
      expect(unclear.stdout + unclear.stderr).not.to.include(entry?.pending.token);
      network.decide = () => 'pass';
      const { agent } = await laptop.json(['join', through(line)]);
      expect(await guestsNamed(handle)).to.equal(1);
      expect((await laptop.json(['whoami', '--as', agent.name])).me.id).to.equal(agent.id);
      expect(JSON.stringify(credentials())).not.to.include('pending');
    });

    it('does not become two guests by another code', async () => {
      const [first, second] = [await invited(), await invited()];
      network.decide = ({ path }) => (path === '/v1/guest-join' ? 'lose' : 'pass');
      await laptop.run(['join', through(first.line), '--yes', '--json', '--timeout', '20']);
      network.decide = () => 'pass';
      const { person } = await laptop.json(['join', through(second.line), '--yes']);
      expect([person.handle, await guestsNamed(second.handle)]).to.deep.equal([first.handle, 0]);
    });

    it('keeps the account when the time for the agent’s token is over', async () => {
      const { handle, line } = await invited();
      network.decide = ({ path }) => (path === '/v1/guest-join' ? 'lose' : 'pass');
      await laptop.run(['join', through(line), '--yes', '--json', '--timeout', '20']);
      network.decide = () => 'pass';
      at.server.clock.advance(600_000);
      const { person, warnings, agent } = await laptop.json(['join', through(line)]);
      expect([person.handle, agent, warnings[0].code]).to.deep.equal([handle, undefined, 'agent_token_lost']);
      expect((await laptop.json(['whoami'])).me.name).to.equal(handle);
    });
  });
});
