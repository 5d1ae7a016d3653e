/** Coming onto a board from another machine, and what a join line may and may not do there. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Home } from './support/home.ts';

describe('joining a board from another machine', () => {
  let host: Home;
  let other: Home;
  let url: string;

  before(async () => {
    host = new Home();
    other = new Home();
    await host.serve();
    await host.json(['board', 'create', 'demo', '--template', 'writer-reviewer', '--no-link']);
    url = (await host.json(['server', 'start'])).ui_url.replace(/\/$/, '');
    await other.shell(`printf %s "$KEY" | service login ${url}`, { env: { KEY: await keyOf('maya') } });
  });
  after(async () => {
    await other.close();
    await host.close();
  });

  /** The key of a new member of the host's server. */
  async function keyOf(handle: string): Promise<string> {
    const own = readFileSync(host.path('data', 'local-key'), 'utf8').trim();
    const call = async (path: string, body: object, token?: string) => {
      const headers = { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) };
      const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
      return (await answer.json()) as { invite: string; key: { token: string } };
    };
    const { invite } = await call('/v1/invites', {}, own);
    return (await call('/v1/connect', { invite, handle, key_name: 'laptop' })).key.token;
  }

  it('says how a new board is made where the folder is linked to one, with all that was typed', async () => {
    const cwd = join(host.work, 'linked');
    mkdirSync(cwd);
    await host.json(['board', 'link', 'demo'], { cwd });
    const typed = ['pair', 'writer-reviewer', '--title', 'Two words', '--name', 'claude'];
    const { error } = JSON.parse((await host.run([...typed, '--json'], { cwd })).stdout);
    const [, again = ''] = /A new board all the same: (.*)$/.exec(error.hint) ?? [];
    const { board_record, agent } = JSON.parse((await host.shell(again, { cwd })).stdout);
    expect([board_record.title, agent.name]).to.deep.equal(['Two words', 'claude']);
  });

  it('brings a colleague onto an open board, and then their agent', async () => {
    const came = await other.json(['join', '--board', 'demo']);
    expect(came.person).to.include({ handle: 'maya', board_role: 'member' });
    expect(came).to.include({ role_charter: null, mode: null }).and.not.to.have.property('agent');
    const { code, prompt } = await other.json(['code', 'create', '--board', 'demo']);
    expect([code.kind, code.role, code.join_line.includes(code.code)]).to.deep.equal(['pairing', 'reviewer', true]);
    expect(prompt).to.include(`service join '${code.join_line}'`);
    const { agent, use, board_record, mode } = await other.json(['join', prompt, '--name', 'mayas']);
    expect(agent).to.include({ name: 'mayas', owner: 'maya', role: 'reviewer' });
    expect(use).to.deep.equal({ as: 'mayas', env: 'SERVICE_AGENT=mayas', bound_session: null });
    expect([board_record.name, mode]).to.deep.equal(['demo', 'focused']);
    await other.json(['say', '--as', 'mayas', 'hello from the other machine']);
    const { messages } = await host.json(['read', '--board', 'demo']);
    expect(messages.at(-1)).to.deep.include({ body: 'hello from the other machine' });
    expect(messages.at(-1).from).to.include({ name: 'mayas', owner: 'maya' });
  });

  it('is refused with the pairing code of somebody else, which is theirs alone', async () => {
    const { code } = await host.json(['code', 'create', '--board', 'demo']);
    const refused = await other.run(['join', code.join_line]);
    expect([refused.code, refused.stderr.split(':')[0]]).to.deep.equal([5, 'Error (join_code_not_yours)']);
  });

  it('says that one is on the board already', async () => {
    await other.run(['join', '--board', 'demo']);
    const again = await other.run(['join', '--board', 'demo']);
    expect([again.code, again.stderr.split(':')[0]]).to.deep.equal([7, 'Error (already_on_board)']);
  });

  it('reads the line from a pipe, and gives agents of one name their board', async () => {
    await other.json(['board', 'create', 'second', '--no-link', '--server', url]);
    const { code } = await other.json(['code', 'create', '--board', 'second']);
    const piped = await other.shell('printf "%s" "$LINE" | service join - --name mayas --json', {
      env: { LINE: `> ${code.join_line}\n> thanks` },
    });
    const { use } = JSON.parse(piped.stdout);
    expect(use.as).to.equal('mayas@second');
    expect((await other.json(['whoami', '--as', 'mayas@second'])).me.board).to.equal('second');
  });

  it('sends a code to no other server than the line’s own', async () => {
    const { code } = await other.json(['code', 'create', '--board', 'demo']);
    const astray = code.join_line.replace(/on localhost:\d+/, 'on team.example.com');
    for (const [args, expected] of [
      [['join', astray], 'server_unknown'],
      [['join', astray, '--server', url], 'invalid_request'],
    ] as const) {
      const { stdout, code: exit } = await other.run([...args, '--json']);
      expect([JSON.parse(stdout).error.code, exit === 0], args.join(' ')).to.deep.equal([expected, false]);
    }
    // A credential of the environment goes where it was sent, whatever a line says.
    const token = { SERVICE_TOKEN: await keyOf('nora'), SERVICE_SERVER: url };
    const { stdout } = await other.run(['join', astray, '--json'], { env: token });
    expect(JSON.parse(stdout).error).to.include({ code: 'invalid_request' });
    expect(JSON.parse(stdout).error.message).to.include('nothing was sent');
  });

  it('needs a board, a line or a code', async () => {
    const nothing = await other.run(['join']);
    expect([nothing.code, nothing.stderr.split(':')[0]]).to.deep.equal([2, 'Error (invalid_request)']);
    expect((await other.run(['join', '--board', 'demo', '--name', 'x'])).code).to.equal(2);
  });

  it('repeats a join under one key without a second agent', async () => {
    const { code } = await other.json(['code', 'create', '--board', 'demo']);
    const args = ['join', code.code, '--server', url, '--idempotency-key', 'once'];
    const [first, second] = [await other.json(args), await other.json(args)];
    expect([second.replayed, second.agent.id]).to.deep.equal([true, first.agent.id]);
  });

  it('lists codes and revokes them; agents that came stay', async () => {
    const { code } = await other.json(['code', 'create', '--board', 'demo', '--ttl', '1h', '--role', 'writer']);
    const { agent } = await other.json(['join', code.join_line, '--name', 'stays']);
    const { join_codes: listed } = await other.json(['code', 'list', '--board', 'demo']);
    expect(listed[0]).to.include({ id: code.id, role: 'writer', uses: 1, state: 'working' });
    expect(listed[0]).not.to.have.property('code');
    const revoked = await other.run(['code', 'revoke', code.id, '--board', 'demo']);
    expect(revoked.stdout).to.equal(`Revoked ${code.id} on demo: it brings nobody any more.\n`);
    const { join_codes: all } = await other.json(['code', 'list', '--board', 'demo', '--all']);
    expect(all.find(({ id }: { id: string }) => id === code.id).state).to.equal('revoked');
    expect((await other.run(['join', code.join_line])).code).to.equal(6);
    expect((await other.json(['whoami', '--as', agent.name])).me.id).to.equal(agent.id);
  });

  it('makes codes for guests as a person only', async () => {
    const { code, prompt } = await other.json(['code', 'guest', '@zoe', '--board', 'demo']);
    expect([code.kind, code.guest]).to.deep.equal(['guest', 'zoe']);
    expect(prompt).to.include('guest zoe').and.to.include(code.join_line);
    const asAgent = await other.run(['code', 'guest', 'zoe', '--as', 'mayas@demo']);
    expect([asAgent.code, asAgent.stderr.split(':')[0]]).to.deep.equal([5, 'Error (human_command_in_session)']);
    const taken = await other.run(['code', 'guest', 'maya', '--board', 'demo']);
    expect(taken.stderr).to.include('Error (handle_taken)').and.to.include('service board add maya');
  });

  it('promises of no command that makes a secret that its key finds the first one again', async () => {
    for (const command of ['code create --board demo', 'code guest zoe --board demo', 'invite create']) {
      const make = () => host.json([...command.split(' '), '--idempotency-key', 'once']);
      const [first, again] = [await make(), await make()].map(({ code, invite }) => (code ?? invite).id);
      expect(again, command).to.not.equal(first);
      const { stdout } = await host.run([...command.split(' ').slice(0, 2), '--help']);
      expect(stdout.replaceAll(/\s+/g, ' '), command).to.include('makes another one all the same');
    }
  });

  it('shows and ends delegations', async () => {
    const token = await keyOf('del');
    const answer = await fetch(`${url}/v1/delegations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'dels-laptop' }),
    });
    const { id } = (await answer.json()) as { id: string };
    const env = { SERVICE_TOKEN: token, SERVICE_SERVER: url };
    const list = await other.json(['key', 'delegations', '--key', 'laptop'], { env });
    expect(list.person.handle).to.equal('del');
    expect(list.delegations).to.have.length(1);
    expect(list.delegations[0]).to.include({ id, name: 'dels-laptop', state: 'working' });
    const ended = await other.run(['key', 'end-delegation', id], { env });
    expect(ended.stdout).to.equal(`Ended ${id}, called dels-laptop, on ${url}.\n`);
    expect((await other.json(['key', 'delegations'], { env })).delegations).to.deep.equal([]);
    const { stdout } = await other.run(['key', 'delegations', '--all'], { env });
    expect(stdout).to.include(`${url} · 1`).and.to.include('ended');
  });
});
