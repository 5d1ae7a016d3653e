import { expect } from 'chai';
import type { Api, Call } from '../../support/api.ts';
import { Browser, browserOf, fromPage } from '../../support/browser.ts';
import { newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { exchange, lines } from '../../support/raw.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { newBrowser } from '../../support/state.ts';
import { PUBLIC_URL, startTeamServer, type TeamServer } from '../../support/team.ts';
import { until } from '../../support/until.ts';

const unknownSecret = `abb_${'A'.repeat(43)}`;

forEachDatabase('a browser’s cookie', (engine) => {
  let server: TestServer;
  let people = 0;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const newPerson = () => server.person(`person-${++people}`);
  const browserOfSomebody = async () => newBrowser(server, await newPerson());
  const create = (browser: Api, headers: Record<string, string> = {}) =>
    browser.call('createBoard', { body: {}, headers });
  const lastUse = async ({ personId }: Api): Promise<number | null> => {
    const rows = await server.db.read((tx) =>
      tx.query<{ last_used_at: number | null }>((db) =>
        db('access_keys').where('person_id', personId).select('last_used_at'),
      ),
    );
    return rows[0]?.last_used_at ?? null;
  };

  it('does not count beside an Authorization header, whatever that holds', async () => {
    const browser = await browserOfSomebody();
    for (const authorization of ['Bearer wrong', `Bearer abh_${'A'.repeat(43)}`, 'nonsense', 'Basic x', ''])
      expect(
        (await server.nobody.call('getMe', { headers: { cookie: browser.cookie, authorization } })).code,
        authorization,
      ).to.equal('unauthorized');
    const dana = await server.dana.call('getMe', { headers: { cookie: browser.cookie } });
    expect(dana.body.id).not.to.equal(browser.personId);
    // A bearer write needs neither origin nor token, whatever cookie comes along.
    expect((await create(server.dana, { cookie: browser.cookie, origin: 'http://evil.test' })).status).to.equal(201);
  });

  it('is found by its name among others, once', async () => {
    const browser = await browserOfSomebody();
    const name = browser.cookie.split('=')[0];
    const read = async (cookie: string) => (await server.nobody.call('getMe', { headers: { cookie } })).status;
    for (const good of [`a=b; ${browser.cookie}; c=d`, `x${name}=1;${browser.cookie}`, `${browser.cookie};`])
      expect(await read(good), good).to.equal(200);
    for (const bad of [
      `${browser.cookie}; ${browser.cookie}`,
      `${name}=; ${browser.cookie}`,
      `${name}=`,
      `${name}=junk`,
      `${name}=${server.dana.token}`,
      `${name}=abb_short`,
      `${name}="${browser.secret}"`,
      `service_session_1=${browser.secret}`,
      `__Host-service_session=${browser.secret}`,
      '',
    ])
      expect(await read(bad), bad).to.equal(401);
  });

  it('reads without further proof, from wherever', async () => {
    const browser = await browserOfSomebody();
    for (const headers of [{}, { origin: 'http://evil.test', 'sec-fetch-site': 'cross-site' }]) {
      const read = await server.nobody.call('getMe', { headers: { cookie: browser.cookie, ...headers } as never });
      expect(read.status).to.equal(200);
      expect(read.headers.get('access-control-allow-origin')).to.equal(null);
    }
    const head = await fetch(`${server.url}/v1/me`, { method: 'HEAD', headers: { cookie: browser.cookie } });
    expect(head.status).to.equal(200);
  });

  it('writes only from a page of this server: the origin is compared byte by byte', async () => {
    const browser = await browserOfSomebody();
    const port = new URL(server.url).port;
    const elsewhere = ['http://evil.test', `http://localhost:${port}`, `https://127.0.0.1:${port}`, 'http://127.0.0.1'];
    for (const origin of ['', 'null', `${server.url}/`, server.url.toUpperCase(), `${server.url}, x`, ...elsewhere])
      expect((await create(browser, { origin })).code, origin).to.equal('origin_not_allowed');
    for (const site of ['cross-site', 'same-site', 'none', 'SAME-ORIGIN'])
      expect((await create(browser, { 'sec-fetch-site': site })).code, site).to.equal('origin_not_allowed');
    for (const site of ['same-origin', ''])
      expect((await create(browser, { 'sec-fetch-site': site })).status).to.equal(201);
  });

  it('writes only with the token of its own session', async () => {
    const pam = await newPerson();
    const [one, two] = [await newBrowser(server, pam), await newBrowser(server, pam)];
    expect(one.csrf).not.to.equal(two.csrf);
    for (const csrf of ['', 'x', two.csrf, one.csrf.slice(1), `${one.csrf}x`, one.secret])
      expect((await create(one, { 'x-service-csrf': csrf })).code).to.equal('csrf_token_invalid');
    expect((await create(one)).status).to.equal(201);
    expect((await create(two)).status).to.equal(201);
    expect((await create(one.bearer)).status).to.equal(201);
  });

  it('is refused in one order: host, path, origin, token, session, kind, body', async () => {
    const browser = await browserOfSomebody();
    const agentOnly: Call = { body: { nonsense: true }, headers: {} };
    const unknown = new Browser(server.url, unknownSecret, server.root.csrfToken(unknownSecret));
    const answer = async (api: Api, headers: Record<string, string>) =>
      (await api.call('ackInbox', { ...agentOnly, headers })).code;
    expect(await answer(unknown, { origin: 'null', 'x-service-csrf': 'x' })).to.equal('origin_not_allowed');
    expect(await answer(unknown, { 'x-service-csrf': 'x' })).to.equal('csrf_token_invalid');
    expect(await answer(unknown, {})).to.equal('unauthorized');
    expect(await answer(browser, { 'x-service-csrf': 'x' })).to.equal('csrf_token_invalid');
    expect(await answer(browser, {})).to.equal('agent_token_required');
    expect(await answer(browser, { cookie: `${browser.cookie}; ${browser.cookie}`, origin: 'null' })).to.equal(
      'origin_not_allowed',
    );
    expect((await browser.call('createBoard', { body: { nonsense: true } })).code).to.equal('invalid_request');
    for (const name of ['createKey', 'setPresence'] as const) {
      expect(await browser.refused(name, { headers: { origin: 'null' } })).to.equal('403 origin_not_allowed');
    }
    const host = new URL(server.url).host;
    const raw = (line: string, name: string) =>
      exchange(server.url, lines(line, `Host: ${name}`, `Cookie: ${browser.cookie}`, 'Origin: null'));
    expect((await raw('POST /v1/boards HTTP/1.1', 'evil.test')).code).to.equal('host_not_allowed');
    expect((await raw('POST /v1/nothing HTTP/1.1', host)).code).to.equal('not_found');
    expect((await raw('POST /v1/boards HTTP/1.1', host)).code).to.equal('origin_not_allowed');
  });

  it('is no use of its key where the write was refused for its origin or token; everything later is', async () => {
    const pam = await newPerson();
    const browser = await newBrowser(server, pam);
    await create(browser, { origin: 'null' });
    await create(browser, { 'x-service-csrf': 'x' });
    await create(browser, { 'sec-fetch-site': 'cross-site' });
    await server.dana.ok('getMe');
    expect(await lastUse(pam)).to.equal(null);
    await browser.call('createBoard', { body: { nonsense: true } });
    await until(async () => (await lastUse(pam)) !== null, 'the use is recorded');
  });

  it('goes with the host: a page at localhost has its own origin', async () => {
    const browser = await browserOfSomebody();
    const port = new URL(server.url).port;
    const send = (origin: string) =>
      exchange(
        server.url,
        lines(
          'POST /v1/boards HTTP/1.1',
          `Host: LOCALHOST:${port}`,
          `Cookie: ${browser.cookie}`,
          `Origin: ${origin}`,
          `X-Service-CSRF: ${browser.csrf}`,
          'Content-Length: 0',
        ),
      );
    expect((await send(`http://localhost:${port}`)).status).to.equal(201);
    expect((await send(server.url)).code).to.equal('origin_not_allowed');
  });

  it('keeps answers by the session, however its secret was sent', async () => {
    const pam = await newPerson();
    const [one, two] = [await newBrowser(server, pam), await newBrowser(server, pam)];
    const { name: board } = await newBoard(one);
    const call: Call = { params: { board }, body: { body: 'once' }, key: 'k' };
    const first = await one.call('postMessage', call);
    const again = await one.bearer.call('postMessage', call);
    expect([again.replayed, again.body]).to.deep.equal([true, first.body]);
    expect((await two.call('postMessage', call)).replayed).to.equal(false);
    expect((await pam.call('postMessage', call)).replayed).to.equal(false);
  });

  it('lets a person do on the page what they do with their key', async () => {
    const pam = await newPerson();
    const browser = await newBrowser(server, pam);
    const { name: board } = await newBoard(browser);
    const message = await post(browser, board, 'from the page');
    expect(message.from.name).to.equal((await pam.ok('getMe')).name);
    await browser.ok('ackBoard', { params: { board }, body: { up_to: message.seq } });
    expect((await pam.ok('listBoards')).boards.map(({ name }) => name)).to.deep.equal([board]);
  });
});

forEachDatabase('a browser’s cookie of a team’s server', (engine) => {
  let server: TeamServer;
  before(async () => {
    server = await startTeamServer(engine);
  });
  after(() => server.stop());

  const page = (headers: Record<string, string> = {}) => ({ ...fromPage(PUBLIC_URL), ...headers });

  it('is Secure and bound to the host by its name; the origin is the public URL, whatever a proxy says', async () => {
    const key = server.admin().token;
    const forwarded = { 'x-forwarded-host': 'evil.test', 'x-forwarded-proto': 'http', forwarded: 'host=evil.test' };
    const answer = await server.client().call('createBrowserSession', { body: { key }, headers: page(forwarded) });
    expect(answer.status).to.equal(201);
    const cookie = answer.headers.get('set-cookie') ?? '';
    expect(cookie).to.match(
      /^__Host-service_session=abb_[A-Za-z0-9_-]{43}; Path=\/; Max-Age=(2591\d{3}|2592000|2592001); HttpOnly; SameSite=Lax; Secure$/,
    );
    const { secret, csrf } = browserOf(PUBLIC_URL, answer);
    const own = { cookie: `__Host-service_session=${secret}` };
    expect((await server.client().ok('getMe', { headers: own })).browser).to.equal(true);
    const wrongName = { cookie: `service_session_443=${secret}; service_session=${secret}` };
    expect(await server.client().refused('getMe', { headers: wrongName })).to.equal('401 unauthorized');

    const create = (headers: Record<string, string>) =>
      server.client().call('createBoard', { body: {}, headers: { ...own, 'x-service-csrf': csrf, ...headers } });
    const proxied = { origin: 'https://evil.test', 'x-forwarded-host': 'evil.test', 'x-forwarded-proto': 'https' };
    for (const headers of [{}, proxied, { origin: 'http://team.example.com' }, { origin: `${PUBLIC_URL}:443` }])
      expect((await create(headers as never)).code).to.equal('origin_not_allowed');
    expect((await create({ origin: PUBLIC_URL })).status).to.equal(201);

    const out = await server
      .client()
      .call('endMyBrowserSession', { headers: page({ ...own, 'x-service-csrf': csrf }) });
    expect(out.headers.get('set-cookie')).to.equal(
      '__Host-service_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure',
    );
    expect(await server.client().refused('getMe', { headers: own })).to.equal('401 unauthorized');
  });
});
