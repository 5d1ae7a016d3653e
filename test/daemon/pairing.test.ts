/** Sessions that show each other that what they send arrives, through true deliveries. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { PairingRequest } from '../../src/contract/types.ts';
import type { SeatIdentity } from '../../src/daemon/refs.ts';
import { serverPorts } from '../../src/daemon/server-ports.ts';
import { allow, held, invitePeople } from '../api/approvals/cast.ts';
import type { Api } from '../support/api.ts';
import { newBoard, post } from '../support/cast.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { noteSecrets } from '../support/secrets.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { errorOf } from './support/error-of.ts';
import type { Frame } from './support/line.ts';
import { Rig, type RigOptions, type TestSession, took } from './support/rig.ts';
import { StepClock } from './support/step-clock.ts';

describe('pairing two sessions', () => {
  let server: TestServer;
  let proxy: FaultProxy;
  let rig: Rig;
  let board: { id: string; name: string };
  let seats: SeatIdentity[];
  let sessions: TestSession[];
  let keys = 0;

  before(async () => {
    server = await startTestServer('sqlite');
  });
  after(() => server.stop());

  const whole = (): RigOptions => {
    const { folders, home } = rig.machine;
    const place = { folders, env: { SERVICE_HOME: home }, version: '0.0.1' };
    return { ports: (connecting) => serverPorts(place, connecting) };
  };

  beforeEach(async () => {
    proxy = await new FaultProxy(server.url).listen();
    rig = new Rig(server);
    rig.origin = proxy.url;
    const { server_id } = await server.nobody.ok('getInfo');
    const person = { id: (await dana()).id, handle: 'dana' };
    await rig.machine.knows(proxy.url, server_id, server.dana, { person });
    await rig.start(whole());
    board = await newBoard(server.dana);
    seats = [(await rig.seat(board)).seat, (await rig.seat(board)).seat];
    sessions = [await rig.session(seats[0]), await rig.session(seats[1])];
  });
  afterEach(async () => {
    proxy.heal();
    await rig.stop();
    await proxy.down();
  });

  const dana = async () => (await server.dana.ok('getMe')) as { id: string };
  const propose = async (): Promise<PairingRequest> =>
    server.dana.ok('createPairingRequest', {
      body: {
        board_id: board.id,
        recipient_id: (await dana()).id,
        initiating_agent_id: seats[0]!.member_id,
        work: 'review the plan',
      },
    });
  const look = ({ id }: { id: string }) => server.dana.ok('getPairingRequest', { params: { pairing: id } });
  const ask = (session: TestSession, action: string, more: Frame = {}): Promise<Frame> =>
    session.ask('pairing', { server: proxy.url, action, idempotency_key: `key-${++keys}`, ...more });
  const codeOf = (answer: Frame) => (answer['error'] as { code: string } | undefined)?.code ?? 'ok';
  const proofs = () => join(rig.machine.folders.state, 'pairing.json');
  const secrets = (): string[] =>
    existsSync(proofs()) ? (readFileSync(proofs(), 'utf8').match(/abp_[\w-]{43}/g) ?? []) : [];

  /** The agent of a woken session does what a ping asks it to. */
  async function replyOnce(at: number): Promise<void> {
    const session = sessions[at]!;
    const hook = await session.wait();
    const frame = await hook.next();
    await took(hook, frame);
    await hook.end();
    await session.hook('turn_start', { wake: true, handoff_id: frame['handoff_id'] });
    await session.hook('boundary');
    const line = /exactly this line: (service-pairing\/1 .*)/.exec(String(frame['bundle']))?.[1];
    const ping = /<service-message [^>]*seq="(\d+)"/.exec(String(frame['bundle']))?.[1];
    if (line !== undefined && ping !== undefined) await reply(at, Number(ping), line);
    await session.ask('turn_end');
  }

  async function reply(at: number, ping: number, line: string): Promise<void> {
    const token = rig.machine.credentials.token(proxy.url, seats[at]!.member_id)!;
    const as = Object.assign(Object.create(Object.getPrototypeOf(server.dana)), server.dana, { token });
    const { message } = await as.ok('getMessageBySeq', { params: { board: board.name, seq: ping } });
    await post(as, board.name, line, { reply_to: message.id, to: [`@${seats[1 - at]!.name}`] });
  }

  async function verifying(): Promise<PairingRequest> {
    const request = await propose();
    expect(codeOf(await ask(sessions[0]!, 'select', { pairing_id: request.id }))).to.equal('ok');
    expect(codeOf(await ask(sessions[1]!, 'accept', { pairing_id: request.id }))).to.equal('ok');
    return request;
  }

  it('is ready once each agent has answered and each answer was received by the very session', async () => {
    const request = await verifying();
    expect((await look(request)).state).to.equal('verifying');
    expect(statSync(proofs()).mode & 0o777).to.equal(0o600);
    const shown = secrets();
    expect(shown).to.have.length(2);
    noteSecrets(shown.join(' '));
    // Each session is woken by the peer's ping, then by the peer's reply.
    await Promise.all([replyOnce(0), replyOnce(1)]);
    expect((await look(request)).state).to.equal('verifying');
    await Promise.all([replyOnce(0), replyOnce(1)]);
    await until(async () => (await look(request)).state === 'ready', 'it is ready');
    await until(() => !existsSync(proofs()), 'the proofs are gone');
    for (const file of [rig.paths.journal, `${rig.paths.journal}-wal`, rig.logFile]) {
      if (existsSync(file)) for (const secret of shown) expect(readFileSync(file, 'latin1')).to.not.include(secret);
    }
    const told = (ev: string) => rig.logged(ev).map(({ pairing }) => pairing);
    expect(told('pairing_selected')).to.deep.equal([request.id, request.id]);
    expect(told('pairing_ping')).to.deep.equal([request.id, request.id]);
    expect(told('pairing_verified')).to.deep.equal([request.id, request.id]);
    expect(readFileSync(rig.logFile, 'utf8')).to.not.include('review the plan').and.not.include('service-pairing/1');
    // Once more is a look, for the session that is bound; for any other it has changed.
    expect(codeOf(await ask(sessions[0]!, 'select', { pairing_id: request.id }))).to.equal('ok');
    await rig.restart(whole());
    expect(codeOf(await ask(sessions[0]!, 'select', { pairing_id: request.id }))).to.equal('pairing_changed');
  });

  it('lists them by state, a page at a time that fits into a frame, for a session without a seat too', async () => {
    const fresh = await rig.session();
    const list = async (more: Frame) => await ask(fresh, 'list', more);
    const ids = (answer: Frame) => ((answer['pairings'] ?? []) as { id: string }[]).map(({ id }) => id);
    const made: string[] = [];
    for (let n = 0; n < 3; n++) {
      const proposed = {
        board_id: board.id,
        recipient_id: (await dana()).id,
        initiating_agent_id: seats[0]!.member_id,
      };
      // As long as they may be, and each sign of it twice as long in a frame.
      const { id } = await server.dana.ok('createPairingRequest', { body: { ...proposed, work: '"'.repeat(4_000) } });
      made.unshift(id);
    }
    const first = await list({ limit: 2 });
    expect(ids(first)).to.deep.equal(made.slice(0, 2));
    expect(ids(await list({ limit: 2, after: first['next_after'] }))[0]).to.equal(made[2]);
    for (const id of made) await server.dana.ok('cancelPairing', { params: { pairing: id } });
    expect(ids(await list({ state: 'open' }))).to.not.include.members(made);
    expect(ids(await list({ state: 'closed' })).slice(0, 3)).to.have.members(made);
    expect(errorOf(await list({ limit: 9 }))).to.equal('invalid_request');
  });

  it('shows nothing secret on the socket', async () => {
    const request = await propose();
    const answers = [
      await ask(sessions[0]!, 'select', { pairing_id: request.id }),
      await ask(sessions[1]!, 'accept', { pairing_id: request.id }),
      await ask(sessions[0]!, 'list'),
      await ask(sessions[0]!, 'get', { pairing_id: request.id }),
    ];
    for (const answer of answers) {
      expect(codeOf(answer)).to.equal('ok');
      expect(JSON.stringify(answer)).to.not.match(/ab[abdp]_|nonce/);
    }
    expect(answers[3]).to.include({ board: board.name });
    expect(answers[3]!['pairing']).to.include({ id: request.id, state: 'verifying' });
  });

  it('says that the other side waits because its mode does not wake it', async () => {
    const request = await verifying();
    const look = async () =>
      (await ask(sessions[0]!, 'get', { pairing_id: request.id }))['pairing'] as Record<string, unknown>;
    expect(await look()).to.not.have.property('waits_because');
    const peer = seats[1]!;
    await server.dana.ok('setDeliveryMode', {
      params: { board: board.name, member: peer.name },
      body: { mode: 'humans' },
    });
    await until(async () => (await look())['waits_because'] !== undefined, 'the reason is told');
    expect((await look())['waits_because']).to.deep.equal([{ agent: peer.name, mode: 'humans' }]);
  });

  it('takes no message for received that was only read', async () => {
    const request = await verifying();
    await replyOnce(1);
    // The initiator's session has the reply in its inbox, but no handoff brought it.
    const token = rig.machine.credentials.token(proxy.url, seats[0]!.member_id)!;
    const as = Object.assign(Object.create(Object.getPrototypeOf(server.dana)), server.dana, { token });
    await until(async () => (await as.ok('readInbox')).messages.length >= 2, 'ping and reply are there');
    const { messages } = await as.ok('readInbox');
    await as.ok('ackInbox', { body: { up_to: messages.at(-1)!.seq } });
    await until(async () => (await look(request)).progress?.initiator_to_recipient === 'report', 'the reply is known');
    expect(proxy.count(`POST /v1/pairing-requests/${request.id}/verify`)).to.equal(0);
  });

  it('ends with the life of the session, and with the daemon; then somebody selects again', async () => {
    const request = await verifying();
    await sessions[0]!.ask('register', { source: 'resume', boot: 'ffffffffffffffff' });
    sessions[0]!.header['boot'] = 'ffffffffffffffff';
    await until(() => secrets().length === 1, 'the proof of the old life is gone');
    expect(codeOf(await ask(sessions[0]!, 'select', { pairing_id: request.id }))).to.equal('pairing_changed');
    expect(codeOf(await ask(sessions[0]!, 'select', { pairing_id: request.id, replace: true }))).to.equal('ok');
    // The recipient's session stays bound and takes part again by itself.
    await until(async () => {
      const { state, generation } = await look(request);
      return state === 'verifying' && generation === 2;
    }, 'both are verifying again');
    await rig.restart(whole());
    expect(existsSync(proofs())).to.equal(false);
    expect(codeOf(await ask(sessions[1]!, 'accept', { pairing_id: request.id }))).to.equal('pairing_changed');
  });

  it('is deleted with the person’s key', async () => {
    const key = await server.dana.ok('createKey', { body: { name: `pairing-${keys}` } });
    noteSecrets(key.token);
    const owner = Object.assign(Object.create(Object.getPrototypeOf(server.dana)), server.dana, { token: key.token });
    const { server_id } = await server.nobody.ok('getInfo');
    await rig.machine.knows(proxy.url, server_id, owner);
    await rig.restart(whole());
    const other = { id: board.id, name: board.name };
    const joined = await owner.ok('joinBoard', { body: { board: other.name, role: 'member' } });
    const agent = Object.assign(Object.create(Object.getPrototypeOf(owner)), owner, {
      token: joined.token,
      memberId: joined.agent.id,
      name: joined.agent.name,
    });
    const seat = await rig.machine.holds(proxy.url, other, agent);
    const session = await rig.session(seat);
    const request = await server.dana.ok('createPairingRequest', {
      body: { board_id: board.id, recipient_id: (await dana()).id, initiating_agent_id: seat.member_id, work: 'w' },
    });
    await rig.connected();
    expect(codeOf(await ask(session, 'select', { pairing_id: request.id }))).to.equal('ok');
    expect(secrets()).to.have.length(1);
    await server.dana.ok('revokeKey', { params: { key: key.id } });
    await until(() => secrets().length === 0, 'the proof is deleted');
  });

  it('selects once though the answer was lost', async () => {
    const request = await propose();
    proxy.fail('POST /v1/pairing-credentials', 'drop_answer', 1);
    // The same proof comes again, so the server knows that it is the same selection.
    expect(codeOf(await ask(sessions[0]!, 'select', { pairing_id: request.id }))).to.equal('ok');
    expect(proxy.count('POST /v1/pairing-credentials')).to.equal(2);
    expect(secrets()).to.have.length(1);
    expect((await look(request)).generation).to.equal(1);
  });

  it('never guesses which request is meant', async () => {
    for (const { id } of (await server.dana.ok('listPairingRequests', { query: { limit: 100 } })).requests)
      await server.dana.ok('cancelPairing', { params: { pairing: id } });
    const none = await ask(sessions[1]!, 'accept');
    expect(codeOf(none)).to.equal('pairing_not_found');
    const first = await propose();
    const second = await propose();
    const several = await ask(sessions[1]!, 'accept');
    expect(codeOf(several)).to.equal('pairing_ambiguous');
    const { details, hint } = several['error'] as { details: { choices: string[] }; hint: string };
    expect(details.choices).to.have.members([first.id, second.id]);
    for (const { id } of [first, second]) expect(hint).to.include(`service pairing accept ${id} --here`);
    await ask(sessions[1]!, 'decline', { pairing_id: second.id });
    expect((await look(second)).state).to.equal('declined');
    expect(codeOf(await ask(sessions[1]!, 'accept'))).to.equal('ok');
    expect(codeOf(await ask(sessions[0]!, 'cancel', { pairing_id: first.id }))).to.equal('ok');
    await until(() => secrets().length === 0, 'no proof is left');
    expect(codeOf(await ask(sessions[0]!, 'select'))).to.equal('invalid_request');
  });

  it('is proposed by the session’s own agent, and joined for where it holds no seat', async () => {
    const proposed = await ask(sessions[0]!, 'request', {
      board_id: board.id,
      recipient_id: (await dana()).id,
      work: 'together',
    });
    expect(codeOf(proposed)).to.equal('ok');
    const request = proposed['pairing'] as PairingRequest;
    expect(request.initiating_agent_id).to.equal(seats[0]!.member_id);
    const fresh = await rig.session();
    const accepted = await ask(fresh, 'accept', { pairing_id: request.id });
    expect(codeOf(accepted)).to.equal('ok');
    const { seats: held } = await fresh.ask('agents');
    expect(held).to.have.length(1);
    expect((await look(request)).recipient?.agent_id).to.equal((held as { member_id: string }[])[0]!.member_id);
  });

  it('is for the session’s own agent also where its server is named by another address', async () => {
    const { server_id } = await server.nobody.ok('getInfo');
    const { id } = await dana();
    await rig.machine.knows(server.url, server_id, server.dana, { person: { id, handle: 'dana' } });
    const there = { server: server.url };
    const tokens = () => seats.map((seat) => rig.machine.credentials.token(proxy.url, seat.member_id));
    const before = tokens();
    const proposed = await ask(sessions[0]!, 'request', {
      ...there,
      board_id: board.id,
      recipient_id: id,
      work: 'together',
    });
    expect(codeOf(proposed)).to.equal('ok');
    const { id: pairing_id } = proposed['pairing'] as PairingRequest;
    expect(codeOf(await ask(sessions[0]!, 'select', { ...there, pairing_id }))).to.equal('ok');
    expect(codeOf(await ask(sessions[1]!, 'accept', { ...there, pairing_id }))).to.equal('ok');
    const { initiator, recipient } = await look({ id: pairing_id });
    expect([initiator?.agent_id, recipient?.agent_id]).to.deep.equal(seats.map(({ member_id }) => member_id));
    expect(tokens()).to.deep.equal(before);
    expect(codeOf(await ask(sessions[0]!, 'cancel', { ...there, pairing_id }))).to.equal('ok');
    expect(proxy.seen.find(({ path }) => path.endsWith('/cancel'))?.token).to.equal(before[0]);
    // A session that names the agent by it takes the same seat, and gives it up.
    const next = await rig.session({ ...seats[0]!, origin: server.url });
    expect((await next.ask('agents'))['seats']).to.have.nested.property('[0].server', proxy.url);
    const { board: name, name: agent, member_id } = seats[0]!;
    const given = await next.ask('unbind', { agent: { server: server.url, board: name, name: agent, member_id } });
    expect(given).to.not.have.any.keys('error', 'seats');
  });

  describe('after an invite that a session asked for', () => {
    const asked = async () => {
      const token = rig.machine.credentials.token(proxy.url, seats[0]!.member_id)!;
      const agent = Object.assign(Object.create(Object.getPrototypeOf(server.dana)), server.dana, { token }) as Api;
      const pairing = { initiating_agent_id: seats[0]!.member_id, work: 'write it together' };
      const approval = await held(agent, invitePeople({ boards: [board.id], pairing }));
      const watch = await sessions[0]!.ask('approval_watch', { agent: refOf(seats[0]!), approval_id: approval.id });
      expect(watch).to.not.have.property('error');
      return { agent, approval };
    };
    const refOf = ({ origin, board: name, name: agent, member_id }: SeatIdentity) => {
      return { server: origin, board: name, name: agent, member_id };
    };

    it('wakes the session with the decision, and selects it by itself', async () => {
      const { agent, approval } = await asked();
      const session = sessions[0]!;
      const hook = await session.wait();
      await allow(server.dana, approval);
      const frame = await hook.next();
      expect(frame['bundle']).to.match(
        /^<service-notices handoff="hnd_[0-9a-f]{32}" count="1">\nservice: your request apr_\w+ was allowed\. /,
      );
      expect(JSON.stringify(frame)).to.not.match(/ab[a-z]_/);
      await took(hook, frame);
      await hook.end();
      await session.hook('turn_start', { wake: true, handoff_id: frame['handoff_id'] });
      expect((await agent.ok('listNotices')).notices).to.have.length(1);
      await session.hook('boundary');
      await until(async () => (await agent.ok('listNotices')).notices.length === 0, 'it is acknowledged');
      await until(() => secrets().length === 1, 'the session is selected');
      const { requests } = await server.dana.ok('listPairingRequests', { query: { limit: 100 } });
      const request = requests.find(({ board_id }) => board_id === board.id)!;
      expect(request).to.include({ state: 'awaiting_account' });
      expect(request.initiator?.agent_id).to.equal(seats[0]!.member_id);
    });

    /** The first try to select it fails, and its notice is acknowledged. */
    const failedOnce = async (): Promise<void> => {
      const { agent, approval } = await asked();
      const hook = await sessions[0]!.wait();
      proxy.fail(`GET /v1/me/approvals/${approval.id}`, { status: 400, code: 'unready' }, 1);
      await allow(server.dana, approval);
      await took(hook, await hook.next());
      await hook.end();
      await sessions[0]!.hook('boundary');
      await until(async () => (await agent.ok('listNotices')).notices.length === 0, 'it is acknowledged');
      await proxy.reached(`GET /v1/me/approvals/${approval.id}`, 1);
      expect(secrets()).to.deep.equal([]);
    };

    it('selects it later where a first try failed, though the notice is acknowledged', async () => {
      const clock = new StepClock();
      await rig.restart({ ...whole(), clock });
      await failedOnce();
      await until(() => {
        clock.pass(30_000);
        return secrets().length === 1;
      }, 'the session is selected');
    });

    it('selects it after a restart of the daemon, though the notice is acknowledged', async () => {
      await failedOnce();
      await rig.restart(whole());
      await until(() => secrets().length === 1, 'the session is selected');
    });

    it('keeps the watch of an undecided one over a restart of the daemon', async () => {
      const { approval } = await asked();
      await rig.restart(whole());
      await proxy.reached(`GET /v1/me/approvals/${approval.id}`, 1);
      await allow(server.dana, approval);
      await until(() => secrets().length === 1, 'the session is selected');
    });

    it('tells the session that it is not selected, and what to do, where the machine has another key by then', async () => {
      const { approval } = await asked();
      const { server_id } = await server.nobody.ok('getInfo');
      const { token } = await server.dana.ok('createKey', { body: { name: `rotated-${keys}` } });
      noteSecrets(token);
      const owner = Object.assign(Object.create(Object.getPrototypeOf(server.dana)), server.dana, { token });
      await rig.machine.knows(proxy.url, server_id, owner);
      const hook = await sessions[0]!.wait();
      await allow(server.dana, approval);
      const frame = await hook.next();
      await took(hook, frame);
      await hook.end();
      let told = String(frame['bundle']);
      await sessions[0]!.hook('turn_start', { wake: true, handoff_id: frame['handoff_id'] });
      await until(async () => {
        told += JSON.stringify(await sessions[0]!.hook('boundary'));
        return told.includes('not selected');
      }, 'the session is told');
      expect(told).to.match(
        new RegExp(
          `this session was not selected for prq_\\w{26}: .* Once the invite is used, run: service join --board ${board.name}; then: service pairing select prq_\\w{26} --here`,
        ),
      );
      expect(secrets()).to.deep.equal([]);
    });

    it('selects no other life of it', async () => {
      const { approval } = await asked();
      await sessions[0]!.ask('register', { source: 'resume', boot: 'eeeeeeeeeeeeeeee' });
      sessions[0]!.header['boot'] = 'eeeeeeeeeeeeeeee';
      const hook = await sessions[0]!.wait();
      await allow(server.dana, approval);
      expect((await hook.next())['bundle']).to.include('was allowed');
      const { requests } = await server.dana.ok('listPairingRequests', { query: { limit: 100 } });
      expect(requests.find(({ board_id }) => board_id === board.id)).to.not.have.property('initiator');
      expect(secrets()).to.deep.equal([]);
    });
  });

  it('is for whole sessions that are known', async () => {
    const request = await propose();
    expect(codeOf(await ask(sessions[0]!, 'select', { pairing_id: request.id, subagent: 'x' }))).to.equal(
      'subagent_session',
    );
    const unknown = await rig.ask('pairing', {
      ...{ harness: 'fake', session: 'never-registered', server: proxy.url, action: 'select' },
      ...{ pairing_id: request.id, idempotency_key: 'k' },
    });
    expect(codeOf(unknown)).to.equal('agent_session_required');
    expect(codeOf(await ask(sessions[0]!, 'select', { pairing_id: request.id, idempotency_key: undefined }))).to.equal(
      'invalid_request',
    );
  });
});
