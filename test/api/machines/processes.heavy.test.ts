/** Machine requests on two servers that share one Postgres. */
import { expect } from 'chai';
import type { Answer } from '../../../src/contract/types.ts';
import type { RunningServer } from '../../../src/server/serve.ts';
import { Api } from '../../support/api.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

type Started = Answer<'createMachineRequest'>;

forEachDatabase('a machine between two servers', (engine) => {
  if (engine === 'sqlite') return;
  let server: TestServer;
  let twin: RunningServer;
  let here: Api;
  let there: Api;
  before(async () => {
    server = await startTestServer(engine);
    twin = await startTwin(server);
    here = await server.person('maya');
    there = new Api(twin.url, here.token);
  });
  after(async () => {
    await twin.close();
    await server.stop();
  });

  const ask = (): Promise<Started> =>
    server.nobody.ok('createMachineRequest', { body: { handle: 'maya', label: 'desktop' } });
  const collect = (api: Api, { secret }: Started, wait_seconds = 0) =>
    new Api(api.url).call('collectMachineKey', { body: { secret, wait_seconds } });

  it('is woken at one by the approval at the other', async () => {
    const request = await ask();
    const waiting = collect(there, request, 20);
    await until(() => server.clock.waiting(20_000) === 1, 'it sleeps');
    await here.ok('approveMachineRequest', { body: { code: request.code } });
    expect((await waiting).status).to.equal(201);
  });

  it('has one winner of approval and refusal', async () => {
    for (let n = 0; n < 5; n++) {
      const request = await ask();
      const answers = await Promise.all([
        here.call('approveMachineRequest', { body: { code: request.code } }),
        there.call('refuseMachineRequest', { body: { code: request.code } }),
      ]);
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 404]);
    }
  });

  it('has one winner of ten collections, half of them at each', async () => {
    const request = await ask();
    await here.ok('approveMachineRequest', { body: { code: request.code } });
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_unused, n) => collect(n % 2 === 0 ? here : there, request)),
    );
    expect(answers.filter(({ status }) => status === 201)).to.have.length(1);
    expect(answers.filter(({ code }) => code === 'machine_request_invalid')).to.have.length(9);
  });

  it('is one of at most 20 of its address, counted over both', async () => {
    await server.db.write((tx) => tx.change((db) => db('machine_requests').delete()));
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_unused, n) =>
        new Api(n % 2 === 0 ? here.url : there.url).call('createMachineRequest', { body: { handle: 'x', label: 'x' } }),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).to.have.length(20);
  });
});
