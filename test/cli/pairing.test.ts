/** Proposals of work from the command line: between two people, between two sessions of one, by people and by agents. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { ScriptedDaemon } from '../daemon/support/scripted-daemon.ts';
import { homeWithBoard } from './support/shared.ts';

describe('proposed work', () => {
  const home = homeWithBoard();
  let url: string;
  let key: string;
  /** Sam, who is on the board with an agent; and the agents' own tokens. */
  let sam: Record<string, string>;
  let claude: Record<string, string>;
  before(async () => {
    ({ url } = (await home().json(['whoami'])).server);
    key = readFileSync(home().path('data', 'local-key'), 'utf8').trim();
    const { token } = await home().json(['agent', 'create', 'claude', '--board', 'demo', '--print-token']);
    claude = { SERVICE_TOKEN: token, SERVICE_SERVER: url };
    const { invite } = await post('/v1/invites', key, {});
    const connected = await post('/v1/connect', key, { invite, handle: 'sam', key_name: 'laptop' });
    sam = { SERVICE_TOKEN: connected.key.token, SERVICE_SERVER: url };
    await home().json(['board', 'add', 'sam', '--board', 'demo']);
    for (const name of ['codex', 'cursor'])
      await home().json(['agent', 'create', name, '--board', 'demo', '--print-token'], { env: sam });
  });

  async function post(path: string, token: string, body: unknown) {
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    });
    // biome-ignore lint/suspicious/noExplicitAny: what the server answered is checked field by field
    return (await answer.json()) as any;
  }

  async function api(env: Record<string, string>, path: string) {
    const answer = await fetch(url + path, { headers: { authorization: `Bearer ${env.SERVICE_TOKEN}` } });
    // biome-ignore lint/suspicious/noExplicitAny: what the server answered is checked field by field
    return (await answer.json()) as any;
  }

  const failed = async (args: string[], options = {}) => {
    const result = await home().run([...args, '--json'], options);
    return { ...JSON.parse(result.stdout).error, exit: result.code };
  };
  // biome-ignore lint/suspicious/noExplicitAny: the request as the server answers it
  const read = async (id: string): Promise<any> => (await home().json(['pairing', 'show', id])).request;
  /** Selects a session of the initiator, as its runtime does. */
  async function begin({ id, initiating_agent_id }: { id: string; initiating_agent_id: string }) {
    const answer = await post('/v1/pairing-credentials', key, {
      request_id: id,
      side: 'initiator',
      agent_id: initiating_agent_id,
      session_binding: `sha256:${'0'.repeat(64)}`,
      generation: 1,
      client_token: `abp_${randomBytes(32).toString('base64url')}`,
    });
    expect(answer.request.initiator.live).to.equal(true);
  }
  const propose = async (...more: string[]): Promise<string> =>
    (await home().json(['pairing', 'request', 'sam', 'Review the API', '--board', 'demo', ...more])).request.id;

  it('is made, listed and shown in words, with the command that comes next', async () => {
    const made = await home().run(['pairing', 'request', '@sam', 'Review the API', '--board', 'demo']);
    const [id = ''] = made.stdout.split(' ');
    expect(made.stdout).to.match(
      /^prq_\w{26} {2}awaiting_session {2}demo {2}\S+'s claude with sam {2}waiting for both sides\n/,
    );
    expect(made.stdout).to.include(
      `Next: service pairing select ${id} --here --server '${url}'\nRun it in the session that should do the work, for the initiator.`,
    );
    const { stdout } = await home().run(['pairings']);
    expect(stdout)
      .to.include(`${url} · 1\n`)
      .and.match(new RegExp(`${id} +awaiting_session +demo .*"Review the API"`));
    const inbox = await home().run(['inbox'], { env: sam });
    expect(inbox.stdout).to.include('1 proposal of work: service pairing list\n');
    const shown = await home().run(['pairing', 'show', id], { env: sam });
    expect(shown.stdout).to.include('Review the API').and.include(`Next: service pairing accept ${id} --here`);
    const { requests } = await home().json(['pairing'], { env: claude });
    expect(requests.map((request: { id: string }) => request.id)).to.deep.equal([id]);
    expect((await home().run(['pairing', 'cancel', id], { env: claude })).stdout).to.include('cancelled');
    expect((await home().json(['pairing', 'list'])).requests).to.deep.equal([]);
    const { requests: ended } = await home().json(['pairing', 'list', '--state', 'closed']);
    expect(ended[0]).to.include({ id, state: 'cancelled', closed_reason: 'cancelled' });
  });

  it('says that it was made or handed on already, where the same is asked for under one key', async () => {
    const request = ['pairing', 'request', 'me', 'Write the tests', '--board', 'demo', '--agent', 'codex'];
    request.push('--idempotency-key', 'own-1');
    const first = await home().json(request, { env: sam });
    expect(await home().json(request, { env: sam })).to.deep.include({ replayed: true, request: first.request });
    const [line] = (await home().run(request, { env: sam })).stdout.split('\n');
    expect(line).to.match(/waiting for both sides \(already done\)$/);
    const choose = ['pairing', 'choose', first.request.id, 'cursor', '--idempotency-key', 'own-2'];
    await home().json(choose, { env: sam });
    expect(await home().json(choose, { env: sam })).to.include({ replayed: true });
    await home().json(['pairing', 'cancel', first.request.id], { env: sam });
  });

  it('of many lines is read from a pipe, and shown by its first', async () => {
    const made = await home().shell(
      `printf 'Write the tests\\nfor the parser' | service pairing request sam - --board demo --json`,
    );
    const { request } = JSON.parse(made.stdout);
    expect(request.work).to.equal('Write the tests\nfor the parser');
    expect((await home().run(['pairing', 'list'])).stdout).to.include('"Write the tests…"');
    await home().json(['pairing', 'cancel', request.id]);
  });

  it('is handed to one agent of whom it is for, which is told the command to run', async () => {
    const id = await propose();
    const { request } = await home().json(['pairing', 'choose', id, 'codex'], { env: sam });
    expect(request.choice_message_id).to.match(/^msg_/);
    expect(await failed(['pairing', 'choose', id, 'cursor'], { env: sam })).to.include({
      code: 'pairing_changed',
      exit: 7,
    });
    await home().json(['pairing', 'choose', id, 'cursor', '--replace'], { env: sam });
    expect(await failed(['pairing', 'choose', id, 'claude'])).to.include({ code: 'forbidden', exit: 5 });
    const { messages } = await home().json(['board', 'read', '--board', 'demo'], { env: sam });
    const last = messages.at(-1);
    expect(last.to).to.deep.equal(['@cursor']);
    expect(last.body)
      .to.include(`service pairing accept ${id} --here --server '${url}'`)
      .and.include('> Review the API');
    const declined = await home().run(['pairing', 'decline', id], { env: sam });
    expect(declined.stdout).to.include('declined');
    expect(await failed(['pairing', 'cancel', id])).to.include({ code: 'pairing_closed', exit: 7 });
  });

  it('that is over is shown by the command of the notice of its end, run as printed', async () => {
    const id = await propose();
    await home().json(['pairing', 'decline', id], { env: sam });
    const { notices } = await api(claude, '/v1/me/notices');
    const [ended] = notices.filter((notice: { pairing_request_id: string }) => notice.pairing_request_id === id);
    expect(ended.kind).to.equal('pairing_closed');
    const shown = await home().shell(ended.next.command, { env: claude });
    expect(shown.stdout).to.match(new RegExp(`${id} +declined `));
  });

  it('may be with another session of one’s own', async () => {
    const { request } = await home().json(['pairing', 'request', 'me', 'Write the tests', '--board', 'demo']);
    expect(request.recipient_id).to.equal(request.inviter_id);
    await home().json(['pairing', 'cancel', request.id]);
  });

  it('of an agent waits for its person where the recipient has to come onto a private board first', async () => {
    await home().json(['board', 'create', 'secret', '--private', '--no-link']);
    const { token } = await home().json(['agent', 'create', 'insider', '--board', 'secret', '--print-token']);
    const env = { SERVICE_TOKEN: token, SERVICE_SERVER: url };
    const { request, next } = await home().json(['pairing', 'request', 'sam', 'Look', '--board', 'secret'], { env });
    expect([request.state, request.awaiting]).to.deep.equal(['awaiting_session', 'initiator']);
    expect(await failed(['pairing', 'show', request.id], { env: sam })).to.include({
      code: 'pairing_not_found',
      exit: 6,
    });
    const words = next.command.replaceAll("'", '').split(' ').slice(1);
    await home().json([...words, '--yes']);
    expect((await home().json(['pairing', 'show', request.id], { env: sam })).request.id).to.equal(request.id);
  });

  it('names what comes next to the side that has to do it', async () => {
    const id = await propose();
    await begin(await read(id));
    const own = await home().run(['pairing', 'show', id]);
    expect(own.stdout).to.include('waiting for the recipient').and.not.include('Next');
    const theirs = await home().run(['pairing', 'show', id], { env: sam });
    expect(theirs.stdout).to.include(
      `Next: service pairing accept ${id} --here --server '${url}'\nRun it in the session that should do the work, for the recipient.\n`,
    );
    await home().json(['pairing', 'cancel', id]);
  });

  it('with oneself names to an agent the command of its own side', async () => {
    await home().json(['agent', 'create', 'helper', '--board', 'demo']);
    const request = ['pairing', 'request', 'me', 'Write the tests', '--board', 'demo', '--as', 'helper'];
    const made = await home().run(request);
    const [id = ''] = made.stdout.split(' ');
    expect(made.stdout).to.include(`Next: service pairing select ${id} --here`);
    await begin(await read(id));
    const accept = `Next: service pairing accept ${id} --here`;
    expect((await home().run(['pairing', 'show', id])).stdout).to.include(accept);
    expect((await home().run(['pairing', 'show', id, '--as', 'helper'])).stdout)
      .to.include('waiting for the recipient')
      .and.not.include('Next');
    await home().json(['agent', 'remove', 'helper', '--board', 'demo', '--yes']);
  });

  it('is bound to a session by nothing but that session, which says that it is meant', async () => {
    const id = await propose();
    for (const verb of ['accept', 'select']) {
      expect(await failed(['pairing', verb, id])).to.include({ code: 'invalid_request', exit: 2 });
      const terminal = await failed(['pairing', verb, id, '--here']);
      expect(terminal).to.include({ code: 'agent_session_required', exit: 5 });
      expect(terminal.hint).to.include(`service pairing ${verb} PRQ --here`);
    }
    for (const verb of ['choose', 'decline']) {
      const args = ['pairing', verb, id, ...(verb === 'choose' ? ['codex'] : [])];
      expect((await failed(args, { env: claude })).code).to.equal('human_command_in_session');
    }
  });

  describe('in a session', () => {
    const session = { SERVICE_SESSION: 'claude-code:one', SERVICE_BOOT: 'feedfeedfeedfeed', CLAUDECODE: '1' };
    let daemon: ScriptedDaemon;
    beforeEach(async () => {
      daemon = await new ScriptedDaemon(home().store).listen();
    });
    afterEach(() => daemon.close());
    const run = async (...args: string[]) => {
      const result = await home().run(['pairing', ...args, '--here', '--json'], { env: session });
      return { code: result.code, json: JSON.parse(result.stdout) };
    };

    it('is bound by the daemon, which is told the side, the session and one key', async () => {
      const id = await propose();
      const { request } = await home().json(['pairing', 'show', id]);
      daemon.answers.pairing = (_, peer) => peer.send({ pairing: request });
      const selected = await run('select', id);
      expect([selected.code, selected.json.request]).to.deep.equal([0, request]);
      expect((await run('accept', '--replace', '--server', url)).json.request.id).to.equal(id);
      const [first, second] = daemon.of('pairing');
      expect(first).to.include({
        harness: 'claude-code',
        session: 'one',
        action: 'select',
        pairing_id: id,
        server: url,
      });
      expect(first?.idempotency_key).to.match(/^cli_\w{26}$/);
      expect(second).to.include({ action: 'accept', replace: true, server: url }).and.not.have.property('pairing_id');
      expect(JSON.stringify(daemon.frames)).not.to.match(/ab[a-z]_[\w-]{20,}/);
    });

    it('is not told the command of the other side', async () => {
      const { request: made } = await home().json(['pairing', 'request', 'me', 'Write', '--board', 'demo']);
      await begin(made);
      const request = await read(made.id);
      const text = async (verb: string, pairing: unknown) => {
        daemon.answers.pairing = (_, peer) => peer.send({ pairing });
        return (await home().run(['pairing', verb, made.id, '--here'], { env: session })).stdout;
      };
      expect(request.next.command).to.include('pairing accept');
      expect(await text('select', request))
        .to.include('waiting for the recipient\n')
        .and.not.include('Next');
      expect(await text('accept', request)).to.include('Next: service pairing accept');
      const next = { ...request.next, command: request.next.command.replace('accept', 'select') };
      const without = { ...request, state: 'awaiting_endpoint', awaiting: 'initiator', next };
      expect(await text('accept', without))
        .to.include('waiting for the initiator\n')
        .and.not.include('Next');
    });

    it('is told what the daemon refuses, with the exit code it has everywhere', async () => {
      const refusals = { pairing_ambiguous: 2, pairing_changed: 7, pairing_closed: 7, pairing_not_found: 6 };
      for (const [code, exit] of Object.entries(refusals)) {
        daemon.answers.pairing = (_, peer) => peer.send({ error: { code, message: 'no', hint: 'look' } });
        const refused = await run('accept');
        expect([refused.code, refused.json.error.code]).to.deep.equal([exit, code]);
      }
    });
  });

  it('is refused to others as if it did not exist', async () => {
    const id = await propose();
    const { invite } = await post('/v1/invites', key, {});
    const eve = await post('/v1/connect', key, { invite, handle: 'eve', key_name: 'laptop' });
    const env = { SERVICE_TOKEN: eve.key.token, SERVICE_SERVER: url };
    for (const never of [id, 'prq_01K5A0000000000000000000P9'])
      expect(await failed(['pairing', 'show', never], { env })).to.include({ code: 'pairing_not_found', exit: 6 });
    expect((await home().run(['pairing', 'request', 'nobody-here', 'x', '--board', 'demo'])).code).to.equal(6);
  });
});
