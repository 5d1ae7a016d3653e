import { expect } from 'chai';
import type { OperationRow } from '../../../src/contract/operation.ts';
import { type OperationName, operations } from '../../../src/contract/operations.ts';
import { Api } from '../../support/api.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { goodCall, isServed } from '../../support/good-calls.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import {
  changeBoard,
  changeKey,
  endMember,
  newBrowser,
  newDelegation,
  putOnBoard,
  removePerson,
  revokeKey,
} from '../../support/state.ts';
import { pairOn, propose, select } from '../pairing/cast.ts';

const names = Object.keys(operations) as OperationName[];
const byInvite = names.filter((name) => (operations[name] as OperationRow).credentials.includes('IN'));
const guarded = names.filter((name) => operations[name].credentials.length > 0 && !byInvite.includes(name));
type Kind = 'PK' | 'BR' | 'AG' | 'DG' | 'PC';
/** Operations on keys, delegations, settings and allowing: a delegation is told that they are for a person. */
const personal = /^\/v1\/(keys|settings|delegations(?!\/boards)|me\/approvals\/\{approval\}\/allow)/;
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

  /** Whether the last call may have ended the credential or a membership. */
  let changed = false;

  async function answerOf(api: Api, name: OperationName): Promise<string> {
    changed = false;
    if (name === 'openStream') return streamAnswer(api);
    const answer = await api.call(name, goodCall(name, { board, message }));
    changed = answer.status < 400 && row(name).method !== 'GET';
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

  /** Every operation with a working credential of one kind, made anew after each that may have ended it or a membership. */
  const expectWorking = async (kind: Kind, make: () => Promise<Api> | Api) => {
    let api = await make();
    for (const name of guarded) {
      expect(await answerOf(api, name), name).to.equal(working(kind, name));
      if (changed) api = await make();
    }
  };

  /** Identity, section 2.4: what the holder of a working credential of this kind gets. */
  function working(kind: Kind, name: OperationName): string {
    const { credentials, path } = row(name);
    const only = credentials.length === 1 ? credentials[0] : undefined;
    if (credentials.includes(kind)) return 'ok';
    if (kind === 'PC' || (only === 'PC' && kind !== 'DG')) return '403 forbidden';
    if (kind === 'DG') return personal.test(path) ? '403 human_token_required' : '403 forbidden';
    if (only === 'DG') return '403 forbidden';
    if (only === 'BR') return '403 browser_session_required';
    if (only === 'AG') return '403 agent_token_required';
    return '403 human_token_required';
  }

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
    for (const prefix of ['abh_', 'aba_', 'abb_', 'abp_']) {
      await expectAll(new Api(server.url, prefix + 'A'.repeat(43)), () => '401 unauthorized');
    }
    await expectAll(new Api(server.url, `abd_${'A'.repeat(43)}`), () => '401 delegation_revoked');
    const junk = ['x', 'abh_', `abh_${'A'.repeat(31)}`, `abz_${'A'.repeat(43)}`, `abb_${'A'.repeat(43)}`];
    for (const token of [...junk, `abi_${'A'.repeat(43)}`, `abh_${'A'.repeat(300)}`, `${server.dana.token}.`]) {
      expect(await new Api(server.url, token).refused('getMe'), token).to.equal('401 unauthorized');
    }
  });

  it('does not look at a credential where none is asked for', async () => {
    const info = await new Api(server.url, `abh_${'A'.repeat(43)}`).ok('getInfo');
    expect(info.storage.db).to.equal(engine);
  });

  it('takes nothing but an invite where the invite is the credential, and looks at nothing else', async () => {
    const ina = await person('ina');
    const browser = await newBrowser(server, ina);
    const others = [ina, await newAgent(ina, board), browser.bearer, await newDelegation(server, ina)];
    for (const token of [`abh_${'A'.repeat(43)}`, `abc_${'A'.repeat(43)}`, 'x'])
      others.push(new Api(server.url, token));
    for (const name of byInvite) {
      for (const api of others) expect(await answerOf(api, name), `${name} ${api.token}`).to.equal('403 forbidden');
      for (const api of [server.nobody, browser]) expect(await answerOf(api, name), name).to.equal('401 unauthorized');
    }
  });

  it('serves a person what people may do, and nothing that is for agents', async () => {
    let count = 0;
    await expectWorking('PK', () => person(`pia-${++count}`));
  });

  it('serves a browser what people may do without their own key, by cookie and as bearer', async () => {
    let count = 0;
    const browser = async () => newBrowser(server, await person(`bea-${++count}`));
    await expectWorking('BR', browser);
    await expectWorking('BR', async () => (await browser()).bearer);
  });

  it('serves a delegation the few operations that name it', async () => {
    const del = await person('del');
    await expectWorking('DG', () => newDelegation(server, del));
  });

  it('serves an endpoint its own pairing request, and nothing else', async () => {
    const pair = await pairOn(server);
    const { proof } = await select(server, pair, await propose(pair), 'initiator');
    await expectWorking('PC', () => proof);
  });

  it('serves an agent what agents may do, and nothing that is for people', async () => {
    // A person has at most a hundred agents on a board.
    let [count, owner] = [0, await person('ada-0')];
    await expectWorking('AG', async () => {
      if (++count % 50 === 0) owner = await person(`ada-${count}`);
      return newAgent(owner, board);
    });
  });

  it('ends with a revoked key, for the person and for whatever hangs on the key', async () => {
    const rex = await person('rex');
    const [agent, browser] = [await newAgent(rex, board), await newBrowser(server, rex)];
    const delegation = await newDelegation(server, rex);
    for (const api of [agent, browser, browser.bearer]) await api.ok('getMe');
    await delegation.ok('listBoards');
    await revokeKey(server, rex);
    for (const api of [rex, agent, browser, browser.bearer]) await expectAll(api, () => '401 unauthorized');
    await expectAll(delegation, () => '401 delegation_revoked');
  });

  it('ends exactly when the key expires', async () => {
    const kim = await person('kim');
    const [agent, browser] = [await newAgent(kim, board), await newBrowser(server, kim)];
    const delegation = await newDelegation(server, kim);
    await changeKey(server, kim, { expires_at: server.clock.now() + 3_600_000 });
    server.clock.advance(3_600_000 - 2_000);
    for (const api of [kim, agent, browser]) await api.ok('getMe');
    await delegation.ok('listBoards');
    server.clock.advance(2_000);
    for (const api of [kim, agent, browser]) await expectAll(api, () => '401 unauthorized');
    await expectAll(delegation, () => '401 delegation_revoked');
  });

  it('ends for a person removed from the server, and for their agents', async () => {
    const rob = await person('rob');
    const [agent, browser] = [await newAgent(rob, board), await newBrowser(server, rob)];
    const delegation = await newDelegation(server, rob);
    await removePerson(server, rob);
    for (const api of [rob, browser]) await expectAll(api, () => '401 unauthorized');
    await expectAll(agent, () => '403 agent_removed');
    await expectAll(delegation, () => '401 delegation_revoked');
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
    const gone = await newBoard(server.dana, { name: 'stage-gone' });
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
