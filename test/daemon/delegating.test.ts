/** Boards found, joined and made for a session through the machine's delegation. */
import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ControlRefusal } from '../../src/daemon/control/errors.ts';
import { encodeFrame, fitsFrame } from '../../src/daemon/control/lines.ts';
import { DelegatedBoards } from '../../src/daemon/delegation/delegated-boards.ts';
import { delegationName } from '../../src/daemon/delegation/delegation.ts';
import type { SessionView } from '../../src/daemon/refs.ts';
import { Servers } from '../../src/daemon/server-link/servers.ts';
import { newAgent, newBoard, newCode } from '../support/cast.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { noteSecrets } from '../support/secrets.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { Machine } from './world.ts';

const MAKE = 'POST /v1/delegations';
const MADE = ({ method, path }: { method: string; path: string }) => method === 'POST' && path === '/v1/delegations';

describe('the machine’s delegation', () => {
  let server: TestServer;
  let serverId: string;
  let proxy: FaultProxy;
  let machine: Machine;
  let servers: Servers;
  let delegating: DelegatedBoards;
  let log: string[];
  let session: SessionView;
  let sessions = 0;

  before(async () => {
    server = await startTestServer('sqlite');
    serverId = (await server.nobody.ok('getInfo')).server_id;
  });
  after(() => server.stop());

  beforeEach(async () => {
    proxy = await new FaultProxy(server.url).listen();
    machine = new Machine();
    log = [];
    // Pauses before a request is repeated pass at once.
    const world = {
      ...machine.world,
      sleep: (ms: number, signal?: AbortSignal) => (ms < 5_000 ? Promise.resolve() : machine.world.sleep(ms, signal)),
    };
    const { credentials, folders, told } = machine;
    servers = new Servers({
      environment: world,
      credentials,
      events: told.events,
    });
    told.events.on('keyEnded', (origin) => delegating.forget(origin));
    const env = { SERVICE_HOME: machine.home };
    delegating = new DelegatedBoards({
      servers,
      credentials,
      folders,
      env,
      log: { write: (event) => void log.push(event) },
    });
    await machine.knows(proxy.url, serverId, server.dana);
    session = {
      ...{ key: `fake:s${++sessions}`, harness: 'fake', session: `s${sessions}`, boot: '1' },
      ...{ open: true, turn: 'idle', turned: true, needsPerson: null, seats: [] },
    };
  });
  afterEach(async () => {
    proxy.heal();
    delegating.close();
    await servers.close();
    await machine.close();
    await proxy.down();
  });

  const made = () => proxy.seen.filter(MADE).length;
  const refused = async (work: Promise<unknown>): Promise<ControlRefusal> => {
    const outcome = await work.then(
      (value) => new Error(`it was not refused: ${JSON.stringify(value)}`),
      (error: unknown) => error,
    );
    if (outcome instanceof ControlRefusal) return outcome;
    throw outcome;
  };
  const boards = (more = {}) =>
    delegating.boards(session, more) as Promise<{
      server: string;
      boards: Record<string, unknown>[];
      next_after: string | null;
    }>;
  const joinBoard = (board: string, more = {}) =>
    delegating.join(session, { agent: { server: proxy.url, board, ...more }, role: 'member' });
  const create = (name: string, key: string, more = {}) =>
    delegating.createBoard(session, {
      pair: false,
      server: proxy.url,
      create: { name },
      role: 'member',
      idempotency_key: key,
      ...more,
    });

  it('is made once, when it is first needed, and stands in no file', async () => {
    const [first] = await Promise.all([boards(), boards()]);
    expect(first.boards).to.be.an('array');
    await boards();
    expect(made()).to.equal(1);
    const token = proxy.seen.find(({ path }) => path.startsWith('/v1/boards'))!.token!;
    expect(token).to.match(/^abd_/);
    for (const text of filesUnder(machine.home)) expect(text).to.not.include(token);
    expect(log).to.deep.equal(['delegation_made']);
  });

  it('lists boards with the session’s seats marked, in pages', async () => {
    const [one, two] = [await newBoard(server.dana), await newBoard(server.dana)];
    const joined = await joinBoard(one.name);
    session.seats.push(joined.seat);
    const { boards: all } = await boards({ lifecycle: 'all' });
    const find = (name: string) => all.find((board) => board['name'] === name)!;
    expect(find(one.name)['seat']).to.deep.equal({
      server: proxy.url,
      board: one.name,
      name: joined.seat.name,
      member_id: joined.seat.member_id,
      board_id: one.id,
    });
    expect(find(two.name)).to.not.have.property('seat');
    // The id decides which server it is, not the address.
    await machine.knows(server.url, serverId, server.dana);
    const elsewhere = await boards({ lifecycle: 'all', server: server.url });
    expect(elsewhere.boards.map(({ name, seat }) => [name, seat])).to.deep.equal(
      all.map(({ name, seat }) => [name, seat]),
    );
    const page = await boards({ limit: 1 });
    expect(page.boards).to.have.length(1);
    expect(page.next_after).to.be.a('string');
  });

  it('lists no more boards at once than fit into a frame', async () => {
    const charter = '界'.repeat(8_000);
    const long = [];
    for (let n = 0; n < 12; n++) long.push((await newBoard(server.dana, { charter })).name);
    const found: unknown[] = [];
    for (let after: string | undefined; ; ) {
      const page = await boards({ after });
      expect(fitsFrame(encodeFrame({ ...page }))).to.equal(true);
      found.push(...page.boards.map(({ name }) => name));
      if (page.next_after === null) break;
      after = page.next_after;
    }
    expect(found).to.include.members(long);
    expect(new Set(found).size).to.equal(found.length);
  });

  it('leaves the role to the server where none was asked for', async () => {
    const board = await newBoard(server.dana);
    const joined = await delegating.join(session, { agent: { server: proxy.url, board: board.name } });
    expect(joined.answer.member).to.include({ role: 'member' });
    const { answer } = await create('no-role', 'no-role', { role: undefined });
    expect(answer.member).to.include({ role: 'member' });
  });

  it('joins a board: the token is saved, and nothing of it is answered', async () => {
    const board = await newBoard(server.dana);
    const joined = await joinBoard(board.name, { name: 'claude' });
    expect(joined.seat).to.deep.equal({
      origin: proxy.url,
      member_id: joined.seat.member_id,
      board_id: board.id,
      board: board.name,
      name: 'claude',
    });
    expect(joined.answer).to.include({ joined: true }).and.not.have.property('reused');
    const token = machine.credentials.token(proxy.url, joined.seat.member_id)!;
    noteSecrets(token);
    expect(JSON.stringify(joined)).to.not.include(token);
    expect(machine.credentials.seat(proxy.url, joined.seat.member_id)).to.include({
      session: session.key,
      harness: 'fake',
    });
  });

  it('asks for every join, and keeps the newest token', async () => {
    const board = await newBoard(server.dana);
    const [one, two] = [await joinBoard(board.name), await joinBoard(board.name)];
    expect(one.seat).to.deep.equal(two.seat);
    expect([one, two].filter(({ answer }) => answer['reused'] === true)).to.have.length(1);
    servers.at(proxy.url).watch(one.seat);
    expect((await servers.at(proxy.url).read(one.seat)).inbox.member_id).to.equal(one.seat.member_id);
    const { members } = await server.dana.ok('listMembers', { params: { board: board.name } });
    expect(members.filter(({ kind }) => kind === 'agent')).to.have.length(1);
  });

  it('makes a join again whose answer was lost, and ends with one seat', async () => {
    const board = await newBoard(server.dana);
    proxy.fail('POST /v1/join', 'drop_answer', 2);
    const joined = await joinBoard(board.name);
    expect(joined.answer).to.include({ reused: true });
    const { members } = await server.dana.ok('listMembers', { params: { board: board.name } });
    expect(members.filter(({ kind }) => kind === 'agent')).to.have.length(1);
  });

  describe('a join code', () => {
    const redeem = (code: string, key?: string) =>
      delegating.join(session, {
        agent: { server: proxy.url, name: 'liner' },
        role: 'member',
        code,
        idempotency_key: key,
      });
    const agentsOf = async (board: string) =>
      (await server.dana.ok('listMembers', { params: { board } })).members.filter(({ kind }) => kind === 'agent');

    it('brings the session onto the board it was made for, in the role it was made for', async () => {
      const board = await newBoard(server.dana, { template: 'writer-reviewer' });
      const { code } = await newCode(server.dana, board.name, { role: 'reviewer' });
      const joined = await redeem(code);
      expect(joined.seat).to.include({ origin: proxy.url, board_id: board.id, board: board.name, name: 'liner' });
      expect(joined.answer['member']).to.include({ role: 'reviewer', harness: 'fake' });
      expect(machine.credentials.seat(proxy.url, joined.seat.member_id)).to.include({ session: session.key });
      noteSecrets(machine.credentials.token(proxy.url, joined.seat.member_id)!);
      expect(JSON.stringify(log)).to.not.include(code);
    });

    it('whose answer was lost is redeemed again, and ends with one seat', async () => {
      const board = await newBoard(server.dana);
      const { code } = await newCode(server.dana, board.name);
      proxy.fail('POST /v1/join', 'drop_answer', 2);
      const { seat } = await redeem(code, 'once');
      expect((await agentsOf(board.name)).map(({ id }) => id)).to.deep.equal([seat.member_id]);
    });

    it('that does not work is refused as the server refuses it', async () => {
      expect(await refused(redeem('000-000'))).to.include({ code: 'join_code_invalid' });
      const pam = await server.person('pam');
      const board = await newBoard(pam);
      const { code } = await newCode(pam, board.name);
      expect(await refused(redeem(code))).to.include({ code: 'join_code_not_yours' });
    });

    it('needs the machine’s key', async () => {
      await machine.knows(proxy.url, serverId, null);
      expect(await refused(redeem('000-000'))).to.include({ code: 'login_required' });
    });

    it('shows the key to no other server at the address', async () => {
      const stranger = await startTestServer('sqlite');
      proxy.retarget(stranger.url);
      expect(await refused(redeem('000-000'))).to.include({ code: 'server_identity_changed' });
      expect(proxy.seen.every(({ token }) => token === undefined)).to.equal(true);
      await stranger.stop();
    });

    it('is refused with the way to sign in once the machine’s key has ended', async () => {
      const key = await server.dana.ok('createKey', { body: { name: `ended-${sessions}` } });
      noteSecrets(key.token);
      const owner = Object.assign(Object.create(Object.getPrototypeOf(server.dana)), server.dana, { token: key.token });
      await machine.knows(proxy.url, serverId, owner);
      await server.dana.ok('revokeKey', { params: { key: key.id } });
      const over = await refused(redeem('000-000'));
      expect([over.code, over.hint]).to.deep.equal([
        'delegation_revoked',
        `Your person runs: service login ${proxy.url}`,
      ]);
    });
  });

  it('passes on what the server refuses, unchanged', async () => {
    const board = await newBoard(server.dana);
    expect(await refused(joinBoard('no-such-board'))).to.include({ code: 'board_not_found' });
    await newAgent(server.dana, board.name, { name: 'taken' });
    expect(await refused(joinBoard(board.name, { name: 'taken' }))).to.include({ code: 'name_taken' });
    expect(
      await refused(delegating.join(session, { agent: { server: proxy.url, board: board.name }, role: 'nobody' })),
    ).to.include({ code: 'role_not_found' });
    await server.dana.ok('archiveBoard', { params: { board: board.name } });
    expect(await refused(joinBoard(board.name))).to.include({ code: 'board_archived' });
    expect(await refused(create('demo', 'k1', { create: { name: board.name } }))).to.include({
      code: 'board_name_taken',
    });
  });

  it('makes a board once, however often the answer is lost', async () => {
    proxy.fail('POST /v1/delegations/boards', 'drop_answer', 3);
    const { seat, answer } = await create('made-once', 'key-1', { agent_name: 'claude' });
    expect(answer).to.include({ joined: true });
    expect(machine.credentials.token(proxy.url, seat.member_id)).to.match(/^aba_/);
    const { boards: all } = await boards();
    expect(all.filter((board) => board['name'] === 'made-once')).to.have.length(1);
    expect(made()).to.equal(1);
    // The client of another daemon would not repeat it: the key is the same, the delegation would not be.
    const again = await create('made-once', 'key-1', { agent_name: 'claude' });
    expect(again.seat).to.deep.equal(seat);
  });

  it('says where to look when no answer comes, and makes nothing more', async () => {
    proxy.fail('POST /v1/delegations/boards', 'drop_answer');
    const lost = await refused(create('lost-answer', 'key-2'));
    expect(lost).to.include({ code: 'server_unreachable' });
    expect(lost.hint).to.equal(
      `Look before you try again: service boards --server ${proxy.url}; then join it: service join --board NAME --server ${proxy.url}`,
    );
    expect(proxy.count('POST /v1/delegations/boards')).to.equal(4);
    proxy.heal();
    const { boards: all } = await boards();
    expect(all.filter((board) => board['name'] === 'lost-answer')).to.have.length(1);
  });

  it('leaves no doubt where the server answered each time that it could not do it', async () => {
    proxy.fail('POST /v1/delegations/boards', { status: 503, code: 'server_busy' });
    const { code, message } = await refused(create('answered', 'key-4'));
    expect([code, message]).to.deep.equal(['server_unreachable', `${proxy.url} cannot be reached.`]);
    proxy.heal();
    proxy.fail('POST /v1/delegations/boards', 'drop_answer', 1);
    proxy.fail('POST /v1/delegations/boards', { status: 503, code: 'server_busy' });
    expect((await refused(create('lost-once', 'key-5'))).message).to.include('may be there or not');
    proxy.heal();
    proxy.fail('POST /v1/delegations/boards', 'garble');
    expect((await refused(create('garbled', 'key-6'))).message).to.include('may be there or not');
  });

  it('passes on that the server has no room left, and asks once', async () => {
    const board = await newBoard(server.dana);
    for (const [request, work] of [
      ['POST /v1/delegations/boards', () => create('no-room', 'key-3')],
      ['POST /v1/join', () => joinBoard(board.name)],
    ] as const) {
      const before = proxy.count(request);
      proxy.fail(request, { status: 507, code: 'storage_full' });
      expect(await refused(work()), request).to.include({ code: 'storage_full', message: 'The proxy says so.' });
      expect(proxy.count(request) - before, request).to.equal(1);
    }
  });

  it('is made anew where it was ended, for boards and joins, never for a board that is being made', async () => {
    await boards();
    const { delegations } = await server.dana.ok('listDelegations');
    const mine = delegations.find(({ name }) => name === delegationName(machine.folders))!;
    await server.dana.ok('endDelegation', { params: { delegation: mine.id } });
    await boards();
    expect(made()).to.equal(2);
    const again = (await server.dana.ok('listDelegations')).delegations.find(({ name }) => name === mine.name)!;
    await server.dana.ok('endDelegation', { params: { delegation: again.id } });
    expect(await refused(create('not-made', 'key-3'))).to.include({ code: 'delegation_revoked' });
    expect(made()).to.equal(2);
    await create('made-then', 'key-4');
    expect(made()).to.equal(3);
  });

  it('is made anew once where two requests find that it was ended', async () => {
    await boards();
    const { delegations } = await server.dana.ok('listDelegations');
    const mine = delegations.find(({ name }) => name === delegationName(machine.folders))!;
    await server.dana.ok('endDelegation', { params: { delegation: mine.id } });
    proxy.fail('GET /v1/boards', 'hold', 1);
    const held = boards();
    await until(() => proxy.held === 1, 'one request is on its way');
    await boards();
    proxy.release();
    await held;
    expect(made()).to.equal(2);
  });

  it('ends with the key: at once where the stream tells of it, and at its next use otherwise', async () => {
    const key = await server.dana.ok('createKey', { body: { name: `other-${sessions}` } });
    noteSecrets(key.token);
    const owner = Object.assign(Object.create(Object.getPrototypeOf(server.dana)), server.dana, { token: key.token });
    await machine.knows(proxy.url, serverId, owner);
    const board = await newBoard(server.dana);
    const { seat } = await joinBoard(board.name);
    servers.at(proxy.url).watch(seat);
    await until(() => servers.at(proxy.url).view().connected, 'the stream is open');
    await server.clock.within(1_000, async () => {
      await server.dana.ok('revokeKey', { params: { key: key.id } });
      await until(() => log.includes('delegation_ended'), 'the delegation is dropped');
    });
    const over = await refused(boards());
    expect(over).to.include({ code: 'delegation_revoked' });
    expect(over.hint).to.include('service login');
    await machine.told.until('problem unauthorized');
  });

  it('ends with the key that is kept here: another key makes one of its own, and without one there is none', async () => {
    await boards();
    const other = await server.person('nina');
    const key = { id: 'key_2', name: 'laptop', expires_at: null, store: 'file' as const, token: other.token! };
    await machine.knows(proxy.url, serverId, other, { key });
    const board = await newBoard(other);
    const { member } = (await joinBoard(board.name)).answer;
    expect([made(), member.owner]).to.deep.equal([2, 'nina']);
    await machine.knows(proxy.url, serverId, null);
    expect(await refused(boards())).to.include({ code: 'login_required' });
    expect(log.filter((event) => event === 'delegation_ended')).to.have.length(2);
  });

  it('ends with the person, too, where the ids of their keys are not known, as those of guests', async () => {
    const key = (of: { token: string | undefined }) => ({
      key: { id: 'unknown', name: 'unknown', expires_at: null, store: 'file' as const, token: of.token! },
    });
    await machine.knows(proxy.url, serverId, server.dana, key(server.dana));
    await boards();
    const other = await server.person('olga');
    await machine.knows(proxy.url, serverId, other, key(other));
    const { member } = (await joinBoard((await newBoard(other)).name)).answer;
    expect([made(), member.owner]).to.deep.equal([2, 'olga']);
  });

  it('says that a person has to sign in where there is no key', async () => {
    await machine.knows(proxy.url, serverId, null);
    expect(await refused(boards())).to.include({ code: 'login_required' });
    expect(made()).to.equal(0);
  });

  it('says that a keychain has to be unlocked, and that a person has to sign in where none works', async () => {
    const key = { id: 'key_1', name: 'laptop', expires_at: null, store: 'keychain' as const };
    await machine.knows(proxy.url, serverId, null, { key });
    const { NODE_OPTIONS, TEST_KEYCHAIN, DBUS_SESSION_BUS_ADDRESS } = process.env;
    const keychain = mkdtempSync(join(machine.home, 'keychain-'));
    process.env['TEST_KEYCHAIN'] = keychain;
    process.env['NODE_OPTIONS'] = `--import=${new URL('../cli/support/keychain-hooks.mjs', import.meta.url).href}`;
    // On Linux nothing is tried without one.
    process.env['DBUS_SESSION_BUS_ADDRESS'] = `unix:path=${join(machine.home, 'bus')}`;
    try {
      for (const [state, code, way] of [
        ['refusing', 'keychain_locked', /^Unlock the keychain/],
        ['broken', 'login_required', /^Your person runs: service login http:\S+ --store file$/],
        ['open', 'login_required', /^Your person runs: service login http:\S+$/],
      ] as const) {
        writeFileSync(join(keychain, 'state'), state);
        const refusal = await refused(boards());
        expect(refusal, state).to.include({ code });
        expect(refusal.hint).to.match(way);
      }
    } finally {
      for (const [name, value] of Object.entries({ NODE_OPTIONS, TEST_KEYCHAIN, DBUS_SESSION_BUS_ADDRESS })) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    }
    expect(made()).to.equal(0);
  });

  it('tells an old server and one that is away from one another', async () => {
    proxy.fail(MAKE, { status: 404, code: 'not_found' }, 1);
    expect(await refused(boards())).to.include({ code: 'server_outdated' });
    proxy.fail(MAKE, { status: 501, code: 'not_implemented' }, 1);
    expect(await refused(boards())).to.include({ code: 'server_outdated' });
    proxy.fail('GET /v1/boards', 'reset');
    expect(await refused(boards())).to.include({ code: 'server_unreachable' });
    await proxy.down();
    expect(await refused(boards())).to.include({ code: 'server_unreachable' });
    await proxy.listen();
  });

  it('shows no key to another server at the address', async () => {
    const stranger = await startTestServer('sqlite');
    proxy.retarget(stranger.url);
    expect(await refused(boards())).to.include({ code: 'server_identity_changed' });
    expect(proxy.seen.every(({ token }) => token === undefined)).to.equal(true);
    await stranger.stop();
  });

  it('goes by the session’s own server where none is named, else by the one that its person uses', async () => {
    const { server: only } = await boards();
    expect(only).to.equal(proxy.url);
    const other = 'https://other.example.com';
    await machine.knows(other, 'srv_other', server.dana);
    expect(delegating.originOf(session, undefined)).to.equal(proxy.url);
    await machine.knows(other, 'srv_other', server.dana, { logged_in_at: '2026-03-02T09:00:00.000Z' });
    expect(delegating.originOf(session, undefined)).to.equal(other);
    session.seats.push({ origin: proxy.url, member_id: 'mem_1', board_id: 'brd_1', board: 'b', name: 'n' });
    expect(await boards()).to.include({ server: proxy.url });
    expect(await refused(boards({ server: 'nowhere' }))).to.include({ code: 'server_unknown' });
  });

  it('keeps nothing where the token cannot be saved, and the next join finds the same seat', async () => {
    const board = await newBoard(server.dana);
    const { saveSeat } = machine.credentials;
    machine.credentials.saveSeat = async () => {
      throw new Error('disk full');
    };
    expect(await refused(joinBoard(board.name))).to.include({ code: 'internal' });
    machine.credentials.saveSeat = saveSeat;
    const joined = await joinBoard(board.name);
    expect(joined.answer).to.include({ reused: true });
  });

  it('is called after the host, and after the home where there are several', () => {
    const folders = { home: null, state: '/home/maya/.local/state/service' };
    expect(delegationName(folders, 'Mayas-Laptop.local')).to.equal('mayas-laptop');
    expect(delegationName(folders, '漢字')).to.equal('machine');
    const other = delegationName({ home: '/tmp/x', state: '/tmp/x/state' }, 'h'.repeat(60));
    expect(other).to.match(/^h{35}-[0-9a-f]{4}$/);
    expect(other).to.not.equal(delegationName({ home: '/tmp/y', state: '/tmp/y/state' }, 'h'.repeat(60)));
  });
});

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'));
}
