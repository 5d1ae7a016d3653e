/**
 * Two people, two machines, two agents: what one agent asks for is allowed at a terminal and in a browser, and the colleague
 * comes onto the server with an agent of their own. All of it by the built program, but for what a page does.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Answer, PairingSide } from '../../src/contract/types.ts';
import { newBinding, newProof } from '../api/pairing/cast.ts';
import { Api } from '../support/api.ts';
import { type Browser, browserOf, trySignIn } from '../support/browser.ts';
import { finished, Home } from './support/home.ts';
import { typed } from './support/terminal.ts';

interface Notice {
  kind: string;
  text: string;
  next: { command: string };
}

/** A session's runtime: it has its person's key and a proof, which no model ever sees; the session speaks by commands. */
interface Endpoint {
  id: string;
  name: string;
  person: Api;
  proof: Api;
  select(request: { id: string }, side: PairingSide): Promise<Answer<'selectPairingEndpoint'>>;
  runs(args: string[]): ReturnType<Home['json']>;
}

describe('from a request to a colleague', function () {
  this.timeout(180_000);
  let anas: Home;
  let mayas: Home;
  let url: string;
  let link: string;
  /** Of the agent that asked. */
  let ours: Endpoint;
  /** The session of Ana's agent, in which no command is hers. */
  const session = { SERVICE_SESSION: 'codex:s1', SERVICE_AGENT: 'helper' };
  before(async () => {
    anas = new Home({ bare: true });
    mayas = new Home({ bare: true });
    ({ url } = (await anas.json(['board', 'create', 'launch', '--private'])).server);
    await anas.json(['agent', 'create', 'helper', '--board', 'launch', '--harness', 'codex']);
  });
  after(async () => {
    await mayas.close();
    await anas.close();
  });

  /** A command that the server told, as it was told. */
  const words = (command: string): string[] => command.replaceAll("'", '').split(' ').slice(1);
  const asHelper = (args: string[]) => anas.json(args, { env: session });
  const asks = (...more: string[]) => asHelper(['invite', 'create', '--board', 'launch', ...more]);
  const kinds = (notices: Notice[]): string[] => notices.map(({ kind }) => kind);

  it('begins with an agent that asks and may not decide', async () => {
    const { state, approval, next } = await asks('--handle', 'maya', '--pairing', 'Review the API');
    expect([state, approval.state]).to.deep.equal(['pending', 'pending']);
    const refused = await anas.run([...words(next.command), '--yes', '--json'], { env: session });
    expect(JSON.parse(refused.stdout).error.code).to.equal('human_command_in_session');
    const shown = await typed(anas, next.command.replaceAll("'", '"'), [['Allow it?', 'y']]);
    expect(shown).to.include('helper wants to invite one person to the server, onto launch.');
    expect(shown).to.include('For: maya').and.include('Review the API');
    expect(shown).to.include('Allowed: invite one person to the server, onto launch.');
    link = /https?:\S+\/join#abi_[\w-]{43}/.exec(shown)?.[0] ?? '';
    expect(link.startsWith(url)).to.equal(true);
  });

  it('goes on with the agent, which is told and collects the link once', async () => {
    const { notices } = await asHelper(['inbox', 'notices', '--ack']);
    expect(kinds(notices)).to.deep.equal(['approval_allowed']);
    const got = await asHelper(words(notices[0].next.command));
    expect([got.collected, got.invite.invite]).to.deep.equal([true, link]);
    const again = await asHelper(words(notices[0].next.command));
    expect([again.recovered, again.invite.invite]).to.deep.equal([true, link]);
    expect((await asHelper(['inbox', 'notices'])).notices).to.deep.equal([]);
    // Its runtime selects the session that asked, long before there is anybody to work with.
    ours = await endpoint(anas, 'helper', session);
    const { request } = await ours.select({ id: got.pairing_request_id }, 'initiator');
    expect([request.state, request.awaiting]).to.deep.equal(['awaiting_account', 'recipient']);
  });

  it('brings the colleague onto server and board, with a machine of their own', async () => {
    // Programs often give what they start a socket.
    const started = mayas.start(['invite', 'preview', '-'], { stdin: 'pipe' });
    started.stdin?.end(link);
    expect(await finished(started)).to.deep.include({ code: 0, stderr: '' });
    const preview = await mayas.shell(`echo '${link}' | service invite preview -`);
    expect(preview.stdout).to.include('launch').and.include('Review the API').and.include('maya');
    const joined = await mayas.shell(`echo '${link}' | service connect - --yes --name workbench`);
    const [said, next = ''] = joined.stdout.split('\n');
    expect(said, joined.stderr).to.equal(`Joined ${url} as maya (member). Key "workbench".`);
    expect(next).to.match(/^Next: service pairing show prq_\w{26}$/);
    expect((await mayas.json(words(next.replace('Next: ', '')))).request.work).to.equal('Review the API');
    await mayas.json(['agent', 'create', 'reviewer', '--board', 'launch', '--harness', 'claude']);
    const told = (await asHelper(['inbox', 'notices'])).notices as Notice[];
    expect(kinds(told)).to.deep.equal(['invite_redeemed', 'colleague_arrived']);
    for (const { next } of told) await asHelper(words(next.command));
    const { arrivals } = await anas.json(['inbox']);
    expect(arrivals).to.have.length(1);
    expect(arrivals[0].boards[0].agents[0].name).to.equal('reviewer');
    expect((await anas.run(['inbox'])).stdout).to.include('@maya came by your invite, with reviewer on launch.');
    const used = await mayas.shell(`echo '${link}' | service invite preview - --json`);
    expect(JSON.parse(used.stdout).error.code).to.equal('invite_invalid');
  });

  it('pairs the two sessions, each proven to hear the other', async () => {
    const theirs = await endpoint(mayas, 'reviewer', {});
    const { requests } = await mayas.json(['pairing', 'list']);
    const [request, ...others] = requests;
    if (!request) throw new Error('nothing is to be paired');
    expect([request.state, request.work, others]).to.deep.equal(['awaiting_session', 'Review the API', []]);
    const left = Date.parse(request.expires_at) - Date.now();
    expect(left).to.be.within(7 * 86_400_000 - 120_000, 7 * 86_400_000);
    const selected = await theirs.select(request, 'recipient');
    expect(selected.request.state).to.equal('awaiting_endpoint');
    const params = { pairing: request.id };
    const accepted = await theirs.proof.ok('acceptPairing', { params, body: { agent_id: theirs.id, generation: 1 } });
    expect([accepted.state, accepted.awaiting]).to.deep.equal(['verifying', 'both']);

    expect((await roundTrip(ours, theirs, request)).state).to.equal('verifying');
    expect((await roundTrip(theirs, ours, request)).state).to.equal('ready');
    for (const { runs, proof } of [ours, theirs]) {
      expect((await runs(['pairing', 'show', request.id])).request.state).to.equal('ready');
      expect(await proof.refused('getPairingRequest', { params })).to.equal('401 unauthorized');
    }
    expect(kinds((await asHelper(['inbox', 'notices', '--ack'])).notices)).to.include('pairing_ready');
    expect(kinds((await mayas.json(['inbox', 'notices', '--as', 'reviewer'])).notices)).to.include('pairing_ready');
  });

  async function endpoint(home: Home, name: string, env: Record<string, string>): Promise<Endpoint> {
    const runs = (args: string[]) => home.json([...args, '--as', name], { env });
    const { agent } = await runs(['agent', 'show', name]);
    const person = new Api(url, keyOf(home));
    const client_token = newProof();
    return {
      id: agent.id,
      name,
      person,
      proof: new Api(url, client_token),
      runs,
      select: (request, side) =>
        person.ok('selectPairingEndpoint', {
          body: {
            request_id: request.id,
            side,
            agent_id: agent.id,
            session_binding: newBinding(),
            generation: 1,
            client_token,
          },
        }),
    };
  }

  /** The key that a machine has saved. */
  function keyOf(home: Home): string {
    const local = home.path('data', 'local-key');
    const file = existsSync(local) ? local : home.path('config', 'credentials.json');
    return /abh_[\w-]{43}/.exec(readFileSync(file, 'utf8'))?.[0] ?? '';
  }

  /** What one side asks reaches the other session by its inbox, and its answer comes back the same way. */
  async function roundTrip(from: Endpoint, to: Endpoint, { id }: { id: string }) {
    const params = { pairing: id };
    const { challenge } = await from.proof.ok('getPairingRequest', { params });
    if (!challenge) throw new Error('nothing to ask');
    await from.runs(['say', challenge.ping_text, '--to', `@${to.name}`, '--expect-reply']);
    const heard = (await to.runs(['inbox'])).messages.at(-1);
    expect(heard.body).to.equal(challenge.ping_text);
    await to.runs(['say', challenge.reply_line, '--reply', String(heard.seq), '--to', `@${from.name}`]);
    const answered = (await from.runs(['inbox'])).messages.at(-1);
    const body = {
      generation: challenge.generation,
      direction: challenge.direction,
      ping_seq: heard.seq,
      reply_seq: answered.seq,
      handoff_id: `hnd_${'0'.repeat(32)}`,
    };
    return from.proof.ok('verifyPairing', { params, body });
  }

  it('lets the two agents work with each other', async () => {
    await asHelper(['say', '@reviewer Please look at the API.', '--expect-reply']);
    const { messages } = await mayas.json(['inbox', '--as', 'reviewer']);
    expect(messages.map(({ body }: { body: string }) => body)).to.deep.equal(['@reviewer Please look at the API.']);
    await mayas.json(['say', 'It is fine.', '--reply', String(messages[0].seq), '--as', 'reviewer']);
    const back = await asHelper(['inbox']);
    expect(back.messages.map(({ body }: { body: string }) => body)).to.deep.equal(['It is fine.']);
  });

  /** Signs a browser in by the link that the person's terminal prints. */
  async function browser(): Promise<Browser> {
    const { url: page } = await anas.json(['open', '--print']);
    const code = new URLSearchParams(new URL(page).hash.slice(1)).get('code');
    return browserOf(url, await trySignIn(url, { code }));
  }

  it('is allowed on the page as well, which shows the link and hides what only a key may', async () => {
    const page = await browser();
    const invite = (await asks('--handle', 'nils')).approval.id as string;
    const waiting = await page.ok('listApprovals', { query: { state: 'pending' } });
    expect(waiting.approvals.map(({ id }) => id)).to.deep.equal([invite]);
    const call = { params: { approval: invite }, body: {} };
    for (const missing of ['x-service-csrf', 'origin']) {
      const forged = await page.call('allowApproval', { ...call, headers: { [missing]: '' } });
      expect([forged.status, forged.body.invite], missing).to.deep.equal([403, undefined]);
    }
    const allowed = await page.call('allowApproval', call);
    expect([allowed.status, allowed.body.state]).to.deep.equal([201, 'executed']);
    const got = await asHelper(['approval', 'collect', invite]);
    expect(got.invite.invite).to.equal(allowed.body.invite?.invite);

    const role = await asHelper(['people', 'role', 'maya', 'admin', '--request']);
    const held = await page.call('allowApproval', { params: { approval: role.approval.id }, body: {} });
    expect([held.status, held.body.state]).to.deep.equal([202, 'pending']);
    const done = await anas.run([...words(held.body.next?.command ?? ''), '--yes']);
    expect(done.stdout).to.equal('Allowed: make maya an admin of the server.\n');
    expect((await mayas.json(['whoami'])).me.server_role).to.equal('admin');
    const no = (await asks()).approval.id as string;
    expect((await page.ok('declineApproval', { params: { approval: no } })).state).to.equal('declined');
    const told = (await asHelper(['inbox', 'notices'])).notices as Notice[];
    expect(kinds(told)).to.include('approval_declined');
  });

  it('leaves no link on either machine', () => {
    for (const home of [anas, mayas]) {
      const files = readdirSync(home.store, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      expect(files.length).to.be.greaterThan(0);
      for (const { parentPath, name } of files) {
        expect(readFileSync(`${parentPath}/${name}`, 'latin1'), name).not.to.match(/abi_[\w-]{43}/);
      }
    }
  });
});
