/** What an agent asks its person for with the commands of people, and what either is told of it. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { homeWithBoard } from './support/shared.ts';

describe('asking the person', () => {
  const home = homeWithBoard();
  let url: string;
  let key: string;
  let env: Record<string, string>;
  before(async () => {
    ({ url } = (await home().json(['whoami'])).server);
    const { token } = await home().json(['agent', 'create', 'asker', '--board', 'demo', '--print-token']);
    env = { SERVICE_TOKEN: token, SERVICE_SERVER: url };
    key = readFileSync(home().path('data', 'local-key'), 'utf8').trim();
    await newPerson('sam');
    await home().run(['board', 'add', 'sam', '--board', 'demo']);
  });

  async function newPerson(handle: string) {
    const { invite } = await post('/v1/invites', {});
    return (await post('/v1/connect', { invite, handle, key_name: 'laptop' })).person as { id: string };
  }

  async function post(path: string, body: unknown) {
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    });
    // biome-ignore lint/suspicious/noExplicitAny: what the server answered is checked field by field
    return (await answer.json()) as any;
  }

  const asked = async (...args: string[]) => {
    const result = await home().json([...args, '--request'], { env });
    expect([result.state, result.next.command.includes(result.approval.id)], args.join(' ')).to.deep.equal([
      'pending',
      true,
    ]);
    return result.approval.action;
  };
  it('names the settings of a policy to the person as the command takes them', async () => {
    const settings = ['agent_run=5/9', 'show_harness=false', 'stale_after=45m'];
    const args = ['board', 'policy', ...settings.flatMap((setting) => ['--set', setting]), '--request'];
    const words = `change the policy of demo: ${settings.join(' ')}`;
    const { stdout } = await home().run(args, { env });
    expect(stdout).to.include(words);
    const { id } = (await home().json(['approval', 'list'])).approvals[0];
    const { stdout: shown } = await home().run(['approval', 'show', id]);
    expect(shown).to.include(words);
  });

  const failed = async (args: string[], options = {}) => {
    const result = await home().run([...args, '--json'], options);
    return { ...JSON.parse(result.stdout).error, exit: result.code };
  };

  it('sends exactly the action that the command would take', async () => {
    const people = (await home().json(['people', 'list'])).people as { id: string; handle: string }[];
    const sam = people.find(({ handle }) => handle === 'sam')?.id;
    const { board_record: board } = await home().json(['board', 'show', '--board', 'demo']);
    const [own] = (await home().json(['key', 'list'])).keys;
    expect(await asked('people', 'role', 'sam', 'admin')).to.deep.equal({
      kind: 'set_server_role',
      person_id: sam,
      role: 'admin',
    });
    expect(await asked('people', 'remove', '@sam')).to.deep.equal({ kind: 'remove_person', person_id: sam });
    expect(await asked('board', 'remove', 'sam')).to.deep.equal({
      kind: 'remove_person',
      person_id: sam,
      board_id: board.id,
    });
    expect(await asked('board', 'owners', '--add', 'sam')).to.deep.equal({
      kind: 'set_board_role',
      board_id: board.id,
      person_id: sam,
      role: 'owner',
    });
    expect(await asked('board', 'policy', 'recommended', '--set', 'nudges=off')).to.deep.equal({
      kind: 'set_board_policy',
      board_id: board.id,
      policy: { preset: 'recommended', nudges: 'off' },
    });
    expect(await asked('invite', 'create', '--handle', 'zoe')).to.include({ kind: 'invite_people' });
    const { id: zed } = await newPerson('zed');
    expect(await asked('board', 'add', 'zed')).to.deep.equal({
      kind: 'add_people',
      board_id: board.id,
      person_id: zed,
    });
    const added = await failed(['board', 'add', 'zed'], { env });
    expect(added, 'without the flag').to.include({ code: 'agent_session_required' });
    for (const words of [
      ['invite', 'create'],
      ['board', 'add', 'sam'],
    ])
      expect(await failed([...words, '--request']), 'a person asks nobody').to.include({ code: 'agent_not_selected' });
    expect(await asked('key', 'revoke', own.id)).to.deep.equal({ kind: 'revoke_key', key_id: own.id });
  });

  it('says what was asked, and the person decides it by the command that stands last', async () => {
    const { stdout, code } = await home().run(['board', 'owners', '--add', 'sam', '--request'], { env });
    const lines = stdout.trim().split('\n');
    expect([lines[0], code]).to.deep.equal([
      'Asked your person to make sam an owner of demo. What they decide: service inbox notices --ack --wait 600. They run:',
      0,
    ]);
    const words = lines.at(-1)?.replaceAll("'", '').split(' ').slice(1) ?? [];
    expect((await home().run([...words, '--yes'])).stdout).to.equal('Allowed: make sam an owner of demo.\n');
    const owners = (await home().json(['board', 'owners'])).owners as { handle: string }[];
    expect(owners.map(({ handle }) => handle)).to.include('sam');
    expect(await failed(['board', 'owners', '--add', 'sam', '--request'], { env })).to.include({
      code: 'no_change',
      exit: 7,
    });
  });

  it('says whose key is to be revoked, and whether it is the one in use', async () => {
    const question = async (key: string) => {
      const { approval } = await home().json(['key', 'revoke', key, '--request'], { env });
      return (await failed(['approval', 'allow', approval.id])).message;
    };
    const { keys } = await home().json(['key', 'list', '--person', 'sam']);
    expect(await question(keys[0].id)).to.include(`asker wants to revoke sam's key laptop (${keys[0].id}).\nAllow it?`);
    const { current_key_id: used, person } = await home().json(['key', 'list']);
    const [name] = (await home().json(['key', 'list'])).keys.map(({ name }: { name: string }) => name);
    expect(await question(used)).to.include(
      `asker wants to revoke ${person.handle}'s key ${name} (${used}).\nIt is your own key, the one in use here.\nAllow it?`,
    );
    const { key: spare } = await home().json(['key', 'create', 'spare']);
    expect(await question(spare.id)).to.include(`(${spare.id}).\nIt is your own key.\nAllow it?`);
  });

  it('is for agents, and wants to know what for', async () => {
    expect(await failed(['people', 'role', 'sam', 'admin', '--request'])).to.include({
      code: 'agent_not_selected',
      exit: 2,
    });
    expect(await failed(['board', 'owners', '--request'], { env })).to.include({ code: 'invalid_request', exit: 2 });
    expect(await failed(['board', 'policy', '--request'], { env })).to.include({ code: 'invalid_request', exit: 2 });
    expect(await failed(['key', 'revoke', 'laptop', '--request'], { env })).to.include({
      code: 'invalid_request',
      exit: 2,
    });
    expect(await failed(['people', 'role', 'nobody-here', 'admin', '--request'], { env })).to.include({
      code: 'person_not_found',
      exit: 6,
    });
    expect((await failed(['people', 'role', 'sam', 'admin'], { env })).code).to.equal('human_command_in_session');
  });

  it('asks for an invite, which its notice brings to the agent', async () => {
    const wish = ['invite', 'create', '--board', 'demo', '--pairing', 'Review the API', '--handle', 'maya'];
    const { state, approval, next } = await home().json([...wish, '--ttl', '2h'], { env });
    const { agent } = await home().json(['agent', 'show', 'asker', '--board', 'demo']);
    expect([state, approval.action.invite.ttl_seconds]).to.deep.equal(['pending', 7_200]);
    expect(approval.action.invite.pairing).to.deep.equal({ initiating_agent_id: agent.id, work: 'Review the API' });
    expect(next.command).to.include(`approvals allow ${approval.id}`);
    expect(await failed([...wish, '--ttl', '3d'], { env })).to.include({ code: 'invalid_request' });
    expect(await failed([...wish, '--agent', 'other'], { env })).to.include({ code: 'invalid_request', exit: 2 });

    await home().run(['inbox', 'notices', '--ack'], { env });
    const waiting = home().json(['inbox', 'notices', '--wait', '60'], { env });
    await home().run(['approval', 'allow', approval.id, '--yes']);
    const [notice, ...others] = (await waiting).notices;
    expect(others).to.deep.equal([]);
    expect(notice).to.include({ kind: 'approval_allowed', approval_id: approval.id });
    const words = notice.next.command.replaceAll("'", '').split(' ').slice(1);
    const shown = await home().json(words, { env });
    expect(shown.invite.invite).to.match(/\/join#abi_[\w-]{43}$/);
    const select = `service pairing select ${shown.pairing_request_id} --here\n`;
    expect((await home().run([...words, '--no-collect'], { env })).stdout).to.include(select);
    const persons = (await home().run(['approval', 'show', approval.id])).stdout;
    expect(persons).to.include(shown.pairing_request_id).and.not.include(select);
    const { stdout } = await home().run(['inbox', 'notices', '--ack'], { env });
    expect(stdout).to.include(`Your request ${approval.id} was allowed.`).and.include(`approvals show ${approval.id}`);
    expect((await home().run(['inbox', 'notices'], { env })).stdout).to.equal(
      'There is no notice. Messages are in: service inbox\n',
    );

    const told = await home().run(['invite', 'notices']);
    expect(told.stdout)
      .to.match(/ FOR +/)
      .and.match(/ active .* maya .*asker asked for this invite/);
    expect(told.stdout).not.to.include('abi_');
    const [listed] = (await home().json(['invite', 'notices'])).notices;
    expect(listed.id).to.equal(shown.invite.id);
  });

  it('is shown to the person with everything else that waits for them', async () => {
    await home().run(['invite', 'create'], { env });
    const record = await home().json(['inbox']);
    expect(record.approvals.map(({ state }: { state: string }) => state)).to.include('pending');
    expect(record).to.include.all.keys('boards', 'asks', 'approvals', 'board_adds', 'arrivals');
    const { stdout } = await home().run(['inbox']);
    expect(stdout).to.include('Waiting for your approval\n').and.include('asker wants to invite one person');
    expect(stdout).to.match(/Next: service approval allow apr_/);
  });

  it('gets the invite at once where the allowance says so', async () => {
    await home().run(['allowance', 'set', 'invite-people', 'on']);
    const { stdout } = await home().run(['invite', 'create'], { env });
    expect(stdout).to.include('Done under the allowance of your person: invite one person to the server.');
    expect(stdout)
      .to.match(/\/join#abi_[\w-]{43}\n/)
      .and.not.include('pairing select');
    await home().run(['allowance', 'on']);
    const paired = await home().run(['invite', 'create', '--board', 'demo', '--pairing', 'Review it'], { env });
    expect(paired.stdout).to.match(/: service pairing select prq_\w+ --here\n/);
    await home().run(['allowance', 'off']);
  });
});
