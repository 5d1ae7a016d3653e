import { expect } from 'chai';
import type { OperationName } from '../../../src/contract/operations.ts';
import type { Answered, Api, Call } from '../../support/api.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { exchange, lines } from '../../support/raw.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { WireApi } from '../../support/wire-api.ts';

const asking: Call = { body: { handle: 'nobody-here', label: 'box' } };
const wrong: Call = { body: { code: '000-000' } };

const times = async <T>(n: number, fn: (n: number) => Promise<T>): Promise<T[]> => {
  const all: T[] = [];
  for (let at = 0; at < n; at++) all.push(await fn(at));
  return all;
};

function expectLimited({ status, code, headers, body }: Answered<unknown>, bucket: string): void {
  expect([status, code]).to.deep.equal([429, 'rate_limited']);
  const seconds = Number(headers.get('retry-after'));
  expect(seconds).to.be.within(1, 60);
  const { details } = (body as { error: { details: object } }).error;
  expect(details).to.deep.equal({ bucket, retry_after_seconds: seconds });
}

forEachDatabase('attempts of one address', (engine) => {
  let server: TestServer;
  let from: (address: string, token?: string) => Api;
  before(async () => {
    server = await startTestServer(engine, { limits: true });
    from = (address, token) => new WireApi({ port: server.listening.port, from: address }, token);
  });
  beforeEach(() => server.clock.nextMinute());
  after(() => server.stop());

  it('are refused after their number for the rest of the minute; another address is not', async () => {
    const answers = await times(10, () => from('127.0.0.2').call('createMachineRequest', asking));
    expect(answers.every(({ status }) => status === 201)).to.equal(true);
    expectLimited(await from('127.0.0.2').call('createMachineRequest', asking), 'machine_requests');
    expect((await from('127.0.0.3').call('createMachineRequest', asking)).status).to.equal(201);
    server.clock.nextMinute();
    expect((await from('127.0.0.2').call('createMachineRequest', asking)).status).to.equal(201);
  });

  it('are refused before anything else is looked at: size, credential, body', async () => {
    const spoiled = (call: Call) => from('127.0.0.4').call('createMachineRequest', call);
    await times(10, () => spoiled({ body: { what: 1 } }));
    for (const call of [{ body: { what: 1 } }, { body: 'x'.repeat(1_100_000) }])
      expectLimited(await spoiled(call), 'machine_requests');
    expectLimited(await spoiled({ ...asking, headers: { authorization: 'Bearer junk' } }), 'machine_requests');
    expect((await from('127.0.0.4').call('createBoard', { body: {} })).status).to.equal(401);
  });

  it('use up what everybody may do together, those that are refused not', async () => {
    for (let n = 0; n < 6; n++) await times(20, () => from(`127.0.1.${n}`).call('createMachineRequest', asking));
    expectLimited(await from('127.0.1.200').call('createMachineRequest', asking), 'machine_requests');
  });

  it('that show a credential that does not work are refused after 120, those that show one that works never', async () => {
    const junk = `abh_${'x'.repeat(43)}`;
    const bad: [OperationName, string | undefined][] = [
      ['getMe', junk],
      ['listBoards', undefined],
      ['createBoard', 'abd_x'],
      ['getMe', `aba_${'x'.repeat(43)}`],
    ];
    const answers = await times(120, (n) => {
      const [name, token] = bad[n % bad.length]!;
      return from('127.0.0.5', token).call(name, {});
    });
    expect(answers.every(({ status }) => status === 401)).to.equal(true);
    for (const [name, token] of bad) expectLimited(await from('127.0.0.5', token).call(name), 'bad_credentials');
    expect((await from('127.0.0.5').call('getInfo')).status).to.equal(200);
    expect((await from('127.0.0.5', server.dana.token).call('getMe')).status).to.equal(200);
    expect((await from('127.0.0.5', server.dana.token).call('createBoard', { body: {} })).status).to.equal(201);
    expect((await from('127.0.0.6', junk).call('getMe')).status).to.equal(401);
    server.clock.nextMinute();
    expect((await from('127.0.0.5', junk).call('getMe')).status).to.equal(401);
  });

  it('that show a bad credential all at once are answered 401 no more often', async () => {
    const answers = await Promise.all(Array.from({ length: 150 }, () => from('127.0.0.7', 'x').call('getMe')));
    expect(answers.filter(({ status }) => status === 401)).to.have.length(120);
  });

  it('that showed too many bad credentials are refused before their bodies are read', async () => {
    const head = (...more: string[]): string =>
      lines(
        'POST /v1/boards HTTP/1.1',
        `Host: ${new URL(server.url).host}`,
        `Authorization: Bearer abh_${'x'.repeat(43)}`,
        'Content-Type: application/json',
        ...more,
      );
    const seen = await times(121, async () => (await exchange(server.url, head())).status);
    expect(seen).to.deep.equal([...Array(120).fill(401), 429]);
    const withoutBody = () => exchange(server.url, head('Content-Length: 20'));
    expect((await server.clock.within(200, withoutBody)).status).to.equal(429);
    expect((await from('127.0.0.1', server.dana.token).call('createBoard', { body: {} })).status).to.equal(201);
  });

  it('of a person on short codes are counted for the person, whatever address they come from', async () => {
    const pat = await server.person('pat');
    const look = (n: number) => from(`127.0.2.${n}`, pat.token).call('lookUpMachineRequest', wrong);
    expect((await times(10, look)).every(({ code }) => code === 'machine_request_invalid')).to.equal(true);
    expectLimited(await look(11), 'machine_codes');
    const approve = await from('127.0.2.12', pat.token).call('approveMachineRequest', wrong);
    expectLimited(approve, 'machine_codes');
    expect((await from('127.0.2.1', server.dana.token).call('lookUpMachineRequest', wrong)).status).to.equal(404);
  });

  it('of a person are counted after the kind of credential, and only if it works', async () => {
    const { name } = await newBoard(server.dana);
    const agent = await newAgent(server.dana, name);
    const ask = (n: number, token?: string) => from(`127.0.3.${n}`, token).call('lookUpMachineRequest', wrong);
    for (let n = 0; n < 15; n++) {
      expect((await ask(n, agent.token)).code).to.equal('human_token_required');
      expect((await ask(n, 'abh_junk')).code).to.equal('unauthorized');
    }
    expect((await ask(100, server.dana.token)).code).to.equal('machine_request_invalid');
  });

  it('leave signed-in work alone on one’s own machine', async () => {
    const { name } = await newBoard(server.dana);
    await times(130, () => post(server.dana, name, 'x'));
  });
});

describe('attempts at two processes of one server', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer('postgres', { limits: true });
  });
  beforeEach(() => server.clock.nextMinute());
  after(() => server.stop());

  it('are counted together', async () => {
    const twin = await startTwin(server, { limits: true });
    const ports = [server.listening.port, twin.listening.port];
    const at = (n: number, from: string, token?: string) => new WireApi({ port: ports[n % 2]!, from }, token);
    const answers = await times(10, (n) => at(n, '127.0.0.2').call('createMachineRequest', asking));
    expect(answers.every(({ status }) => status === 201)).to.equal(true);
    for (const n of [0, 1])
      expectLimited(await at(n, '127.0.0.2').call('createMachineRequest', asking), 'machine_requests');
    for (let n = 0; n < 8; n++) await times(9, (k) => at(k, `127.0.4.${n}`).call('createMachineRequest', asking));
    for (const n of [0, 1])
      expectLimited(await at(n, '127.0.5.1').call('createMachineRequest', asking), 'machine_requests');

    const pat = await server.person('pat');
    const looks = await times(10, (n) => at(n, `127.0.6.${n}`, pat.token).call('lookUpMachineRequest', wrong));
    expect(looks.every(({ status }) => status === 404)).to.equal(true);
    for (const n of [0, 1])
      expectLimited(await at(n, '127.0.6.99', pat.token).call('lookUpMachineRequest', wrong), 'machine_codes');

    const bad = await times(120, (n) => at(n, '127.0.0.8', 'junk').call('getMe'));
    expect(bad.every(({ status }) => status === 401)).to.equal(true);
    for (const n of [0, 1]) expectLimited(await at(n, '127.0.0.8', 'junk').call('getMe'), 'bad_credentials');
    await twin.close();
  });
});
