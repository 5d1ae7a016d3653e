import { expect } from 'chai';
import type { RunningServer } from '../../../src/server/serve.ts';
import { Api } from '../../support/api.ts';
import { type Browser, browserOf, fromPage, signIn, trySignIn } from '../../support/browser.ts';
import { newAgent, newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { changeKey, newBrowser, newDelegation, removePerson, revokeKey } from '../../support/state.ts';
import { until } from '../../support/until.ts';

const DAY = 86_400_000;

forEachDatabase('signing a browser in', (engine) => {
  let server: TestServer;
  let people = 0;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());
  // Guessing is limited by the minute; what one test fails with must not count against the next.
  const nextMinute = () => server.clock.advance(60_000);
  beforeEach(nextMinute);

  const newPerson = (options = {}) => server.person(`person-${++people}`, 'member', options);
  const codeOf = async (person: Api) => (await person.ok('createLoginCode')).code;
  const enter = (body: Record<string, unknown>, over?: Browser) => trySignIn(server.url, body, over);
  const works = async (api: Api) => (await api.call('getMe')).status === 200;
  const lastsFor = (expires_at: string) => Date.parse(expires_at) - server.clock.now();

  it('with a key gives a session of that key and says who it is', async () => {
    const pam = await newPerson();
    const answer = await enter({ key: pam.token });
    expect(answer.status).to.equal(201);
    const me = await pam.ok('getMe');
    expect(answer.body).to.deep.include({ started_with: 'access_key' });
    expect(answer.body.person).to.include({ id: me.id, handle: me.name, display_name: null, server_role: 'member' });
    expect(answer.body.csrf_token).to.match(/^[A-Za-z0-9_-]{43}$/);
    const browser = browserOf(server.url, answer);
    expect(browser.secret).to.match(/^abb_[A-Za-z0-9_-]{43}$/);
    expect(answer.text).not.to.include('abb_').and.not.to.include(pam.token);
    expect(await browser.ok('getMe')).to.include({ id: me.id, browser: true });
    expect(await browser.ok('getMyBrowserSession')).to.deep.equal(answer.body);
    expect((await pam.ok('getMe')).browser).to.equal(false);
  });

  it('sets the cookie of a local server: for its port, for all paths, out of reach of scripts, and not Secure', async () => {
    const answer = await enter({ key: (await newPerson()).token });
    const [pair = '', ...attributes] = (answer.headers.get('set-cookie') ?? '').split('; ');
    expect(pair).to.match(new RegExp(`^service_session_${new URL(server.url).port}=abb_[A-Za-z0-9_-]{43}$`));
    const [maxAge = ''] = attributes.splice(1, 1);
    expect(attributes).to.deep.equal(['Path=/', 'HttpOnly', 'SameSite=Lax']);
    expect(Number(maxAge.replace('Max-Age=', ''))).to.be.within(2_592_000 - 5, 2_592_000 + 1);
    expect(answer.headers.get('cache-control')).to.equal('no-store');
  });

  it('keeps neither key nor secret in the database or the log', async () => {
    const pam = await newPerson();
    const browser = await signIn(pam);
    const rows = await server.db.read((tx) => tx.query((db) => db('browser_sessions').select('*')));
    const kept = JSON.stringify(rows) + server.log.join('\n');
    for (const secret of [browser.secret, browser.csrf, pam.token ?? '']) expect(kept).not.to.include(secret);
  });

  it('takes exactly one of code, key and token, each of 200 characters at most', async () => {
    const key = (await newPerson()).token;
    const bodies = [
      {},
      { code: 'x', key },
      { key, token: 'x' },
      { code: 'x', key, token: 'x' },
      { confirm_switch: true },
      { key: 'x'.repeat(201) },
      { token: 'x'.repeat(201) },
      { key, confirm_switch: 'true' },
      { key, more: 1 },
      { key: null },
    ];
    for (const body of bodies) expect((await enter(body)).code, JSON.stringify(body)).to.equal('invalid_request');
  });

  it('refuses each form in its own words: a key 401, a token 401, a code 404', async () => {
    const rex = await newPerson();
    const board = (await newBoard(rex)).name;
    const [agent, left] = [await newAgent(rex, board), await newAgent(rex, board)];
    await left.ok('leaveSeat');
    const [gone, browser] = [await newPerson(), await signIn(rex)];
    const removed = await newPerson();
    await revokeKey(server, gone);
    await removePerson(server, removed);
    for (const key of [gone.token, removed.token, agent.token, browser.secret, 'junk', '', `abh_${'A'.repeat(43)}`])
      expect((await enter({ key })).code).to.equal('access_key_invalid');
    const { code } = await rex.ok('createLoginCode');
    for (const token of [
      rex.token,
      agent.token,
      left.token,
      `abd_${'A'.repeat(43)}`,
      code,
      'junk',
      '',
      `abb_${'A'.repeat(43)}`,
    ])
      expect((await enter({ token })).code).to.equal('unauthorized');
    for (const other of [rex.token, browser.secret])
      expect((await enter({ code: other })).code).to.equal('login_code_invalid');
    expect((await enter({ key: 'junk' })).status).to.equal(401);
  });

  it('is for a page of this server only, and says so before it looks at anything', async () => {
    const { token: key } = await newPerson();
    const site = (value: string) => ({ origin: server.url, 'sec-fetch-site': value });
    const port = new URL(server.url).port;
    const headers: Record<string, string>[] = [
      {},
      { origin: 'null' },
      { origin: 'http://evil.test' },
      { origin: server.url.toUpperCase() },
      { origin: `http://localhost:${port}` },
      { origin: `https://127.0.0.1:${port}` },
      { origin: `${server.url}/` },
      site('cross-site'),
      site('same-site'),
      site('none'),
    ];
    for (const one of headers) {
      const refused = await server.nobody.call('createBrowserSession', { body: { nonsense: key }, headers: one });
      expect([refused.status, refused.code], JSON.stringify(one)).to.deep.equal([403, 'origin_not_allowed']);
      expect(refused.headers.get('set-cookie')).to.equal(null);
    }
    const plain = await server.nobody.call('createBrowserSession', { body: { key }, headers: { origin: server.url } });
    expect(plain.status).to.equal(201);
  });

  it('lasts 30 days, or as long as a fixed key; the end of an idle key moves on and does not count', async () => {
    const [plain, short, long, idle] = [
      await newPerson(),
      await newPerson({ expiresIn: 3_600 }),
      await newPerson({ expiresIn: 90 * 86_400 }),
      await newPerson({ expiresIn: 3_600, idleSeconds: 3_600 }),
    ];
    for (const [person, lasts] of [
      [plain, 30 * DAY],
      [short, 3_600_000],
      [long, 30 * DAY],
      [idle, 30 * DAY],
    ] as const) {
      const { body } = await enter({ key: person.token });
      expect(lastsFor(body.expires_at)).to.be.within(lasts - 10_000, lasts + 1_000);
      const code = await enter({ code: await codeOf(person) });
      expect(lastsFor(code.body.expires_at)).to.be.within(lasts - 10_000, lasts + 1_000);
    }
  });

  it('survives a restart, is not prolonged by use, and ends at its end', async () => {
    const own = await startTestServer(engine);
    try {
      const browser = await signIn(own.dana);
      const before = await browser.ok('getMyBrowserSession');
      await own.restart();
      own.clock.advance(29 * DAY);
      expect(await browser.ok('getMyBrowserSession')).to.deep.equal(before);
      own.clock.advance(DAY + 1_000);
      expect(await browser.refused('getMe')).to.equal('401 unauthorized');
      expect(await browser.bearer.refused('getMe')).to.equal('401 unauthorized');
      expect((await own.dana.ok('listBrowserSessions')).sessions).to.deep.equal([]);
      expect((await own.dana.call('getMe')).status).to.equal(200);
    } finally {
      await own.stop();
    }
  });

  it('counts as a use of the pasted key', async () => {
    const pam = await newPerson();
    const used = () =>
      server.db.read((tx) =>
        tx.query<{ last_used_at: number | null }>((db) =>
          db('access_keys').where('person_id', pam.personId).select('last_used_at'),
        ),
      );
    await enter({ key: pam.token });
    await until(async () => (await used())[0]?.last_used_at !== null, 'the use is recorded');
  });

  it('with a stored token moves that session into the cookie: same secret, id and end, and still a bearer', async () => {
    const pam = await newPerson();
    const { token } = await server.nobody.ok('createBrowserToken', { body: { code: await codeOf(pam) } });
    const before = await new Api(server.url, token).ok('getMyBrowserSession');
    const answer = await enter({ token });
    expect(answer.status).to.equal(201);
    expect(answer.body).to.deep.equal(before);
    const browser = browserOf(server.url, answer);
    expect(browser.secret).to.equal(token);
    expect((await enter({ token }, browser)).body.id).to.equal(before.id);
    for (const api of [browser, browser.bearer]) expect(await works(api)).to.equal(true);
    expect((await pam.ok('listBrowserSessions')).sessions).to.have.length(1);
  });

  describe('over another session of the same browser', () => {
    it('of the same person ends that one in the same step', async () => {
      const pam = await newPerson();
      let browser = await signIn(pam);
      const elsewhere = await signIn(pam);
      for (const body of [{ key: pam.token }, { code: await codeOf(pam) }, { token: elsewhere.secret }]) {
        const next = browserOf(server.url, await enter(body, browser));
        expect([await works(browser), await works(next)]).to.deep.equal([false, true]);
        browser = next;
      }
      expect((await pam.ok('listBrowserSessions')).sessions.map(({ id }) => id)).to.deep.equal([elsewhere.sessionId]);
    });

    it('of somebody else asks first, and uses nothing up', async () => {
      const [ana, ben] = [await newPerson(), await newPerson()];
      const browser = await signIn(ana);
      const stored = await signIn(ben);
      const code = await codeOf(ben);
      for (const body of [{ code }, { key: ben.token }, { token: stored.secret }, { code, confirm_switch: false }]) {
        const refused = await enter(body, browser);
        expect([refused.status, refused.code]).to.deep.equal([409, 'browser_session_switch_unconfirmed']);
        expect(refused.headers.get('set-cookie')).to.equal(null);
      }
      expect(await works(browser)).to.equal(true);
      expect((await ben.ok('listBrowserSessions')).sessions).to.have.length(1);
      const switched = await enter({ code, confirm_switch: true }, browser);
      expect(switched.status).to.equal(201);
      expect(switched.body.person.id).to.equal(ben.personId);
      expect(await works(browser)).to.equal(false);
      expect((await ana.ok('listBrowserSessions')).sessions).to.deep.equal([]);
    });

    it('that no longer works asks nothing', async () => {
      const [ana, ben] = [await newPerson(), await newPerson()];
      const browser = await signIn(ana);
      await ana.ok('endAllBrowserSessions');
      expect((await enter({ key: ben.token }, browser)).status).to.equal(201);
    });

    it('counts only where the cookie counts: not beside an Authorization header, nor a junk or doubled cookie', async () => {
      const [ana, ben] = [await newPerson(), await newPerson()];
      const browser = await signIn(ana);
      const name = browser.cookie.split('=')[0];
      const alongs: Record<string, string>[] = [
        { cookie: browser.cookie, authorization: 'Bearer nonsense' },
        { cookie: browser.cookie, authorization: 'nonsense' },
        { cookie: `${name}=junk` },
        { cookie: `${name}=` },
        { cookie: `${name}=abb_${'A'.repeat(300)}` },
        { cookie: `${browser.cookie}; ${browser.cookie}` },
        { cookie: `service_session_1=${browser.secret}` },
      ];
      for (const headers of alongs) {
        const body = { key: ben.token };
        const { status } = await server.nobody.call('createBrowserSession', {
          body,
          headers: { ...fromPage(server.url), ...headers },
        });
        expect(status, JSON.stringify(headers).replaceAll(browser.secret, '…')).to.equal(201);
      }
      expect(await works(browser)).to.equal(true);
    });
  });

  it('ends the oldest of a hundred sessions in the same step, also when many sign in at once', async () => {
    const pam = await newPerson();
    const first = await signIn(pam);
    server.clock.advance(10);
    const second = await signIn(pam);
    server.clock.advance(10);
    for (let n = 0; n < 98; n++) await newBrowser(server, pam);
    expect((await pam.ok('listBrowserSessions')).sessions).to.have.length(100);
    expect(await works(first)).to.equal(true);
    const last = await signIn(pam);
    expect([await works(first), await works(second), await works(last)]).to.deep.equal([false, true, true]);
    await Promise.all(Array.from({ length: 20 }, () => enter({ key: pam.token })));
    expect((await pam.ok('listBrowserSessions', { query: { limit: 500 } })).sessions).to.have.length(100);
    expect(await works(second)).to.equal(false);
  });

  it('lets one of many exchanges of a code win', async () => {
    const pam = await newPerson();
    for (let round = 0; round < 5; round++) {
      nextMinute();
      const code = await codeOf(pam);
      const answers = await Promise.all([
        ...Array.from({ length: 8 }, () => enter({ code })),
        ...Array.from({ length: 4 }, () => server.nobody.call('createBrowserToken', { body: { code } })),
      ]);
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([201, ...Array(11).fill(404)]);
    }
    expect((await pam.ok('listBrowserSessions')).sessions).to.have.length(5);
  });

  it('is not kept under a key: each sign-in is its own', async () => {
    const pam = await newPerson();
    const send = () =>
      server.nobody.call('createBrowserSession', {
        key: 'same',
        body: { key: pam.token },
        headers: fromPage(server.url),
      });
    const [one, two] = [await send(), await send()];
    expect([one.replayed, two.replayed]).to.deep.equal([false, false]);
    expect(one.body.id).not.to.equal(two.body.id);
  });

  describe('with the deprecated browser token', () => {
    it('gives a bearer for a code, without asking where the request came from', async () => {
      const pam = await newPerson();
      const code = await codeOf(pam);
      const answer = await server.nobody.call('createBrowserToken', {
        body: { code },
        headers: { origin: 'http://evil.test' },
      });
      expect(answer.status).to.equal(201);
      expect(Object.keys(answer.body)).to.deep.equal(['token', 'expires_at']);
      expect(lastsFor(answer.body.expires_at)).to.be.within(30 * DAY - 10_000, 30 * DAY + 1_000);
      expect(answer.headers.get('deprecation')).to.equal('true');
      expect(answer.headers.get('link')).to.equal('</v1/browser-sessions>; rel="successor-version"');
      expect(answer.headers.get('set-cookie')).to.equal(null);
      const bearer = new Api(server.url, answer.body.token);
      expect((await bearer.ok('getMe')).browser).to.equal(true);
      await newBoard(bearer);
      expect((await bearer.ok('getMyBrowserSession')).started_with).to.equal('login_code');
      expect(await server.nobody.refused('createBrowserToken', { body: { code } })).to.equal('404 login_code_invalid');
      for (const body of [{}, { code: 1 }, { code: 'x', key: 'y' }, { code: 'x'.repeat(201) }])
        expect(await server.nobody.refused('createBrowserToken', { body })).to.equal('400 invalid_request');
    });
  });

  it('gives sessions that end with their key, and none to a delegation', async () => {
    const pam = await newPerson();
    const browser = await signIn(pam);
    const delegation = await newDelegation(server, pam);
    expect((await enter({ token: delegation.token })).code).to.equal('unauthorized');
    await changeKey(server, pam, { expires_at: server.clock.now() + 60_000 });
    server.clock.advance(61_000);
    expect(await browser.refused('getMe')).to.equal('401 unauthorized');
  });

  if (engine === 'postgres') {
    it('lets one win, and keeps to the caps, over two processes', async () => {
      const twin: RunningServer = await startTwin(server);
      try {
        const pam = await newPerson();
        const there = new Api(twin.url, pam.token);
        for (let round = 0; round < 5; round++) {
          nextMinute();
          const code = await codeOf(round % 2 === 0 ? pam : there);
          const answers = await Promise.all(
            Array.from({ length: 10 }, (_unused, n) => trySignIn(n % 2 === 0 ? server.url : twin.url, { code })),
          );
          expect(answers.map(({ status }) => status).sort()).to.deep.equal([201, ...Array(9).fill(404)]);
        }
        for (let n = 0; n < 90; n++) await newBrowser(server, pam);
        await Promise.all(
          Array.from({ length: 20 }, (_unused, n) =>
            trySignIn(n % 2 === 0 ? server.url : twin.url, { key: pam.token }),
          ),
        );
        expect((await pam.ok('listBrowserSessions')).sessions).to.have.length(100);
        const codes = await Promise.all(Array.from({ length: 20 }, (_unused, n) => codeOf(n % 2 === 0 ? pam : there)));
        const alive = await Promise.all(
          codes.map((code) =>
            server.nobody.call('previewLoginCode', { body: { code }, headers: fromPage(server.url) }),
          ),
        );
        expect(alive.filter(({ status }) => status === 200)).to.have.length(10);
      } finally {
        await twin.close();
      }
    });
  }
});
