import { expect } from 'chai';
import { type OperationRow, pathParameters } from '../../../src/contract/operation.ts';
import { type OperationName, operations } from '../../../src/contract/operations.ts';
import { Api, type Call } from '../../support/api.ts';
import { fromPage, signIn } from '../../support/browser.ts';
import { newAgent, newBoard, newCode, newDelegation, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { put } from '../../support/files.ts';
import { goodCall } from '../../support/good-calls.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeBoard, revokeKey, setRoles } from '../../support/state.ts';
import { told } from '../../support/told.ts';
import { held, scene } from '../approvals/cast.ts';
import { pairOn, propose } from '../pairing/cast.ts';

const names = Object.keys(operations) as OperationName[];
const row = (name: OperationName): OperationRow => operations[name];

forEachDatabase('an id of what is not the caller’s', (engine) => {
  let server: TestServer;
  let eve: Api;
  let own: string;
  /** By path parameter: ids and names that exist, none of them for Eve or on her board; and one of what never was. */
  let theirs: Record<string, { exist: string[]; never: string }>;
  before(async () => {
    server = await startTestServer(engine);
    const { dana } = server;
    eve = await server.person('eve');
    own = (await newBoard(eve)).name;
    const { name: hidden } = await newBoard(dana, { visibility: 'private' });
    const { name: open } = await newBoard(dana);
    const keys = await dana.ok('listKeys');
    const [message, elsewhere] = [await post(dana, hidden, 'secret'), await post(dana, open, 'eve is not on it')];
    const agent = await newAgent(dana, open, { name: 'helper' });
    const { agent: asking, bob } = await scene(server);
    const approval = await held(asking, { kind: 'set_server_role', person_id: bob.personId, role: 'admin' });
    const pairing = await propose(await pairOn(server));
    const tasks = [];
    for (const board of [hidden, open])
      tasks.push(await dana.ok('createTask', { params: { board }, body: { title: 'a task' } }));
    const files = [await put(dana, hidden, 'a.md', 'a'), await put(dana, open, 'b.md', 'b')];
    theirs = {
      key: { exist: keys.keys.map(({ id }) => id), never: 'key_01K5A0000000000000000000K1' },
      delegation: { exist: [(await newDelegation(dana)).id], never: 'dlg_01K5A0000000000000000000D1' },
      session: { exist: [(await signIn(dana)).sessionId], never: 'ses_01K5A0000000000000000000Z9' },
      invite: { exist: [(await dana.ok('createInvite', { body: {} })).id], never: 'inv_01K5A0000000000000000000V1' },
      code_id: { exist: [(await newCode(dana, open)).id], never: 'jc_01K5A0000000000000000000J1' },
      member: { exist: [agent.memberId, agent.name], never: 'mem_01K5A0000000000000000000M9' },
      message: { exist: [message.id, elsewhere.id], never: 'msg_01K5A0000000000000000000P1' },
      task: { exist: tasks.map(({ id }) => id), never: 'tsk_01K5A0000000000000000000T9' },
      approval: { exist: [approval.id], never: 'apr_01K5A0000000000000000000A9' },
      pairing: { exist: [pairing.id], never: 'prq_01K5A0000000000000000000P9' },
      file: { exist: files.map(({ id }) => id), never: 'fil_01K5A0000000000000000000F9' },
    };
  });
  after(() => server.stop());

  const asked = names.flatMap((name) =>
    pathParameters(row(name).path)
      .filter((parameter) => !['board', 'handle', 'seq', 'reaction', 'version'].includes(parameter))
      .map((parameter) => [name, parameter] as const),
  );

  it('stands for every parameter that names something by an id', () => {
    expect([...new Set(asked.map(([, parameter]) => parameter))]).to.have.members(Object.keys(theirs));
  });

  for (const [name, parameter] of asked) {
    it(`is to ${name} like one that never was`, async () => {
      const { exist, never } = theirs[parameter] as { exist: string[]; never: string };
      const call = (id: string): Call => {
        const good = goodCall(name, { board: own, message: '' });
        return { ...good, params: { ...good.params, [parameter]: id } };
      };
      // What the caller wrote is theirs: only that may differ.
      const answer = async (id: string) => {
        const { text, ...rest } = told(await eve.call(name, call(id)));
        const { 'content-length': _, ...headers } = rest.headers;
        return { ...rest, headers, text: text.replaceAll(id, '<id>') };
      };
      const missing = await answer(never);
      expect(missing.status, missing.text).to.be.within(400, 404);
      for (const id of exist) expect(await answer(id), id).to.deep.equal(missing);
    });
  }
});

forEachDatabase('a code or a secret that does not work', (engine) => {
  let server: TestServer;
  let pam: Api;
  let board: string;
  before(async () => {
    server = await startTestServer(engine);
    pam = await server.person('pam');
    board = (await newBoard(pam)).name;
  });
  after(() => server.stop());

  const page = () => fromPage(server.url);

  /** Every call gets the answer of the first one. */
  async function expectOne(as: Api, name: OperationName, calls: Record<string, Call>): Promise<void> {
    const [[, first], ...others] = Object.entries(calls) as [[string, Call], ...[string, Call][]];
    const wrong = told(await as.call(name, first));
    expect(wrong.status, wrong.text).to.equal(404);
    for (const [what, call] of others) {
      expect(told(await as.call(name, call)), `${name}: ${what}`).to.deep.equal(wrong);
    }
  }

  it('of a login is one answer: never made, malformed, used, expired, of a revoked key', async () => {
    const make = async (of: Api = pam) => (await of.ok('createLoginCode')).code;
    const [used, expired] = [await make(), await make()];
    await server.nobody.ok('createBrowserSession', { body: { code: used }, headers: page() });
    const spare = new Api(server.url, (await pam.ok('createKey', { body: { name: 'spare' } })).token);
    const orphan = await make(spare);
    await revokeKey(server, spare);
    const codes = { wrong: `abl_${'A'.repeat(43)}`, malformed: 'x', used, orphan };
    const callsOf = (all: Record<string, string>) =>
      Object.fromEntries(Object.entries(all).map(([what, code]) => [what, { body: { code }, headers: page() }]));
    for (const name of ['previewLoginCode', 'createBrowserSession', 'createBrowserToken'] as const)
      await expectOne(server.nobody, name, callsOf(codes));
    server.clock.advance(61_000);
    for (const name of ['previewLoginCode', 'createBrowserSession', 'createBrowserToken'] as const)
      await expectOne(server.nobody, name, callsOf({ wrong: codes.wrong, expired }));
  });

  it('of a board is one answer to who joins: never made, malformed, ended, revoked, expired', async () => {
    const params = { board };
    const [revoked, expired] = [await newCode(pam, board), await newCode(pam, board, { ttl_seconds: 60 })];
    const ended: Record<string, string> = {};
    for (const state of ['deleted', 'private', 'without the role'] as const) {
      const { name } = await newBoard(pam);
      ended[`of a board that is ${state}`] = (await newCode(pam, name)).code;
      if (state === 'deleted') await changeBoard(server, name, { lifecycle: 'deleted' });
      else if (state === 'private') await changeBoard(server, name, { visibility: 'private' });
      else await setRoles(server, name, { other: { can: [] } });
    }
    await pam.ok('revokeJoinCode', { params: { ...params, code_id: revoked.id } });
    server.clock.advance(61_000);
    const codes = {
      wrong: '000-000',
      malformed: 'x',

      revoked: revoked.code,
      expired: expired.code,
      ...ended,
    };
    await expectOne(
      pam,
      'joinBoard',
      Object.fromEntries(Object.entries(codes).map(([what, code]) => [what, { body: { code } }])),
    );
  });

  it('of a guest is one answer: never made, malformed, of sessions, used, revoked, expired', async () => {
    const make = (guest: string, more = {}) => newCode(pam, board, { guest, ...more });
    const [used, revoked, expired] = [await make('ada'), await make('bea'), await make('cat', { ttl_seconds: 60 })];
    await server.nobody.ok('joinAsGuest', { body: { code: used.code, key_name: 'box' } });
    await pam.ok('revokeJoinCode', { params: { board, code_id: revoked.id } });
    server.clock.advance(61_000);
    const ofSessions = await newCode(pam, board);
    const codes = {
      wrong: '000-000',
      malformed: 'x',
      ofSessions: ofSessions.code,
      used: used.code,
      revoked: revoked.code,
      expired: expired.code,
    };
    await expectOne(
      server.nobody,
      'joinAsGuest',
      Object.fromEntries(Object.entries(codes).map(([what, code]) => [what, { body: { code, key_name: 'box' } }])),
    );
  });

  it('of a machine is one answer: never made, malformed, somebody else’s, nobody’s, decided, collected, expired', async () => {
    const ask = (handle: string) => server.nobody.ok('createMachineRequest', { body: { handle, label: 'box' } });
    const [decided, refused, expired] = [await ask('pam'), await ask('pam'), await ask('pam')];
    await pam.ok('refuseMachineRequest', { body: { code: refused.code } });
    await pam.ok('approveMachineRequest', { body: { code: decided.code } });
    await server.nobody.ok('collectMachineKey', { body: { secret: decided.secret } });
    server.clock.advance(301_000);
    const [danas, nobodys] = [await ask('dana'), await ask('nobody-here')];
    const codes = {
      wrong: '000-000',
      malformed: 'x',
      danas: danas.code,
      nobodys: nobodys.code,
      decided: decided.code,
      refused: refused.code,
      expired: expired.code,
    };
    for (const name of ['lookUpMachineRequest', 'approveMachineRequest', 'refuseMachineRequest'] as const)
      await expectOne(
        pam,
        name,
        Object.fromEntries(Object.entries(codes).map(([what, code]) => [what, { body: { code } }])),
      );
    const secrets = {
      wrong: `abc_${'A'.repeat(43)}`,
      malformed: 'x',
      collected: decided.secret,
      expired: expired.secret,
    };
    await expectOne(
      server.nobody,
      'collectMachineKey',
      Object.fromEntries(Object.entries(secrets).map(([what, secret]) => [what, { body: { secret } }])),
    );
  });

  it('is asked for in the same words for a handle that nobody has', async () => {
    const shapes = [];
    for (const handle of ['pam', 'nobody-here']) {
      const answer = await server.nobody.call('createMachineRequest', { body: { handle, label: 'box' } });
      const { status, headers } = told(answer);
      shapes.push({ status, headers, fields: Object.keys(answer.body) });
    }
    expect(shapes[1]).to.deep.equal(shapes[0]);
    expect(shapes[0]).to.include({ status: 201 });
  });

  it('of a request is one answer: no credential that is known, whatever kind it looks like', async () => {
    const spare = new Api(server.url, (await pam.ok('createKey', { body: { name: 'gone' } })).token);
    await revokeKey(server, spare);
    const never = new Api(server.url, `abh_${'A'.repeat(43)}`);
    const answers = [];
    for (const api of [never, spare, new Api(server.url, 'abh_short'), new Api(server.url, 'what')])
      answers.push(told(await api.call('getMe')));
    for (const answer of answers) expect(answer).to.deep.equal(answers[0]);
    expect(answers[0]).to.include({ status: 401 });
  });
});
