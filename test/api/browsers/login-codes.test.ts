import { expect } from 'chai';
import type { Knex } from 'knex';
import { dropLoginCodesOf } from '../../../src/server/browsers/sessions.store.ts';
import { lockPersonById } from '../../../src/server/people/people.store.ts';
import type { Api } from '../../support/api.ts';
import { browserOf, fromPage, signIn, trySignIn } from '../../support/browser.ts';
import { newAgent, newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { removePerson, revokeKey } from '../../support/state.ts';
import { until } from '../../support/until.ts';

forEachDatabase('a login code', (engine) => {
  let server: TestServer;
  let people = 0;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());
  // Guessing is limited by the minute; what one test fails with must not count against the next.
  beforeEach(() => server.clock.advance(60_000));

  const newPerson = (role: 'member' | 'guest' = 'member', options = {}) =>
    server.person(`person-${++people}`, role, options);
  const codeOf = async (person: Api) => (await person.ok('createLoginCode')).code;
  const preview = (code: string, headers = fromPage(server.url)) =>
    server.nobody.call('previewLoginCode', { body: { code }, headers });
  const storedCodes = (person: Api) =>
    server.db.read((tx) =>
      tx.query<Record<string, unknown>>((db) => db('login_codes').where('person_id', person.personId).select('*')),
    );

  it('is made with a person’s own key, guests included, and lives for a minute', async () => {
    for (const role of ['member', 'guest'] as const) {
      const made = await (await newPerson(role)).call('createLoginCode');
      expect(made.status).to.equal(201);
      expect(made.body.code).to.match(/^abl_[A-Za-z0-9_-]{43}$/);
      expect(Date.parse(made.body.expires_at) - server.clock.now()).to.be.within(55_000, 61_000);
    }
  });

  it('is refused to agents and browsers', async () => {
    const pam = await newPerson();
    const agent = await newAgent(pam, (await newBoard(pam)).name);
    const browser = await signIn(pam);
    for (const api of [agent, browser, browser.bearer])
      expect(await api.refused('createLoginCode')).to.equal('403 human_token_required');
    expect(await pam.refused('createLoginCode', { body: { for: 'me' } })).to.equal('400 invalid_request');
  });

  it('is never kept: the same key makes another, and the database has no code in it', async () => {
    const pam = await newPerson();
    const [one, two] = [
      await pam.call('createLoginCode', { key: 'k' }),
      await pam.call('createLoginCode', { key: 'k', body: {} }),
    ];
    expect([one.replayed, two.replayed]).to.deep.equal([false, false]);
    expect(one.body.code).not.to.equal(two.body.code);
    const rows = await storedCodes(pam);
    expect(rows).to.have.length(2);
    expect(JSON.stringify(rows)).not.to.include('abl_');
    expect(server.log.join('\n')).not.to.include(one.body.code);
  });

  it('shows whom and with which key it signs in, without being used up', async () => {
    const pam = await newPerson();
    const { code, expires_at } = await pam.ok('createLoginCode');
    const me = await pam.ok('getMe');
    for (let n = 0; n < 2; n++) {
      const { status, body } = await preview(code);
      expect(status).to.equal(200);
      expect(body).to.deep.include({ expires_at });
      expect(body.person).to.include({ id: me.id, handle: me.name, server_role: 'member' });
      expect(body.key.name).to.equal('laptop');
    }
    expect((await trySignIn(server.url, { code })).status).to.equal(201);
  });

  it('is previewed by a page of this server only, whatever credential comes along', async () => {
    const code = await codeOf(await newPerson());
    const origins = [{}, { origin: 'null' }, { origin: 'http://evil.test' }, { origin: `${server.url}/` }];
    for (const headers of origins) expect((await preview(code, headers as never)).code).to.equal('origin_not_allowed');
    expect(await server.dana.refused('previewLoginCode', { body: { code } })).to.equal('403 origin_not_allowed');
    const cross = { ...fromPage(server.url), 'sec-fetch-site': 'same-site' };
    expect((await preview(code, cross)).code).to.equal('origin_not_allowed');
    const junk = { ...fromPage(server.url), authorization: 'Nonsense', cookie: 'service_session_1=x' };
    expect((await preview(code, junk)).status).to.equal(200);
  });

  it('signs in once', async () => {
    const code = await codeOf(await newPerson());
    expect((await trySignIn(server.url, { code })).status).to.equal(201);
    for (const answer of [await preview(code), await trySignIn(server.url, { code })])
      expect([answer.status, answer.code]).to.deep.equal([404, 'login_code_invalid']);
  });

  it('has one answer for what does not work: wrong, expired, its key or person gone', async () => {
    const [rex, rob, exp] = [await newPerson(), await newPerson(), await newPerson()];
    const codes = [await codeOf(rex), await codeOf(rob), await codeOf(exp)];
    await revokeKey(server, rex);
    await removePerson(server, rob);
    server.clock.advance(60_000);
    const soon = await newPerson('member', { expiresIn: 30 });
    codes.push(await codeOf(soon));
    server.clock.advance(30_000);
    const texts = new Set<string>();
    for (const code of [...codes, 'abl_wrong', '', 'x'.repeat(200), soon.token ?? '']) {
      server.clock.advance(60_000);
      for (const answer of [await preview(code), await trySignIn(server.url, { code })]) {
        expect(answer.status, code).to.equal(404);
        texts.add(answer.text);
      }
    }
    expect([...texts]).to.have.length(1);
    expect((await preview('x'.repeat(201))).code).to.equal('invalid_request');
  });

  it('ends exactly a minute after it was made', async () => {
    const code = await codeOf(await newPerson());
    server.clock.advance(58_000);
    expect((await preview(code)).status).to.equal(200);
    server.clock.advance(2_000);
    expect((await preview(code)).code).to.equal('login_code_invalid');
  });

  it('makes room for the eleventh: the oldest of ten is dropped, also when they are made at once', async () => {
    const pam = await newPerson();
    const codes: string[] = [];
    for (let n = 0; n < 11; n++) {
      codes.push(await codeOf(pam));
      server.clock.advance(10);
    }
    const works = await Promise.all(codes.map(async (code) => (await preview(code)).status === 200));
    expect(works).to.deep.equal([false, ...Array(10).fill(true)]);
    const ben = await newPerson();
    await Promise.all(Array.from({ length: 20 }, () => ben.ok('createLoginCode')));
    expect(await storedCodes(ben)).to.have.length(10);
  });

  // On SQLite one write runs at a time.
  if (engine === 'postgres')
    it('is not held by a sign-in that waits for the end of its person, and does not work after that', async () => {
      const pam = await newPerson();
      const code = await codeOf(pam);
      let signedIn: ReturnType<typeof trySignIn> | undefined;
      const free = await server.db.write(async (tx) => {
        await lockPersonById(tx, pam.personId ?? '');
        signedIn = trySignIn(server.url, { code });
        const waiting = () =>
          server.db.read((read) => read.query((db) => db('pg_locks').where('granted', false).select('pid')));
        await until(async () => (await waiting()).length > 0, 'it waits for the person');
        const codes = (db: Knex) => db('login_codes').where('person_id', pam.personId);
        const rows = await tx.query((db) => codes(db).forUpdate().skipLocked().select('digest'));
        await dropLoginCodesOf(tx, pam.personId ?? '');
        return rows;
      });
      expect(free).to.have.length(1);
      expect((await signedIn)?.code).to.equal('login_code_invalid');
    });

  it('signs in the person whose code it is, in whichever browser it is used', async () => {
    const pam = await newPerson();
    const answer = await trySignIn(server.url, { code: await codeOf(pam) });
    expect(answer.body.started_with).to.equal('login_code');
    expect((await browserOf(server.url, answer).ok('getMe')).id).to.equal(pam.personId);
  });
});
