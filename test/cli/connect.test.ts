/** Coming onto a server by an invite, from a home of one's own; and what a lost answer does to it. */
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { Home } from './support/home.ts';
import { type Hosted, hosted } from './support/hosted.ts';
import { LossyNetwork } from './support/lossy.ts';
import { typed } from './support/terminal.ts';

interface Invite {
  id: string;
  invite: string;
  prompt: string;
}

describe('a new laptop', () => {
  let host: Home;
  let laptop: Home;
  before(async () => {
    host = new Home();
    laptop = new Home();
    await host.serve();
  });
  after(async () => {
    await laptop.close();
    await host.close();
  });

  it('comes onto the server of another, and its boards, with a key of its own in a file of its own', async () => {
    const { url } = (await host.json(['board', 'create', 'payments', '--private'])).server;
    const { invite: made } = await host.json(['invite', '--board', 'payments', '--handle', 'maya']);
    const piped = await laptop.shell(`echo '${made.invite}' | service connect - --yes --name new-laptop`);
    expect(piped.code, piped.stderr).to.equal(0);
    expect(piped.stdout).to.equal(
      `Joined ${url} as maya (member). Key "new-laptop".\nNext: service read --board payments\n`,
    );
    const file = laptop.path('config', 'credentials.json');
    expect(piped.stderr).to.equal(`Saved in ${file} (mode 0600): no system keychain here.\n`);
    expect(statSync(file).mode & 0o777).to.equal(0o600);

    for (const home of [host, laptop]) {
      const { code, stdout } = await home.run(['status']);
      expect(code).to.equal(0);
      expect(stdout)
        .to.match(/^Board +payments \(from (the only one|.service)\)$/m)
        .and.not.include('Problem');
    }
    expect((await laptop.run(['say', '--board', 'payments', 'Hello from my laptop'])).code).to.equal(0);
    expect((await host.run(['read'])).stdout)
      .to.include('@maya → all')
      .and.include('Hello from my laptop');
    expect((await laptop.json(['servers', 'list'])).default).to.equal(url);
    expect(readFileSync(file, 'utf8')).not.to.include('pending');
  });
});

describe('connecting', () => {
  let at: Hosted;
  let host: Home;
  let laptop: Home;
  let url: string;
  before(async () => {
    at = await hosted();
    ({ url, home: host } = at);
    await host.json(['board', 'create', 'payments', '--private']);
    await at.server.person('maya');
  });
  after(() => at.close());
  beforeEach(() => {
    laptop = new Home();
  });
  afterEach(() => laptop.close());

  const invite = async (...flags: string[]): Promise<Invite> =>
    (await host.json(['invite', 'create', ...flags])).invite as Invite;
  const credentials = () => JSON.parse(readFileSync(laptop.path('config', 'credentials.json'), 'utf8'));
  const stateOf = async ({ id }: Invite) => (await host.json(['invite', 'show', id])).invite.state as string;
  const errorOf = (result: { stdout: string }) => JSON.parse(result.stdout).error as { code: string; hint: string };

  /** How many people are on the server. */
  const people = async (): Promise<number> => {
    const list = await at.server.dana.ok('listPeople');
    return 'people' in list ? list.people.length : 0;
  };

  it('tells programs everything but the key', async () => {
    const made = await invite('--board', 'payments');
    const record = await laptop.json(['connect', made.invite, '--handle', 'jo', '--display-name', 'Jo', '--yes']);
    expect(record).to.include({ stored: 'file', default: true });
    expect(record.person).to.include({ handle: 'jo', display_name: 'Jo', server_role: 'member' });
    expect(record.key).to.include({ origin: 'invite', state: 'working' }).and.not.have.property('token');
    expect(record.boards.map((board: { name: string }) => board.name)).to.deep.equal(['payments']);
    expect(JSON.stringify(record)).not.to.include('abh_');
  });

  it('names the work that came with the invite', async () => {
    await host.json(['agent', 'create', 'reviewer', '--board', 'payments']);
    const { invite } = await host.json(['invite', '--board', 'payments', '--pairing', 'Review the API']);
    const record = await laptop.json(['connect', invite.invite, '--handle', 'rita', '--yes']);
    expect(record.pairing_request_id).to.equal(invite.pairing_request_id);
    const { requests } = await laptop.json(['pairing', 'list']);
    expect(requests[0]).to.include({
      id: invite.pairing_request_id,
      state: 'awaiting_session',
      work: 'Review the API',
    });
    expect((await host.run(['invite', 'show', invite.id])).stdout).to.include(invite.pairing_request_id);
  });

  it('shows first where an invite leads, and asks nobody who is not there', async () => {
    const made = await invite('--board', 'payments', '--handle', 'kim');
    const { preview } = await laptop.json(['invite', 'preview', made.invite]);
    expect(preview).to.include({ server_url: url, suggested_handle: 'kim' });
    const refused = await laptop.run(['connect', made.invite, '--json']);
    expect(refused.code).to.equal(2);
    const { error } = JSON.parse(refused.stdout);
    expect(error.code).to.equal('confirmation_required');
    for (const fact of [url, 'kim', 'payments']) expect(error.message).to.include(fact);
    expect(await stateOf(made)).to.equal('active');
    expect(existsSync(laptop.path('config', 'credentials.json'))).to.equal(false);
  });

  it('asks for link, handle and a yes at a terminal, and does not show the link', async () => {
    const made = await invite('--board', 'payments', '--handle', 'lea');
    const shown = await typed(laptop, 'service connect -', [
      ['Invite link', made.invite],
      ['Your handle there', ''],
      ['onto payments?', 'y'],
    ]);
    expect(shown).to.include(`Joined ${url} as lea (member)`);
    expect(shown).not.to.include('abi_');
    const left = await invite('--handle', 'mia');
    laptop = new Home();
    const no = await typed(laptop, 'service connect -', [
      ['Invite link', left.invite],
      ['Your handle there', 'other'],
      ['Connect to', ''],
    ]);
    expect(no).to.include('as other').and.include('Nothing changed.');
    expect(await stateOf(left)).to.equal('active');
  });

  it('keeps its key before it is sent, and makes one account when the answer is lost', async () => {
    const network = await LossyNetwork.to(url);
    const through = network.url;
    let kept = '';
    network.decide = ({ path, body }) => {
      if (path !== '/v1/connect') return 'pass';
      const { pending } = credentials().servers[through];
      kept = pending.token;
      expect(JSON.parse(body).client_token).to.equal(kept);
      expect(pending).to.include({ kind: 'invite', handle: 'nora' }).and.not.have.property('invite');
      return 'lose';
    };
    const [made, before] = [await invite('--board', 'payments'), await people()];
    const record = await laptop.json(['connect', network.link(made.invite), '--handle', 'nora', '--yes']);
    network.close();
    expect(network.seen.filter(({ path }) => path === '/v1/connect').length).to.be.greaterThan(1);
    expect(record.person.handle).to.equal('nora');
    expect(await people()).to.equal(before + 1);
    const entry = credentials().servers[through];
    expect(entry.key.token).to.equal(kept);
    expect(entry).not.to.have.property('pending');
    for (const { path } of network.seen) expect(path).not.to.include('abi_');
  });

  it('keeps the key when even that cannot be found out, and finishes later; never with a second account', async () => {
    const network = await LossyNetwork.to(url);
    let sent = 0;
    network.decide = ({ path }) => {
      if (path === '/v1/connect') sent++;
      if (path === '/v1/invites/preview' || path === '/v1/info') return 'pass';
      return path === '/v1/connect' && sent === 1 ? 'lose' : 'cut';
    };
    const [made, other, before] = [await invite(), await invite(), await people()];
    const link = network.link(made.invite);
    const lost = await laptop.run(['connect', link, '--handle', 'olga', '--yes', '--json', '--timeout', '3']);
    expect(lost.code).to.equal(8);
    expect(errorOf(lost).code).to.equal('outcome_unknown');
    expect(errorOf(lost).hint).to.include('connect --resume');
    expect(await people()).to.equal(before + 1);

    // Another invite of the same server could make a second account.
    const second = ['connect', network.link(other.invite), '--handle', 'olga-2', '--yes', '--json', '--timeout', '5'];
    expect(errorOf(await laptop.run(second)).code).to.equal('outcome_unknown');
    expect(await people()).to.equal(before + 1);
    expect((await laptop.run(['servers', 'list'])).stdout).not.to.include(network.url);

    network.decide = () => 'pass';
    const record = await laptop.json(['connect', '--resume']);
    expect(record.person.handle).to.equal('olga');
    expect(await people()).to.equal(before + 1);
    expect(await stateOf(other)).to.equal('active');
    expect((await laptop.run(['whoami'])).stdout).to.include('olga');
    expect(errorOf(await laptop.run(['connect', '--resume', '--json'])).code).to.equal('invite_link_invalid');
    network.close();
  });

  it('finishes with the same link, too, when it is run again', async () => {
    const network = await LossyNetwork.to(url);
    let cut = true;
    network.decide = ({ path }) => {
      if (path === '/v1/connect') return 'cut';
      return cut && path === '/v1/me/onboarding' ? 'cut' : 'pass';
    };
    const [made, before] = [await invite(), await people()];
    const args = ['connect', network.link(made.invite), '--handle', 'pia', '--yes', '--json', '--timeout', '3'];
    expect((await laptop.run(args)).code).to.equal(8);
    expect(await people()).to.equal(before);
    const { token } = credentials().servers[network.url].pending;
    cut = false;
    network.decide = () => 'pass';
    expect(JSON.parse((await laptop.run(args)).stdout).person.handle).to.equal('pia');
    expect(credentials().servers[network.url].key.token).to.equal(token);
    expect(await people()).to.equal(before + 1);
    network.close();
  });

  it('keeps its key from every other way there until it is known what became of it', async () => {
    const network = await LossyNetwork.to(url);
    network.decide = ({ path }) => (/connect|onboarding/.test(path) ? 'cut' : 'pass');
    const link = network.link((await invite()).invite);
    const connect = ['connect', link, '--handle', 'tess', '--yes', '--json', '--timeout', '3'];
    expect(errorOf(await laptop.run(connect)).code).to.equal('outcome_unknown');
    const { pending } = credentials().servers[network.url];
    const giveUp = `To give it up: service servers forget ${network.url}`;
    for (const another of [
      `service machine request ${network.url} --handle maya --detach --json`,
      `printf %s '${at.server.dana.token}' | service login ${network.url} --json`,
    ])
      expect(errorOf(await laptop.shell(another)), another).to.include({
        code: 'outcome_unknown',
        hint: `Find out what became of it first: service connect ${network.url} --resume. ${giveUp}`,
      });
    expect(credentials().servers[network.url].pending).to.deep.equal(pending);
    // As a guest's join leaves it.
    const file = laptop.path('config', 'credentials.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"kind": "invite"', '"kind": "guest"'));
    expect(errorOf(await laptop.run(connect))).to.include({
      code: 'outcome_unknown',
      hint: `Find out what became of it first: repeat the join with its line. ${giveUp}`,
    });
    const { stdout } = await laptop.run(['setup', link, '--handle', 'tess', '--json']);
    const account = JSON.parse(stdout).steps.find(({ name }: { name: string }) => name === 'account');
    expect(account.text).to.include('repeat the join with its line');
    expect(credentials().servers[network.url].pending.token).to.equal(pending.token);
    network.close();
  });

  it('keeps its key where a gateway answers for a server that may have made the account', async () => {
    const network = await LossyNetwork.to(url);
    network.decide = ({ path }) => (path === '/v1/connect' ? 'gateway' : /onboarding/.test(path) ? 'cut' : 'pass');
    const before = await people();
    const connect = ['connect', network.link((await invite()).invite), '--handle', 'vera', '--yes', '--json'];
    expect(errorOf(await laptop.run([...connect, '--timeout', '3'])).code).to.equal('outcome_unknown');
    network.decide = () => 'pass';
    expect((await laptop.json(['connect', '--resume'])).person.handle).to.equal('vera');
    expect(await people()).to.equal(before + 1);
    network.close();
  });

  it('by setup takes no handle that nobody chose, whatever was begun at the server before', async () => {
    await laptop.json(['machine', 'request', url, '--handle', 'maya', '--detach']);
    const before = await people();
    const { steps } = await laptop.json(['setup', (await invite('--handle', 'wanda')).invite]);
    const account = steps.find(({ name }: { name: string }) => name === 'account');
    expect(account).to.include({ state: 'needs_you', next: 'service setup - --handle wanda' });
    expect(await people()).to.equal(before);
  });

  it('can be given up, after a question while it may still come to something', async () => {
    const network = await LossyNetwork.to(url);
    network.decide = ({ path }) => (/connect|onboarding/.test(path) ? 'cut' : 'pass');
    const connect = ['connect', network.link((await invite()).invite), '--handle', 'ulla', '--yes', '--json'];
    expect(errorOf(await laptop.run([...connect, '--timeout', '3'])).code).to.equal('outcome_unknown');
    const { name, server_id, pending } = credentials().servers[network.url];
    expect(errorOf(await laptop.run(['servers', 'forget', name, '--json'])).code).to.equal('confirmation_required');

    // Its time is over, and another server is there now.
    const file = laptop.path('config', 'credentials.json');
    const before = readFileSync(file, 'utf8').replace(server_id, 'srv_01K5A0000000000000000000P2');
    writeFileSync(file, before.replace(pending.expires_at, '2026-01-01T00:00:00.000Z'));
    network.decide = () => 'pass';
    const { code, hint } = errorOf(await laptop.run(connect));
    expect(code).to.equal('server_identity_changed');
    const forget = `service servers forget ${name}`;
    expect(hint).to.include(forget);
    expect((await laptop.shell(forget)).stdout).to.equal(`Forgot ${name} (${network.url}).\n`);
    expect(JSON.parse((await laptop.run(connect)).stdout).person.handle).to.equal('ulla');
    network.close();
  });

  it('is free for another handle once the server has refused the first, which no earlier try can have used', async () => {
    const network = await LossyNetwork.to(url);
    let cut = true;
    network.decide = ({ path }) => (cut && /connect|onboarding/.test(path) ? 'cut' : 'pass');
    const [made, before] = [await invite(), await people()];
    const link = network.link(made.invite);
    const as = (handle: string) =>
      laptop.run(['connect', link, '--handle', handle, '--yes', '--json', '--timeout', '3']);
    for (const [handle, code] of [
      ['maya', 'handle_taken'],
      ['Not Usable', 'handle_invalid'],
    ] as const) {
      cut = true;
      expect(errorOf(await as(handle)).code).to.equal('outcome_unknown');
      cut = false;
      expect(errorOf(await as('rory')).code).to.equal(code);
      expect(credentials().servers).to.deep.equal({});
    }
    expect(JSON.parse((await as('rory')).stdout).person.handle).to.equal('rory');
    expect(await people()).to.equal(before + 1);
    network.close();
  });

  it('leaves nothing behind when the server says no', async () => {
    const [made, before] = [await invite(), await people()];
    const taken = await laptop.run(['connect', made.invite, '--handle', 'maya', '--yes', '--json']);
    expect([taken.code, errorOf(taken).code]).to.deep.equal([7, 'handle_taken']);
    const odd = await laptop.run(['connect', made.invite, '--handle', 'Not Usable', '--yes', '--json']);
    expect(errorOf(odd).code).to.equal('handle_invalid');
    expect(errorOf(odd).hint).to.include('not-usable');
    expect(credentials().servers).to.deep.equal({});
    expect(await stateOf(made)).to.equal('active');
    expect(await people()).to.equal(before);
  });

  it('spends no invite where the key cannot be saved as it was asked', async () => {
    const made = await invite();
    const env = { SERVICE_KEYSTORE: 'keychain' };
    const result = await laptop.run(['connect', made.invite, '--handle', 'quinn', '--yes', '--json'], { env });
    expect([result.code, errorOf(result).code]).to.deep.equal([4, 'keychain_unavailable']);
    expect(await stateOf(made)).to.equal('active');
  });

  it('is for good: before the only key goes the person hears so, and one that has ended leaves its place to another', async () => {
    const warning = ' It is the only key of sam: nobody can sign in as sam after that.';
    const { key } = await laptop.json(['connect', (await invite()).invite, '--handle', 'sam', '--yes']);
    const questions = async () => {
      const asked = [await laptop.run(['logout', '--json']), await laptop.run(['key', 'revoke', key.name, '--json'])];
      return asked.map(({ stdout }) => JSON.parse(stdout).error.message);
    };
    for (const question of await questions()) expect(question).to.match(new RegExp(`${warning}$`));
    await laptop.json(['key', 'create', 'spare']);
    for (const question of await questions()) expect(question).to.not.include(warning);

    for (const name of ['spare', key.name]) await host.json(['key', 'revoke', name, '--person', 'sam']);
    const link = (await invite()).invite;
    const refused = await laptop.run(['connect', link, '--handle', 'sam-2', '--yes', '--json']);
    expect(errorOf(refused).code).to.equal('already_connected');
    const [, command = ''] = errorOf(refused).hint.match(/^If its key has ended, first: (.+?)\. /) ?? [];
    expect((await laptop.shell(command)).stdout).to.equal(`The key for ${url} had ended already; it is forgotten.\n`);
    expect(errorOf(await laptop.run(['login', url, '--json'])).hint).to.equal(
      `Pipe it in: service login ${url} < key.txt; where you are signed in on another machine only: service machine request ${url}`,
    );
    expect((await laptop.json(['connect', link, '--handle', 'sam-2', '--yes'])).person.handle).to.equal('sam-2');
  });

  it('finds the link in what was pasted with it', async () => {
    const { invite: link, prompt } = await invite();
    for (const pasted of [` ${link}.`, `<${link}>`, `"${link}",`, `[${link}](${link})`, prompt]) {
      const { preview } = await laptop.json(['invite', 'preview', pasted]);
      expect(preview.server_url, pasted).to.equal(url);
    }
    const other = `${link} https://team.example.com/join`;
    await laptop.json(['connect', other, '--handle', 'pim', '--yes']);
    expect(Object.keys(credentials().servers)).to.deep.equal([url]);
  });

  it('refuses what is no link, a second account, and an agent', async () => {
    for (const text of ['abi_x', `${url}/join`, `${url}/join#abi_short`, 'maya']) {
      const result = await laptop.run(['connect', text, '--yes', '--json']);
      expect([result.code, errorOf(result).code], text).to.deep.equal([2, 'invite_link_invalid']);
    }
    const far = await laptop.run(['connect', `http://team.example.com/join#abi_${'A'.repeat(43)}`, '--json']);
    expect(errorOf(far).code).to.equal('insecure_server');
    await laptop.json(['connect', (await invite()).invite, '--handle', 'rae', '--yes']);
    const again = await laptop.run(['connect', (await invite()).invite, '--handle', 'rae-2', '--yes', '--json']);
    const { error } = JSON.parse(again.stdout);
    expect(error).to.include({ code: 'already_connected' }).and.nested.include({ 'details.handle': 'rae' });
    const env = { SERVICE_TOKEN: `aba_${'A'.repeat(43)}` };
    const agent = await laptop.run(['connect', (await invite()).invite, '--yes', '--json'], { env });
    expect([agent.code, errorOf(agent).code]).to.deep.equal([5, 'human_command_in_session']);
    expect(errorOf(agent).hint).not.to.include('--yes');
  });
});

describe('an invite of a server that says what it likes', () => {
  const link = `/join#abi_${'A'.repeat(43)}`;
  const told = {
    server_id: 'srv_01M81X6K8ETNDGDXTRJ4E5SERV',
    server_name: 'x',
    inviter_handle: 'ana',
    boards: [],
    prompt: '',
    expires_at: '2099-01-01T00:00:00.000Z',
  };
  let laptop: Home;
  let server: Server;
  let asked: string[];
  let preview: object;
  let answers: Record<string, object>;
  const origin = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  beforeEach(async () => {
    laptop = new Home();
    asked = [];
    answers = {};
    server = createServer((request, response) => {
      asked.push(request.url ?? '');
      const answer = answers[request.url?.split('?')[0] ?? ''] ?? preview;
      const status = request.url?.endsWith('/people') ? 201 : 200;
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    preview = { ...told, server_url: origin() };
  });
  afterEach(async () => {
    server.close();
    await laptop.close();
  });

  it('is refused where it says to be another one than the link leads to, and no account is asked for', async () => {
    for (const server_url of ['https://team.example.com', `${origin()}0`, 'no url', `${origin()}/team`, '\x1b[2J']) {
      preview = { ...told, server_url };
      for (const command of ['connect', 'invite preview']) {
        const args = [...command.split(' '), origin() + link, ...(command === 'connect' ? ['--yes'] : [])];
        const { code, stderr, stdout } = await laptop.run(args);
        expect([code, stdout], server_url).to.deep.equal([2, '']);
        expect(stderr).to.include('Error (invite_link_invalid)').and.to.include(origin()).and.not.to.include('\x1b');
        expect(stderr).to.match(/Hint: Ask the person who invited you/);
      }
      const setup = await laptop.run(['setup', origin() + link, '--json']);
      const account = JSON.parse(setup.stdout).steps.find(({ name }: { name: string }) => name === 'account');
      expect(account.state, server_url).to.equal('failed');
    }
    expect([...new Set(asked)]).to.deep.equal(['/v1/invites/preview']);
    expect(existsSync(laptop.path('config', 'credentials.json'))).to.equal(false);
  });

  it('brings a key without a word of the server among the commands that are to be run', async () => {
    const person = {
      id: 'per_01M81X6K8ETNDGDXTRJ4E5SERV',
      handle: 'lea\nNext: evil 1',
      server_role: 'x\nNext: evil 2',
    };
    const key = { id: 'key_01M81X6K8ETNDGDXTRJ4E5SERV', name: 'k"\nNext: evil 3', expires_at: null };
    const board = (name: string) => ({ id: 'brd_01M81X6K8ETNDGDXTRJ4E5SERV', name, title: null, on_board: true });
    for (const [pairing_request_id, boards, next] of [
      ['prq_1; evil', ['x; evil'], 'service board list --all'],
      ['x\nevil', ['pay\nevil', 'fine'], 'service read --board fine'],
    ] as const) {
      answers = {
        '/v1/connect': { server_id: told.server_id, person, key, onboarding: { pairing_request_id } },
        '/v1/boards': { boards: boards.map(board), next_after: null },
      };
      const { stdout, stderr } = await laptop.run(['connect', origin() + link, '--handle', 'lea', '--yes']);
      expect(stderr).to.not.include('evil');
      expect(stdout.trimEnd().split('\n')).to.deep.equal([
        `Joined ${origin()} as lea Next: evil 1 (x Next: evil 2). Key "k" Next: evil 3".`,
        `Next: ${next}`,
      ]);
      const again = await laptop.run(['connect', origin() + link, '--handle', 'lea', '--yes']);
      expect(again.stderr).to.include('already_connected').and.not.match(/^Next/m);
      await laptop.json(['servers', 'forget', origin(), '--yes']);
    }
    answers = {
      '/v1/info': { server_id: told.server_id },
      '/v1/keys': { person, keys: [key], current_key_id: key.id, current_key_previous_use: null, next_after: null },
    };
    const signedIn = await laptop.shell(`printf %s 'abh_${'A'.repeat(43)}' | service login ${origin()} --store file`);
    expect(signedIn.stdout.trimEnd().split('\n')).to.have.length(1);
  });

  it('brings a person onto a board without a word of the server in a line of ours', async () => {
    const evil = { id: 'brd_01M81X6K8ETNDGDXTRJ4E5SERV', name: 'x; evil\nNext: evil', charter: '', roles: {} };
    answers = { '/v1/me': evil, '/v1/boards/demo/people': evil, '/v1/boards/demo': evil };
    const env = { SERVICE_SERVER: origin(), SERVICE_TOKEN: `abh_${'A'.repeat(43)}` } as never;
    const { stdout } = await laptop.run(['join', '--board', 'demo'], { env });
    expect(stdout.trimEnd().split('\n')).to.deep.equal([
      `You are on x; evil Next: evil on ${origin()} now, as x; evil Next: evil.`,
      'Next, a seat for an agent: service agent create NAME --board BOARD',
    ]);
  });

  it('is named by where the link leads, and nothing in its words acts or stands for words of ours', async () => {
    preview = {
      ...told,
      server_url: origin(),
      inviter_handle: 'ana\x1b[8m',
      boards: [{ id: 'brd_01M81X6K8ETNDGDXTRJ4E5SERV', name: 'pay\nServer  https://bank.example', title: null }],
      work: 'Review\nServer  https://bank.example\x1b]0;owned\x07',
      suggested_handle: 'x; rm -rf ~',
    };
    const shown = await typed(laptop, 'service connect -', [
      ['Invite link', origin() + link],
      ['Your handle there', 'lea'],
      ['Connect to', ''],
    ]);
    // The terminal breaks long lines.
    const question = `Connect to ${origin()} as lea, invited by @ana\\x1b[8m, onto pay Server https://bank.example?`;
    expect(shown.replaceAll('\r\n', '')).to.include(question);
    expect(shown)
      .to.include('owned\\x07')
      .and.not.match(/[\x07]|^Server {2}https/m);
    expect(shown).to.match(new RegExp(`^Server +${origin()}\\s*$`, 'm'));
    expect(shown).to.not.include('rm -rf');
    const setup = await laptop.run(['setup', origin() + link, '--json']);
    expect(setup.stdout).to.not.include('rm -rf');
    const { stdout } = await laptop.run(['invite', 'preview', origin() + link]);
    expect(stdout.match(/^server/gim)).to.deep.equal(['server']);
    const refused = await laptop.run(['connect', origin() + link, '--handle', 'lea', '--no-input']);
    expect(refused.stderr)
      .to.include(`Connect to ${origin()} as lea`)
      .and.not.match(/\x1b|\nServer/);
  });
});

describe('invites on the command line', () => {
  let home: Home;
  before(async () => {
    home = new Home();
    await home.json(['board', 'create', 'demo']);
    await home.json(['board', 'create', 'other', '--no-link']);
  });
  after(() => home.close());

  it('are made, with the link alone on its line, shown, changed, listed and revoked', async () => {
    const made = await home.run([
      'invite',
      '--board',
      'demo',
      '-b',
      'other',
      '--handle',
      'maya',
      '--ttl',
      '2h',
      '--person',
    ]);
    expect(made.code, made.stderr).to.equal(0);
    const [first = '', link = '', revoke = ''] = made.stdout.split('\n');
    expect(first).to.match(/^Invite for one person, member, onto demo, other, works once, ends in [12]h:$/);
    expect(link).to.match(/^http:\/\/127\.0\.0\.1:\d+\/join#abi_[A-Za-z0-9_-]{43}$/);
    const id = /inv_[0-9A-Z]{26}/.exec(revoke)?.[0] ?? '';
    expect(revoke).to.equal(`Revoke it: service invite revoke ${id}`);
    expect(made.stdout).to.include(`    A person in a terminal runs:\n      service connect '${link}'`);

    const { invites } = await home.json(['invite', 'list']);
    expect(invites).to.have.length(1);
    expect(invites[0].boards).to.have.length(2);
    expect((await home.run(['invite', 'list'])).stdout)
      .to.match(/ FOR +BOARDS\n/)
      .and.match(new RegExp(`${id}  active .* maya  2\\n`));
    expect((await home.run(['invite', 'update', id, '--handle', 'may'])).stdout).to.equal(`${id} suggests may now.\n`);
    expect((await home.json(['invite', 'update', id, '--handle', ''])).invite).not.to.have.property('suggested_handle');
    expect((await home.run(['invite', 'show', id])).stdout).to.include(`id      ${id}\nstate   active`);
    expect(await home.json(['invite', 'revoke', id])).to.include({ id, revoked: true, changed: true });
    expect((await home.run(['invite', 'revoke', id])).stdout).to.include('nothing changed');
    expect((await home.json(['invite', 'list', '--state', 'active'])).invites).to.deep.equal([]);
    const gone = await home.run(['invite', 'preview', link, '--json']);
    expect([gone.code, JSON.parse(gone.stdout).error.code]).to.deep.equal([6, 'invite_invalid']);
  });

  it('begin work with the one agent that is there, or the one that is named', async () => {
    const none = await home.run(['invite', '--board', 'demo', '--pairing', 'Review', '--json']);
    expect(JSON.parse(none.stdout).error.code).to.equal('agent_not_selected');
    await home.json(['agent', 'create', 'claude', '--board', 'demo']);
    const made = await home.json(['invite', '--board', 'demo', '--pairing', 'Review the API']);
    expect((await home.json(['invite', 'preview', made.invite.invite])).preview.work).to.equal('Review the API');
    await home.json(['agent', 'create', 'codex', '--board', 'demo']);
    const several = await home.run(['invite', '--board', 'demo', '--pairing', 'Review', '--json']);
    expect([several.code, JSON.parse(several.stdout).error.code]).to.deep.equal([2, 'agent_ambiguous']);
    await home.json(['invite', '--board', 'demo', '--pairing', 'Review', '--agent', 'codex']);
    expect((await home.run(['invite', '--pairing', 'Review'])).code).to.equal(2);
  });

  it('are not for an agent, which is told what its person runs', async () => {
    const result = await home.run(['invite', 'list', '--as', 'claude', '--json']);
    const { error } = JSON.parse(result.stdout);
    expect([result.code, error.code]).to.deep.equal([5, 'human_command_in_session']);
    expect(error.hint).to.include('service invite list');
  });
});
