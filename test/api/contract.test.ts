import { expect } from 'chai';
import type { z } from 'zod';
import { memberJoined } from '../../src/contract/nouns/record.ts';
import { examples } from '../../src/contract/openapi/examples.ts';
import { errorCodesOf, type OperationRow, pathParameters, statusesOf } from '../../src/contract/operation.ts';
import { type OperationName, operations } from '../../src/contract/operations.ts';
import { hintFrameNames } from '../../src/contract/values.ts';
import { newAgent, newBoard, newCode, newDelegation, post } from '../support/cast.ts';
import { forEachDatabase } from '../support/databases.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const names = Object.keys(operations) as OperationName[];

/** A document in which the parameters stand where they are referred to. */
function withoutReferences(document: { components: { parameters: Record<string, unknown> } }) {
  const { parameters } = document.components;
  return JSON.parse(JSON.stringify(document), (_, value) => {
    const [, name] = /^#\/components\/parameters\/(.+)$/.exec(value?.$ref ?? '') ?? [];
    return name === undefined ? value : parameters[name];
  });
}

interface Described {
  operationId: string;
  security: unknown[];
  deprecated?: true;
  parameters: { name: string; in: string; required: boolean; schema: { default?: unknown } }[];
  requestBody?: { required: boolean };
  responses: Record<string, unknown>;
  'x-credentials': string[];
  'x-idempotency': OperationRow['idempotency'];
}

forEachDatabase('the description of the API', (engine) => {
  let server: TestServer;
  let text: string;
  let document: {
    openapi: string;
    info: { version: string; description: string };
    paths: Record<string, Record<string, Described>>;
  };
  before(async () => {
    server = await startTestServer(engine);
    const response = await fetch(`${server.url}/openapi.json`, { headers: server.dana.headers({}) });
    text = await response.text();
    document = withoutReferences(JSON.parse(text));
  });
  after(() => server.stop());

  it('lists exactly the operations of the table, each as its row says', () => {
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
    );
    expect(described.map(([key]) => key)).to.have.members(
      names.map((name) => `${operations[name].method} ${operations[name].path}`),
    );
    for (const [key, operation] of described) {
      const row: OperationRow = operations[operation.operationId as OperationName];
      expect(key).to.equal(`${row.method} ${row.path}`);
      expect(operation['x-credentials']).to.deep.equal(row.credentials);
      expect(operation['x-idempotency']).to.deep.equal(row.idempotency);
      const inPath = operation.parameters.filter((parameter) => parameter.in === 'path');
      expect(inPath.map(({ name }) => name)).to.deep.equal(pathParameters(row.path));
      const refused = errorCodesOf(row).flatMap((code) => statusesOf(row, code).map(String));
      expect(Object.keys(operation.responses)).to.have.members([...row.ok.map(String), ...new Set(refused), 'default']);
      const name = operation.operationId as OperationName;
      const takes = 'body' in operations[name] || (operations[name] as OperationRow).kind === 'upload';
      expect(operation.requestBody !== undefined, name).to.equal(takes);
    }
    expect([document.openapi, document.info.version]).to.deep.equal(['3.1.0', '0.1.0']);
    expect(text.length).to.be.lessThan(300_000);
  });

  it('has examples of the ten commonest, which keep to the contract', () => {
    expect(Object.keys(examples)).to.have.length(10);
    for (const [name, { body, answer }] of Object.entries(examples)) {
      const row: OperationRow = operations[name as OperationName];
      expect(row.body?.safeParse(body).success ?? true, `body of ${name}`).to.equal(true);
      expect(row.answer.safeParse(answer).success, `answer of ${name}`).to.equal(true);
    }
    expect(text).to.include('Who looks at the retries?');
  });

  it('says how each may be called: as bearer, or by a page in its browser session', () => {
    for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
      const row: OperationRow = operations[operation.operationId as OperationName];
      const ways = operation.security.map((way) => Object.keys(way as object).join());
      const page = row.method === 'GET' ? 'browser' : 'browser,csrf';
      const expected = [
        ...(row.credentials.length > 0 ? ['bearer'] : []),
        ...(row.credentials.includes('BR') ? [page] : []),
      ];
      expect(ways, operation.operationId).to.deep.equal(expected);
      const origin = operation.parameters.some(({ name, in: place }) => name === 'Origin' && place === 'header');
      expect(origin, operation.operationId).to.equal(row.origin === true);
      expect(operation.deprecated, operation.operationId).to.equal(row.deprecated);
    }
  });

  it('says which bodies and parameters may be left out, how long a text may be, and which headers tell a client something', async () => {
    const described = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const of = (name: OperationName) => described.find(({ operationId }) => operationId === name)!;
    const { name: board } = await newBoard(server.dana);
    const named = [
      ['createBoard', {}, false, 201],
      ['postMessage', { params: { board } }, true, 400],
    ] as const;
    for (const [name, call, required, status] of named) {
      expect(of(name).requestBody?.required, name).to.equal(required);
      expect((await server.dana.call(name, call)).status, name).to.equal(status);
    }
    const { schemas, responses } = (
      document as unknown as { components: Record<string, Record<string, { properties: Record<string, object> }>> }
    ).components;
    const longest = {
      CreatePairingBody: { work: 4_000 },
      PostMessageBody: { body: 32_768 },
      CreateTaskBody: { title: 120 },
    };
    for (const [body, fields] of Object.entries(longest))
      for (const [field, maxLength] of Object.entries(fields))
        expect(schemas?.[body]?.properties[field], `${body} ${field}`).to.include({ minLength: 1, maxLength });
    expect(schemas?.['ClientToken']).to.have.property('description').that.includes('sent again');
    expect(schemas?.['CreateBoardBody']?.properties).to.deep.include({
      title: { type: 'string', maxLength: 80 },
      charter: { type: 'string', maxLength: 8_000 },
    });

    const required = ({ parameters }: Described) =>
      parameters.filter((parameter) => parameter.in === 'query' && parameter.required).map(({ name }) => name);
    expect(required(of('search'))).to.deep.equal(['q']);
    expect(required(of('uploadFile'))).to.deep.equal(['name']);
    expect(described.flatMap(required)).to.have.length(2);
    expect((await server.dana.call('search')).status).to.equal(400);

    const headersOf = (response: unknown) => Object.keys((response as { headers?: object }).headers ?? {});
    expect(headersOf(responses?.['Error'])).to.deep.equal(['Retry-After']);
    expect(headersOf(of('postMessage').responses['409'])).to.deep.equal(['Retry-After']);
    for (const name of ['createBoard', 'joinBoard', 'uploadFile'] as const)
      expect(headersOf(of(name).responses['201']), name).to.deep.equal(['Idempotent-Replayed']);
    for (const name of ['createKey', 'listBoards'] as const)
      expect(headersOf(of(name).responses['200'] ?? of(name).responses['201']), name).to.deep.equal([]);
    await server.dana.ok('uploadFile', { params: { board }, query: { name: 'a.txt' }, bytes: 'a' });
    const got = await server.dana.call('downloadFile', { params: { board, file: 'a.txt', version: 1 } });
    const told = headersOf(of('downloadFile').responses['200']);
    expect(told).to.have.length(3);
    expect([...got.headers.keys()]).to.include.members(told.map((name) => name.toLowerCase()));
  });

  it('names the refusals of an Idempotency-Key only where it does something', () => {
    const refusals = (name: OperationName) =>
      errorCodesOf(operations[name]).filter((code) => code.startsWith('idempotency_'));
    for (const name of ['postMessage', 'joinBoard', 'uploadFile'] as const)
      expect(refusals(name), name).to.deep.equal(['idempotency_conflict', 'idempotency_in_progress']);
    for (const name of ['createKey', 'allowApproval', 'selectPairingEndpoint', 'previewInvite'] as const)
      expect(refusals(name), name).to.deep.equal([]);
    expect(refusals('requestAdminAction'), 'its own receipt').to.deep.equal(['idempotency_conflict']);
    const { parameters } = document.paths['/v1/keys']!['post']!;
    expect(parameters.find(({ name }) => name === 'Idempotency-Key'))
      .to.have.property('description')
      .that.includes('Where x-idempotency is K or R');
  });

  it('says what a parameter that is left out stands for, such as the length of a page', () => {
    const described = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const usual = described.flatMap(({ operationId, parameters }) =>
      parameters
        .filter((parameter) => parameter.in === 'query' && !parameter.required)
        .map(({ name, schema }) => [operationId, name, schema.default]),
    );
    expect(usual)
      .to.deep.include(['listMessages', 'limit', 50])
      .and.to.deep.include(['listMessages', 'newest', false])
      .and.to.deep.include(['listTasks', 'state', 'active']);
    for (const [operationId, name, value] of usual) {
      const row: OperationRow = operations[operationId as OperationName];
      const parameter = row.query?.shape[name as string] as z.ZodType;
      const taken = value === undefined ? undefined : parameter.parse(String(value));
      const without = parameter.parse(undefined);
      if (typeof without !== 'object') expect(without, `${operationId} ${name}`).to.equal(taken);
    }
  });

  it('says of a joining who joined: a person, or an agent and its person', async () => {
    const { components, paths } = document as unknown as {
      components: { schemas: Record<string, { properties: Record<string, { description?: string }> }> };
      paths: Record<string, Record<string, { description?: string }>>;
    };
    const { person_id } = components.schemas['MemberJoined']?.properties ?? {};
    expect(person_id?.description).to.include('owner_id');
    const { schemas } = components;
    expect(schemas['PostMessageBody']?.properties['to']?.description).to.include('`role:name`');
    expect(Object.keys(schemas['HintFrames']?.properties ?? {})).to.have.members(hintFrameNames);
    expect(schemas).to.include.keys('BoardFrames', 'End');
    expect(paths['/v1/boards/{board}/events']?.['get']?.description).to.include('person_id');

    const { name: board } = await newBoard(server.dana);
    await newAgent(server.dana, board, { harness: 'codex' });
    const { code } = await newCode(server.dana, board, { guest: 'gail' });
    const { person } = await server.nobody.ok('joinAsGuest', { body: { code, key_name: 'laptop' } });
    const machine = await newDelegation(server.dana);
    const seat = { board, session: 'codex:s1', harness: 'codex' };
    await machine.ok('joinBoard', { body: seat });
    const { events } = await server.dana.ok('listEvents', { params: { board }, query: { type: 'member.joined' } });
    const joined = events.map(({ data }) => memberJoined.parse(data));
    const me = await server.dana.ok('getMe');
    expect(joined.map(({ kind, person_id: of, owner_id }) => [kind, of ?? owner_id])).to.deep.equal([
      ['human', me.id],
      ['agent', me.id],
      ['human', person.id],
      ['agent', person.id],
      ['agent', me.id],
    ]);
  });

  it('explains the letters for credentials and repeats', () => {
    const rows: OperationRow[] = Object.values(operations);
    const classes = rows.flatMap(({ idempotency }) =>
      typeof idempotency === 'string' ? idempotency : Object.values(idempotency),
    );
    const letters = new Set([...rows.flatMap(({ credentials }) => credentials), ...classes]);
    const { description } = document.info;
    expect([...letters].filter((each) => each !== '-' && !description.includes(`\`${each}\``))).to.deep.equal([]);
  });

  it('is not for somebody without a credential', async () => {
    expect((await fetch(`${server.url}/openapi.json`)).status).to.equal(401);
  });

  it('goes with the info, which names no path or address of storage', async () => {
    const { text, body } = await server.nobody.call('getInfo');
    expect(body).to.include({ name: 'service', mode: 'local' });
    expect(body.storage).to.deep.equal({ db: engine, files: engine === 'postgres' ? 'db' : 'disk' });
    expect(body.features).to.include.members([
      'board_stream',
      'delegation_list',
      'onboarding',
      'pagination',
      'profile',
    ]);
    expect(text).not.to.include(server.dataDir).and.not.to.include('postgres://');
  });
});

forEachDatabase('an unexpected failure', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  it('is 500 with the number of the request, whose cause only the log has', async () => {
    const { name } = await newBoard(server.dana);
    await post(server.dana, name, 'x');
    await server.db.write((tx) =>
      tx.change((db) => db('boards').where({ name }).update({ policy: 'not json at all' })),
    );
    const answer = await server.dana.call('listMessages', { params: { board: name } });
    expect([answer.status, answer.code]).to.deep.equal([500, 'internal']);
    const { error } = answer.body as unknown as { error: { message: string; details: { request_id: string } } };
    expect(error.details.request_id).to.equal(answer.headers.get('x-request-id'));
    expect(answer.text).not.to.include('JSON').and.not.to.include('not json');
    const line = server.log.find((text) => text.includes(error.details.request_id) && text.includes('unexpected'));
    expect(line).to.include('SyntaxError');
  });

  it('of a keyed write is not kept: the same request runs afresh', async () => {
    const { name } = await newBoard(server.dana);
    const [row] = await server.db.read((tx) =>
      tx.query<{ policy: string }>((db) => db('boards').where({ name }).select()),
    );
    const setPolicy = (policy: string) =>
      server.db.write((tx) => tx.change((db) => db('boards').where({ name }).update({ policy })));
    const call = { params: { board: name }, body: { body: 'x' }, key: 'fails at first' };
    await setPolicy('not json at all');
    expect((await server.dana.call('postMessage', call)).status).to.equal(500);
    await setPolicy(row?.policy ?? '');
    const again = await server.dana.call('postMessage', call);
    expect([again.status, again.replayed]).to.deep.equal([201, false]);
  });
});
