/** What the row of an operation says of its requests, tried on every operation. Credentials have a matrix of their own. */
import { expect } from 'chai';
import { type ErrorCode, errors } from '../../../src/contract/errors.ts';
import { type CredentialKind, idempotencyOf, type OperationRow } from '../../../src/contract/operation.ts';
import { type OperationName, operations } from '../../../src/contract/operations.ts';
import { type Api, type Call, detailsOf, pathOf } from '../../support/api.ts';
import { Browser } from '../../support/browser.ts';
import { newAgent, newBoard } from '../../support/cast.ts';
import { databaseText } from '../../support/database-text.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeRole, putOnBoard } from '../../support/state.ts';
import { goodWays, newScene, type Scene, type Way } from '../../support/ways.ts';

const names = Object.keys(operations) as OperationName[];
const row = (name: OperationName): OperationRow => operations[name];

/** Ends the session that calls it, or is for the endpoints of pairings, whose repeats `proofs.test.ts` has. */
const elsewhere: readonly OperationName[] = [
  'endMyBrowserSession',
  'endAllBrowserSessions',
  'acceptPairing',
  'verifyPairing',
];
const writes = names.filter((name) => row(name).method !== 'GET' && !elsewhere.includes(name));

const prefixes: Readonly<Record<string, CredentialKind>> = { abh_: 'PK', aba_: 'AG', abd_: 'DG' };
const kindOf = (api: Api): CredentialKind | undefined =>
  api instanceof Browser ? 'BR' : prefixes[api.token?.slice(0, 4) ?? ''];

forEachDatabase('the row of every operation', (engine) => {
  let server: TestServer;
  /** Has few rows, so that all of them are soon compared. */
  let refusing: TestServer;
  before(async () => {
    server = await startTestServer(engine);
    refusing = await startTestServer(engine);
  });
  after(async () => {
    await server.stop();
    await refusing.stop();
  });

  for (const name of writes) {
    it(`says whether a repeat of ${name} is answered with the first answer`, async () => {
      for (const { caller, call } of await goodWays(name, await newScene(server))) {
        const key = `${name} ${kindOf(caller)}`;
        const first = await caller.call(name, { ...call, key });
        const again = await caller.call(name, { ...call, key });
        const classes = row(name).ownReceipt ? [] : ['K', 'R'];
        const keeps = first.code === undefined || errors[first.code as ErrorCode].kept;
        // Of what is only tried nothing is kept.
        const tried = (call.body as { dry_run?: boolean } | undefined)?.dry_run === true;
        const replays = keeps && !tried && classes.includes(idempotencyOf(row(name), kindOf(caller)));
        expect(again.replayed, key).to.equal(replays);
        if (replays) expect([again.status, again.text], key).to.deep.equal([first.status, first.text]);
      }
    });
  }

  let people = 0;
  const newPerson = (role: 'admin' | 'member' = 'member', on = server) => on.person(`person-${++people}`, role);

  /** Whether each kind of caller of a scene is refused with this code, before anything was written. */
  async function expectRefused(scene: Scene, ways: Way[], name: OperationName, refusal: string, is: boolean) {
    await scene.server.dana.ok('archiveBoard', { params: { board: scene.board } });
    const before = is ? await databaseText(scene.server.db) : null;
    for (const { caller, call } of ways) {
      const { status, code } = await caller.call(name, call);
      expect(`${status} ${code}` === refusal, `${kindOf(caller)}: ${status} ${code}`).to.equal(is);
    }
    if (is) expect(await databaseText(scene.server.db)).to.deep.equal(before);
  }

  // A stream that opens does not end.
  for (const name of names.filter((one) => row(one).credentials.length > 0 && one !== 'openStream')) {
    it(`says whether guests and their agents may ${name}, whatever became of the board`, async () => {
      const refused = row(name).guests !== undefined;
      const on = refused ? refusing : server;
      const guest = await newPerson('member', on);
      const scene = await newScene(on, guest);
      const ways = await goodWays(name, scene);
      await changeRole(on, guest, 'guest');
      await expectRefused(scene, ways, name, '403 guest_not_allowed', refused);
    });

    it(`says whether only server admins may ${name}`, async () => {
      // Everybody may rename themselves.
      const refused = row(name).admins !== undefined || name === 'renamePerson';
      const on = refused ? refusing : server;
      const scene = await newScene(on, await newPerson('member', on));
      await expectRefused(scene, await goodWays(name, scene), name, '403 server_admin_required', refused);
    });
  }

  const ofServer = ({ admins, guests, path }: OperationRow) =>
    admins !== undefined || (guests !== undefined && !guests.onBoard && !path.includes('{board}'));
  for (const name of writes.filter((one) => ofServer(row(one)))) {
    it(`shows a kept answer of ${name} to nobody who is refused now`, async () => {
      const person = await newPerson('admin');
      const ways = (await goodWays(name, await newScene(server, person))).map(({ caller, call }, n) => ({
        caller,
        call: { ...call, key: `${name} ${n}` },
      }));
      const kept: Way[] = [];
      for (const way of ways) {
        await way.caller.call(name, way.call);
        if ((await way.caller.call(name, way.call)).replayed) kept.push(way);
      }
      await changeRole(server, person, 'guest');
      const refusal = row(name).guests ? '403 guest_not_allowed' : '403 server_admin_required';
      for (const { caller, call } of ways) expect(await caller.refused(name, call)).to.equal(refusal);
      for (const { caller, call } of row(name).ownReceipt ? [] : kept) {
        const another = { ...call, query: { ...call.query, another: 1 } };
        expect(await caller.refused(name, another)).to.equal('422 idempotency_conflict');
      }
    });
  }

  it('lists what is answered of a board, task or member that is named beside the path, or in an action', async () => {
    const [person, colleague] = [await newPerson(), await newPerson()];
    const [own, other] = [await newBoard(person), await newBoard(server.dana)];
    await putOnBoard(server, own.name, colleague);
    const [mine, theirs] = [await newAgent(person, own.name), await newAgent(colleague, own.name)];
    const { name: handle } = await person.ok('getMe');
    const line = (member: string, body?: unknown): Call => ({ params: { board: own.name, member }, body });
    const working = { kind: 'working', text: 'the cap', task: '99' };
    const paused = { kind: 'paused', text: 'out', until: new Date(server.clock.now() - 1_000).toISOString() };
    const refused: [OperationName, Call, string][] = [
      ['openStream', { query: { board: other.name } }, '403 not_on_board'],
      ['listAllTasks', { query: { board: other.name } }, '403 not_on_board'],
      ['listAllTasks', { query: { board: own.name, owner: 'nobody-here' } }, '404 member_not_found'],
      ['listAsks', { query: { board: other.name } }, '403 not_on_board'],
      ['search', { query: { q: 'x', board: other.name } }, '403 not_on_board'],
      ['search', { query: { q: 'x', board: own.name, task: '99' } }, '404 task_not_found'],
      ['joinBoard', { body: { board: other.name, role: 'member' } }, '403 not_on_board'],
      ['setAgentLine', line(mine.memberId, working), '404 task_not_found'],
      ['setAgentLine', line(mine.memberId, paused), '422 line_until_past'],
      ['clearAgentLine', line(theirs.memberId), '403 agent_owner_required'],
      ['removeMember', line(handle), '409 last_owner'],
    ];
    for (const [name, call, refusal] of refused) expect(await person.refused(name, call), name).to.equal(refusal);

    const action = { kind: 'add_people', board_id: other.id, person_id: colleague.personId };
    expect(await mine.refused('requestAdminAction', { body: action })).to.equal('403 not_on_board');
    await putOnBoard(server, other.name, person);
    const { approval } = await mine.ok('requestAdminAction', { body: action });
    await person.ok('leaveBoard', { params: { board: other.name } });
    const params = { approval: approval.id };
    expect(await person.refused('allowApproval', { params })).to.equal('403 not_on_board');
  });

  for (const name of names.filter((one) => row(one).keyRequired)) {
    it(`says that ${name} needs an Idempotency-Key`, async () => {
      for (const { caller, call } of await goodWays(name, await newScene(server))) {
        const { key: _, ...without } = call;
        const answer = await caller.call(name, without);
        expect([answer.status, detailsOf(answer)?.['field']]).to.deep.equal([400, 'Idempotency-Key']);
      }
    });
  }

  for (const name of names.filter((one) => row(one).maxBody !== undefined)) {
    it(`says how long the body of ${name} may be`, async () => {
      for (const { caller, call } of await goodWays(name, await newScene(server))) {
        const pad = (bytes: number) => JSON.stringify(call.body ?? {}).padEnd(bytes);
        const send = async (bytes: number) => {
          const url = server.url + pathOf(row(name).path, call);
          const headers = { ...caller.headers({ ...call, body: {} }), 'idempotency-key': `${bytes}` };
          const response = await fetch(url, { method: row(name).method, headers, body: pad(bytes) });
          return ((await response.json()) as { error?: { message: string } }).error?.message ?? '';
        };
        const limit = row(name).maxBody ?? 0;
        expect(await send(limit)).not.to.include('is larger than');
        expect(await send(limit + 1)).to.include(`is larger than ${limit} bytes`);
      }
    });
  }

  for (const name of names.filter((one) => row(one).origin)) {
    it(`says that only a page of this server calls ${name}`, async () => {
      const [way] = await goodWays(name, await newScene(server));
      for (const origin of ['', 'http://127.0.0.1:1', 'null']) {
        const headers: Record<string, string> = origin === '' ? {} : { origin };
        expect(await server.nobody.refused(name, { ...way?.call, headers })).to.equal('403 origin_not_allowed');
      }
      expect((await server.nobody.call(name, { ...way?.call, headers: { origin: server.url } })).status).not.to.equal(
        403,
      );
    });
  }

  for (const name of names.filter((one) => row(one).agentsNeed)) {
    it(`says without what ${name} is for people only`, async () => {
      const { agent } = await newScene(server);
      expect(await agent.refused(name)).to.equal('403 human_token_required');
      const { error } = (await agent.call(name)).body as unknown as { error: { hint: string } };
      expect(error.hint).to.include(`${row(name).agentsNeed}=`);
    });
  }
});
