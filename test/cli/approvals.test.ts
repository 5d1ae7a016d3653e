/** What agents ask for, decided from the command line, and what they may do without asking. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { collect, finished, until } from './support/home.ts';
import { LossyNetwork } from './support/lossy.ts';
import { homeWithBoard } from './support/shared.ts';

describe('requests of agents', () => {
  const home = homeWithBoard();
  let url: string;
  let agent: Record<string, string>;
  let me: string;
  before(async () => {
    const who = await home().json(['whoami']);
    ({ url } = who.server);
    const { token } = await home().json(['agent', 'create', 'asker', '--board', 'demo', '--print-token']);
    agent = { SERVICE_TOKEN: token, SERVICE_SERVER: url };
    me = (await call('/v1/me', readFileSync(home().path('data', 'local-key'), 'utf8').trim())).id;
  });

  async function call(path: string, token: string, body?: unknown) {
    const answer = await fetch(url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: what the server answered is checked field by field
    return (await answer.json()) as any;
  }

  const ask = (body: unknown) => call('/v1/me/admin-requests', agent['SERVICE_TOKEN'] ?? '', body);
  const invite = () => ask({ kind: 'invite_people', invite: { suggested_handle: 'maya' } });
  const failed = async (args: string[], options = {}) => {
    const result = await home().run([...args, '--json'], options);
    return { ...JSON.parse(result.stdout).error, exit: result.code };
  };

  it('are allowed by the very command that the agent was told', async () => {
    const { approval, next } = await invite();
    const words = next.command.replaceAll("'", '').split(' ').slice(1);
    const asked = await failed(words);
    expect(asked).to.include({ code: 'confirmation_required', exit: 2 });
    expect(asked.message).to.include('asker wants to invite one person to the server.').and.include('For: maya');
    expect(asked.message).to.include('The link works for 24h.');
    const { stdout } = await home().run([...words, '--yes']);
    const [head, link] = stdout.trim().split('\n');
    expect(head).to.equal('Allowed: invite one person to the server.');
    expect(link).to.match(/^http\S+\/join#abi_[\w-]{43}$/);
    expect((await home().run([...words, '--yes'])).stdout).to.equal(
      'Allowed earlier: invite one person to the server.\n',
    );

    const looked = await home().json(['approval', 'show', approval.id, '--no-collect'], { env: agent });
    expect([looked.invite, looked.approval.outcome.state]).to.deep.equal([undefined, 'held']);
    const got = await home().json(['approvals', 'show', approval.id], { env: agent });
    expect([got.collected, got.invite.invite]).to.deep.equal([true, link]);
    expect(statSync(home().path('state', 'collect.json')).mode & 0o777).to.equal(0o600);
    expect(readFileSync(home().path('state', 'collect.json'), 'utf8')).not.to.include('abi_');
    const again = await home().json(['approval', 'collect', approval.id], { env: agent });
    expect([again.recovered, again.invite.invite]).to.deep.equal([true, link]);
  });

  it('tell the agent what to do once the secret of an invite is gone', async () => {
    const { approval } = await invite();
    const { invite: made } = await home().json(['approval', 'allow', approval.id, '--yes']);
    await home().json(['invite', 'revoke', made.id]);
    const words = 'The link is shown only once. If it was lost, your person revokes it, and you ask for a new invite.';
    for (const look of [['show'], ['show', '--no-collect'], ['collect']]) {
      const { stdout } = await home().run(['approval', ...look, approval.id], { env: agent });
      const [told, command] = stdout.trim().split('\n').slice(-2);
      expect(told, look.join(' ')).to.equal(words);
      expect(command).to.include(`invite revoke ${made.id}`);
    }
    const { stdout } = await home().run(['approval', 'show', approval.id]);
    expect(stdout, 'its person is told no such thing').not.to.include('ask for a new invite');
  });

  it('end the wait of their agent for messages once they are decided, once each', async () => {
    const env = agent;
    await home().run(['inbox', 'notices', '--ack'], { env });
    const { approval } = await invite();
    const waits = home().json(['inbox', '--wait', '60'], { env });
    await home().json(['approval', 'decline', approval.id]);
    const { messages, notices, timed_out } = await waits;
    expect([messages, notices, timed_out]).to.deep.equal([[], 1, false]);
    expect(await home().json(['inbox', '--wait', '1'], { env })).to.include({ timed_out: true });
    const second = await invite();
    await home().json(['approval', 'decline', second.approval.id]);
    const { stdout } = await home().run(['inbox', 'wait', '60'], { env });
    expect(stdout).to.equal('demo · nothing new for asker\nservice: 2 notices wait: service inbox notices --ack\n');
    for (const filter of [
      ['--jq', '.notices|length'],
      ['--ndjson', '--jq', '.kind'],
    ]) {
      const { stderr } = await home().run(['inbox', 'notices', '--ack', ...filter], { env });
      expect(stderr, filter.join(' ')).to.match(/^These notices stay unread, as their texts are not printed\. /);
    }
    expect((await home().json(['inbox', 'notices', '--ack'], { env })).notices).to.have.length(2);
    const none = await home().run(['inbox', 'notices', '--ack', '--jq', '.notices|length'], { env });
    expect(none).to.deep.equal({ code: 0, stdout: '0\n', stderr: '' });
  });

  it('are told by the inbox after a quiet wait that they ended, and end no further one then', async () => {
    const env = agent;
    await home().run(['inbox', 'notices', '--ack'], { env });
    await home().run(['inbox'], { env });
    const { approval } = await invite();
    await home().json(['approval', 'decline', approval.id]);
    const wait = (...more: string[]) => home().run(['inbox', 'wait', '1', '--fail-timeout', ...more], { env });
    for (let n = 0; n < 2; n++) expect(await wait('-q')).to.deep.equal({ code: 0, stdout: '', stderr: '' });
    expect((await home().run(['inbox', '-q'], { env })).stdout).to.equal('');
    expect((await wait('-q')).code).to.equal(0);
    const told = 'demo · nothing new for asker\nservice: 1 notice waits: service inbox notices --ack\n';
    for (let n = 0; n < 2; n++) expect((await home().run(['inbox'], { env })).stdout).to.equal(told);
    expect((await wait('-q')).code, 'the agent was told of it').to.equal(3);
    await home().run(['inbox', 'notices', '--ack'], { env });
    expect((await home().run(['inbox'], { env })).stdout).to.equal('demo · nothing new for asker\n');
  });

  it('are told once each, when they are decided, to an agent that follows its inbox', async () => {
    const env = agent;
    await home().run(['inbox'], { env });
    for (const [extra, told] of [
      [[], 'service: 1 notice waits: service inbox notices --ack\n'],
      [['--json'], `{"board":"demo","agent":"asker","notices":1}\n`],
    ] as const) {
      await home().run(['inbox', 'notices', '--ack'], { env });
      const following = home().start(['inbox', '--follow', '--verbose', ...extra], { env });
      const printed = collect(following);
      const { approval } = await invite();
      await home().json(['approval', 'decline', approval.id]);
      await until('it is told', () => printed().stdout !== '');
      await home().json(['say', 'and a message', '--no-notes']);
      await until('a message is shown too', () => printed().stdout.includes('and a message'));
      await until('it is acknowledged', () => printed().stderr.includes('POST /v1/me/inbox/ack 200'));
      following.kill('SIGINT');
      expect((await finished(following)).code).to.equal(0);
      expect(printed().stdout.startsWith(told), printed().stdout).to.equal(true);
      expect(printed().stdout.split('notice')).to.have.length(told.split('notice').length);
    }
  });

  it('are listed in words, and declined', async () => {
    const { approval } = await invite();
    const list = await home().run(['approvals', '--state', 'pending']);
    expect(list.stdout).to.match(new RegExp(`${approval.id}  pending until (\\d{4}-\\d\\d-\\d\\d )?\\d\\d:\\d\\d  `));
    expect(list.stdout).to.include('invite one person to the server');
    expect((await home().json(['approval', 'list'], { env: agent })).approvals[0].id).to.equal(approval.id);
    const declined = await home().run(['approval', 'decline', approval.id]);
    expect(declined.stdout).to.equal('Declined: invite one person to the server.\n');
    expect(await failed(['approval', 'allow', approval.id, '--yes'])).to.include({ code: 'approval_closed', exit: 7 });
    expect(await failed(['approval', 'show', 'apr_01K5A0000000000000000000A1'])).to.include({
      code: 'approval_not_found',
      exit: 6,
    });
    expect((await failed(['approval', 'allow', approval.id], { env: agent })).code).to.equal(
      'human_command_in_session',
    );
  });

  it('for a preset of a policy are spelled out, with all that it sets and shows', async () => {
    await home().run(['board', 'policy', 'recommended', '--board', 'demo']);
    const { board_record: board } = await home().json(['board', 'show', '--board', 'demo']);
    const policy = { preset: 'starter', nudges: 'off' };
    const { approval } = await ask({ kind: 'set_board_policy', board_id: board.id, policy });
    const sets =
      'change the policy of demo: preset=starter visibility=open broadcast=everyone urgent=everyone show_harness=true nudges=off agent_run=12/30 stale_after=30m';
    const { message } = await failed(['approval', 'allow', approval.id]);
    expect(message.split('\n')).to.deep.equal([
      `asker wants to ${sets}.`,
      'Agents can then read all that was written there so far.',
      'Allow it?',
    ]);
    expect((await home().run(['approval', 'allow', approval.id, '--yes'])).stdout).to.equal(`Allowed: ${sets}.\n`);
    await home().run(['board', 'policy', 'starter', '--board', 'demo']);
  });

  it('are made where an agent may not add somebody itself', async () => {
    const key = readFileSync(home().path('data', 'local-key'), 'utf8').trim();
    const { invite: link } = await call('/v1/invites', key, {});
    await call('/v1/connect', '', { invite: link, handle: 'sam', key_name: 'laptop' });
    const seat = { board: 'demo', role: 'member', name: 'adder', session: 'codex:s1', harness: 'codex' };
    const { token } = await call('/v1/join', key, seat);
    const env = { SERVICE_TOKEN: token, SERVICE_SERVER: url };
    await home().run(['settings', 'set', '--agents-add-people', 'off']);
    const { stdout, code } = await home().run(['board', 'add', 'sam', '--board', 'demo'], { env });
    const [said, command] = stdout.trim().split('\n');
    expect([said, code]).to.deep.equal([
      'Asked your person to add sam to demo. What they decide: service inbox notices --ack --wait 600 --board demo. They run:',
      0,
    ]);
    const words = command?.replaceAll("'", '').split(' ').slice(1) ?? [];
    expect((await home().run([...words, '--yes'])).stdout).to.equal('Allowed: add sam to demo.\n');
    for (const again of [words, [...words, '--yes']])
      expect((await home().run(again)).stdout).to.equal('Allowed earlier: add sam to demo.\n');
    expect(await failed(['board', 'add', 'nobody-here', '--board', 'demo'], { env })).to.include({
      code: 'person_not_found',
    });
    await home().run(['settings', 'set', '--agents-add-people', 'on']);
  });

  it('are done at once where the allowance says so, which is set, shown and taken back', async () => {
    expect((await home().run(['allowance'])).stdout).to.equal('Your agents ask you each time.\n');
    expect((await home().run(['allowance', 'on'])).stdout).to.equal('Without asking: add-people\n');
    const set = await home().json(['allowance', 'set', 'invite-people', 'on']);
    expect(set.allowance).to.deep.include({ revision: 2, categories: ['add_people', 'invite_people'], person_id: me });
    expect(set.changed).to.equal(true);
    const { state, approval } = await invite();
    expect(state).to.equal('executed');
    expect((await home().run(['approval', 'allow', approval.id, '--yes'])).stdout).to.equal(
      'Allowed earlier: invite one person to the server.\n',
    );
    expect((await home().json(['allowance', 'off'])).allowance.categories).to.deep.equal([]);
    expect((await home().json(['allowance', 'off'])).changed).to.equal(false);
    const { revisions } = await home().json(['allowance', 'history']);
    expect(revisions.map(({ revision }: { revision: number }) => revision)).to.deep.equal([3, 2, 1]);
    expect((await invite()).state).to.equal('pending');
  });

  it('whose answer was lost say with which command one sees what became of them', async () => {
    const network = await LossyNetwork.to(url);
    network.decide = ({ method }) => (method === 'POST' ? 'lose' : 'pass');
    const { approval } = await invite();
    const SERVICE_TOKEN = readFileSync(home().path('data', 'local-key'), 'utf8').trim();
    const there = ['--server', network.url];
    const allowed = await failed(['approval', 'allow', approval.id, '--yes', ...there], { env: { SERVICE_TOKEN } });
    expect(allowed).to.deep.include({
      code: 'outcome_unknown',
      hint: `See whether it was done: service approval show ${approval.id} --server ${network.url}; allowing it again does nothing twice`,
      exit: 8,
    });
    const args = ['invite', 'create', '--board', 'demo', ...there];
    const asked = await failed(args, { env: { SERVICE_TOKEN: agent['SERVICE_TOKEN'] } });
    expect(asked).to.deep.include({
      code: 'outcome_unknown',
      hint: `See whether it was asked for: service approval list --server ${network.url}`,
      exit: 8,
    });
    network.close();
  });

  it('are collected by keys that each attempt keeps for ten minutes more, several at once too', async () => {
    const path = home().path('state', 'collect.json');
    const kept = (): Record<string, { key: string; at: number }> => JSON.parse(readFileSync(path, 'utf8'));
    const asked = await Promise.all(Array.from({ length: 4 }, invite));
    const names = asked.map(({ approval }) => `${url} ${approval.id}`);
    const collectAll = async () => {
      for (const child of asked.map(({ approval }) =>
        home().start(['approval', 'collect', approval.id], { env: agent }),
      ))
        await finished(child);
      return names.map((name) => kept()[name]?.key);
    };
    const first = await collectAll();
    expect(first.every(Boolean), `${first}`).to.equal(true);
    const before = kept();
    for (const entry of Object.values(before)) entry.at -= 590_000;
    writeFileSync(path, JSON.stringify(before));
    expect(await collectAll()).to.deep.equal(first);
    for (const name of names) expect(kept()[name]!.at).to.be.greaterThan(before[name]!.at + 500_000);
  });
});
