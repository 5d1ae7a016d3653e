import { expect } from 'chai';
import { type OperationName, type OperationRow, operations } from '../../../src/contract/operations.ts';
import { Api } from '../../support/api.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { goodCall, isServed } from '../../support/good-calls.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeBoard, changeKey, endMember, putOnBoard, removePerson, revokeKey } from '../../support/state.ts';

const names = Object.keys(operations) as OperationName[];
const guarded = names.filter((name) => operations[name].credentials.length > 0);
const row = (name: OperationName): OperationRow => operations[name];

forEachDatabase('every operation', (engine) => {
  let server: TestServer;
  let board: string;
  let message: string;
  before(async () => {
    server = await startTestServer(engine);
    board = (await newBoard(server.dana, { name: 'stage' })).name;
    message = (await post(server.dana, board, 'hello')).id;
  });
  after(() => server.stop());

  async function answerOf(api: Api, name: OperationName): Promise<string> {
    if (name === 'openStream') return streamAnswer(api);
    const answer = await api.call(name, goodCall(name, { board, message }));
    return isServed(name, { board, message }, answer) ? 'ok' : `${answer.status} ${answer.code}`;
  }

  async function streamAnswer(api: Api): Promise<string> {
    const query = api.token?.startsWith('aba_') ? `?board=${board}` : '';
    const response = await fetch(`${server.url}/v1/stream${query}`, { headers: api.headers({}) });
    if (response.status !== 200) {
      const { error } = (await response.json()) as { error: { code: string } };
      return `${response.status} ${error.code}`;
    }
    await response.body?.cancel();
    return 'ok';
  }

  const expectAll = async (api: Api, expected: (name: OperationName) => string) => {
    for (const name of guarded) expect(await answerOf(api, name), name).to.equal(expected(name));
  };

  /** What the holder of a working credential of this kind gets. */
  const working = (kind: 'PK' | 'AG') => (name: OperationName) => {
    if (row(name).credentials.includes(kind)) return 'ok';
    return kind === 'PK' ? '403 agent_token_required' : '403 human_token_required';
  };

  const person = async (handle: string, options = {}) => {
    const made = await server.person(handle, 'member', options);
    await putOnBoard(server, board, made);
    return made;
  };

  it('asks for a credential, but for the info', async () => {
    expect((await server.nobody.call('getInfo')).status).to.equal(200);
    await expectAll(server.nobody, () => '401 unauthorized');
  });

  it('does not know tokens that were never issued, or look like nothing', async () => {
    const unknown = [`abh_${'A'.repeat(43)}`, `aba_${'A'.repeat(43)}`];
    for (const token of unknown) await expectAll(new Api(server.url, token), () => '401 unauthorized');
    const junk = ['x', 'abh_', `abh_${'A'.repeat(31)}`, `abz_${'A'.repeat(43)}`, `abb_${'A'.repeat(43)}`];
    for (const token of [...junk, `abi_${'A'.repeat(43)}`, `abh_${'A'.repeat(300)}`, `${server.dana.token}.`]) {
      expect(await new Api(server.url, token).refused('getMe'), token).to.equal('401 unauthorized');
    }
  });

  it('does not look at a credential where none is asked for', async () => {
    const info = await new Api(server.url, `abh_${'A'.repeat(43)}`).ok('getInfo');
    expect(info.storage.db).to.equal(engine);
  });

  it('serves a person what people may do, and nothing that is for agents', async () => {
    await expectAll(await person('pia'), working('PK'));
  });

  it('serves an agent what agents may do, and nothing that is for people', async () => {
    await expectAll(await newAgent(server.dana, board), working('AG'));
  });

  it('ends with a revoked key, for the person and for the agents the key made', async () => {
    const rex = await person('rex');
    const agent = await newAgent(rex, board);
    await expectAll(agent, working('AG'));
    await revokeKey(server, rex);
    await expectAll(rex, () => '401 unauthorized');
    await expectAll(agent, () => '401 unauthorized');
  });

  it('ends exactly when the key expires', async () => {
    const kim = await person('kim');
    const agent = await newAgent(kim, board);
    await changeKey(server, kim, { expires_at: server.clock.now() + 3_600_000 });
    server.clock.advance(3_600_000 - 2_000);
    await kim.ok('getMe');
    await agent.ok('getMe');
    server.clock.advance(2_000);
    await expectAll(kim, () => '401 unauthorized');
    await expectAll(agent, () => '401 unauthorized');
  });

  it('ends for a person removed from the server, and for their agents', async () => {
    const rob = await person('rob');
    const agent = await newAgent(rob, board);
    await removePerson(server, rob);
    await expectAll(rob, () => '401 unauthorized');
    await expectAll(agent, () => '401 unauthorized');
  });

  it('tells an ended seat that it ended, on every operation and whatever became of its key', async () => {
    const sue = await person('sue');
    const agent = await newAgent(sue, board, { name: 'ended-one' });
    await endMember(server, agent.memberId);
    await expectAll(agent, () => '403 agent_removed');
    await revokeKey(server, sue);
    await expectAll(agent, () => '403 agent_removed');
    const { body } = await agent.call('getMe');
    const { details } = (body as unknown as { error: { details: Record<string, unknown> } }).error;
    expect(details).to.have.keys('agent', 'board', 'removed_at', 'removed_by');
    expect(details).to.include({ agent: 'ended-one', board, removed_by: 'person' });
  });

  it('tells an ended seat so before anything about the request, its body included', async () => {
    const agent = await newAgent(server.dana, board);
    await endMember(server, agent.memberId);
    const broken = { params: { board: 'Not A Name' }, body: { nonsense: true }, key: 'k'.repeat(500) };
    expect(await agent.refused('postMessage', broken)).to.equal('403 agent_removed');
    const text = await agent.call('ackInbox', { body: { up_to: 'x' }, headers: { 'content-type': 'text/plain' } });
    expect(text.code).to.equal('agent_removed');
  });

  it('does not know a token that was replaced', async () => {
    const agent = await newAgent(server.dana, board);
    const digest = server.root.digest(`aba_${'B'.repeat(43)}`);
    await server.db.write((tx) =>
      tx.change((db) => db('members').where('id', agent.memberId).update({ token_digest: digest })),
    );
    await expectAll(agent, () => '401 unauthorized');
    expect((await new Api(server.url, `aba_${'B'.repeat(43)}`).ok('getMe')).id).to.equal(agent.memberId);
  });

  it('is 404 for the agents of a deleted board, before their end is told', async () => {
    const gone = await newBoard(server.dana);
    const agent = await newAgent(server.dana, gone.name);
    const ended = await newAgent(server.dana, gone.name);
    await endMember(server, ended.memberId);
    await changeBoard(server, gone.name, { lifecycle: 'deleted' });
    await expectAll(agent, () => '404 board_not_found');
    await expectAll(ended, () => '404 board_not_found');
  });

  it('refuses a wrong kind before it looks at a board or a body', async () => {
    const agent = await newAgent(server.dana, board);
    const nowhere = { params: { board: 'nowhere' }, body: { nonsense: 1 } };
    expect(await agent.refused('ackBoard', nowhere)).to.equal('403 human_token_required');
    expect(await agent.refused('createBoard', nowhere)).to.equal('403 human_token_required');
    expect(await server.dana.refused('ackInbox', nowhere)).to.equal('403 agent_token_required');
  });

  it('reads the credential by its header alone: one bearer, scheme in any case', async () => {
    const token = server.dana.token ?? '';
    const status = async (authorization: string) =>
      (await server.nobody.call('getMe', { headers: { authorization } })).status;
    for (const good of [`Bearer ${token}`, `bearer ${token}`, `BEARER  ${token}`]) {
      expect(await status(good), good).to.equal(200);
    }
    for (const bad of [token, `Basic ${token}`, 'Bearer', `Bearer ${token} ${token}`, `Bearer ${token},${token}`]) {
      expect(await status(bad), bad).to.equal(401);
    }
  });
});
