import { expect } from 'chai';
import type { Answered, Api, Call } from '../../support/api.ts';
import { fromPage } from '../../support/browser.ts';
import { newBoard } from '../../support/cast.ts';
import { type Engine, forEachDatabase } from '../../support/databases.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { WireApi } from '../../support/wire-api.ts';
import { invite, secretOf } from '../invites/cast.ts';

/** The bucket that refused; null for any other answer. */
const limited = ({ status, code, headers, body }: Answered<unknown>): string | null => {
  if (code !== 'rate_limited') return null;
  expect(status).to.equal(429);
  expect(Number(headers.get('retry-after'))).to.be.within(1, 60);
  return (body as { error: { details: { bucket: string } } }).error.details.bucket;
};

forEachDatabase('guessing', (engine: Engine) => {
  let server: TestServer;
  /** One server, or two processes of it, asked in turn. */
  let ports: number[];
  let stop: () => Promise<void>;
  let turn = 0;
  before(async () => {
    server = await startTestServer(engine, { limits: true });
    const twin = engine === 'postgres' ? await startTwin(server, { limits: true }) : null;
    ports = [server.listening.port, ...(twin ? [twin.listening.port] : [])];
    stop = async () => {
      await twin?.close();
      await server.stop();
    };
  });
  beforeEach(() => server.clock.nextMinute());
  after(() => stop());

  const from = (address: string, token?: string): WireApi =>
    new WireApi({ port: ports[turn++ % ports.length]!, from: address }, token);
  const asPage = (api: WireApi, name: 'createBrowserSession' | 'previewLoginCode', body: object) =>
    api.call(name, { body, headers: fromPage(api.url) }) as Promise<Answered<unknown>>;
  const codeOf = async (): Promise<string> => (await server.dana.ok('createLoginCode')).code;

  it('at invites: the eleventh attempt of an address is refused, and another address still succeeds', async () => {
    const made = await invite(server.dana);
    const connect = (address: string, secret: string, handle: string) =>
      from(address).call('connectPerson', { body: { invite: secret, handle, key_name: 'laptop' } });
    const wrong = `abi_${'A'.repeat(43)}`;
    for (let n = 0; n < 8; n++) expect((await connect('127.0.0.2', wrong, 'zed')).code).to.equal('invite_invalid');
    // The same bucket for whatever an invite or a guest's code opens.
    expect((await from('127.0.0.2', wrong).call('previewInvite')).code).to.equal('invite_invalid');
    const guest = await from('127.0.0.2').call('joinAsGuest', { body: { code: '000-000', key_name: 'x' } });
    expect(guest.code).to.equal('join_code_invalid');
    expect(limited(await connect('127.0.0.2', secretOf(made), 'zed'))).to.equal('redeem');
    expect(limited(await from('127.0.0.2', secretOf(made)).call('previewInvite'))).to.equal('redeem');
    expect((await connect('127.0.0.3', secretOf(made), 'zed')).status).to.equal(201);
  });

  it('at sign-ins: twenty failures of an address, successes not counted', async () => {
    const enter = (address: string, code: string) => asPage(from(address), 'createBrowserSession', { code });
    for (let n = 0; n < 5; n++) expect((await enter('127.0.0.4', await codeOf())).status).to.equal(201);
    for (let n = 0; n < 18; n++) expect((await enter('127.0.0.4', 'junk')).code).to.equal('login_code_invalid');
    expect((await asPage(from('127.0.0.4'), 'previewLoginCode', { code: 'x' })).code).to.equal('login_code_invalid');
    expect((await from('127.0.0.4').call('createBrowserToken', { body: { what: 1 } })).status).to.equal(400);
    const right = await codeOf();
    expect(limited(await enter('127.0.0.4', right))).to.equal('sign_in_failures');
    expect((await enter('127.0.0.5', right)).status).to.equal(201);
    server.clock.nextMinute();
    expect((await enter('127.0.0.4', await codeOf())).status).to.equal(201);
  });

  it('at sign-ins is no bad credential of the request', async () => {
    const key = `abh_${'A'.repeat(43)}`;
    for (let n = 0; n < 20; n++)
      await from('127.0.0.6').call('createBrowserToken', { body: { token: key }, headers: fromPage('http://x') });
    expect((await from('127.0.0.6', 'junk').call('getMe')).status).to.equal(401);
  });

  it('by a page of another site is refused, and counts against nobody', async () => {
    const tries = [
      ['createBrowserSession', { code: 'junk' }, 'login_code_invalid'],
      ['connectPerson', { invite: `abi_${'A'.repeat(43)}`, handle: 'zed', key_name: 'x' }, 'invite_invalid'],
      ['lookUpMachineRequest', { code: '000-000' }, 'unauthorized'],
    ] as const;
    for (const [name, body, otherwise] of tries) {
      const tried = async (site: string) => {
        const api = from('127.0.0.8');
        return (await api.call(name, { body, headers: { ...fromPage(api.url), 'sec-fetch-site': site } } as Call)).code;
      };
      for (let n = 0; n < 21; n++)
        expect(await tried(n % 2 === 0 ? 'cross-site' : 'same-site'), name).to.equal('origin_not_allowed');
      expect(await tried('same-origin')).to.equal(otherwise);
    }
    const typed = { headers: { 'sec-fetch-site': 'none' } };
    expect((await from('127.0.0.8').call('createMachineRequest', typed)).code).to.equal('invalid_request');
  });

  it('at sign-ins all at once gets no further than one after the other', async () => {
    const tries = Array.from({ length: 60 }, () => asPage(from('127.0.0.7'), 'previewLoginCode', { code: 'junk' }));
    const codes = (await Promise.all(tries)).map(({ code }) => code);
    expect(codes.filter((code) => code === 'login_code_invalid')).to.have.length(20);
    expect(codes.filter((code) => code === 'rate_limited')).to.have.length(40);
  });

  it('at join codes: twenty of a person are refused, kept answers and replays of them counted once', async () => {
    const pat = await server.person(`pat-${engine}`);
    const codeBy = async (person: Api): Promise<string> => {
      const { name } = await newBoard(person);
      return (await person.ok('createJoinCode', { params: { board: name }, body: { role: 'member' } })).code;
    };
    const join = (code: string, key?: string) =>
      from('127.0.0.8', pat.token).call('joinBoard', { body: { code }, ...(key === undefined ? {} : { key }) });
    for (let n = 0; n < 10; n++) expect((await join('000-000')).code).to.equal('join_code_invalid');
    for (let n = 0; n < 9; n++) expect((await join('000-000', `k${n}`)).code).to.equal('join_code_invalid');
    for (let n = 0; n < 9; n++) expect((await join('000-000', `k${n}`)).replayed).to.equal(true);
    const code = await codeBy(pat);
    expect((await join('000-000')).code).to.equal('join_code_invalid');
    expect(limited(await join(code))).to.equal('join_code_failures');
    const other = await server.person(`other-${engine}`);
    const own = { body: { code: await codeBy(other) } };
    expect((await from('127.0.0.8', other.token).call('joinBoard', own)).status).to.equal(201);
    server.clock.nextMinute();
    expect((await join(code)).status).to.equal(201);
  });
});
