/** What the row of an operation says of its requests, tried on every operation. Credentials have a matrix of their own. */
import { expect } from 'chai';
import { type ErrorCode, errors } from '../../../src/contract/errors.ts';
import { type CredentialKind, idempotencyOf, type OperationRow } from '../../../src/contract/operation.ts';
import { type OperationName, operations } from '../../../src/contract/operations.ts';
import { type Api, detailsOf, pathOf } from '../../support/api.ts';
import { Browser } from '../../support/browser.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { goodWays, newScene } from '../../support/ways.ts';

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
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

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
    });
  }
});
