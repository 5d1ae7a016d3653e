import { expect } from 'chai';
import type { Api } from '../../support/api.ts';
import { signIn } from '../../support/browser.ts';
import { newAgent, newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeKey, newDelegation } from '../../support/state.ts';
import { until } from '../../support/until.ts';

forEachDatabase('browser sessions', (engine) => {
  let server: TestServer;
  let people = 0;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const newPerson = (role: 'member' | 'guest' = 'member') => server.person(`person-${++people}`, role);
  const idsOf = async (person: Api, query = {}) =>
    (await person.ok('listBrowserSessions', { query })).sessions.map(({ id }) => id);
  const works = async (api: Api) => (await api.call('getMe')).status === 200;

  it('are listed to their person, newest first, with the key they hang on, guests included', async () => {
    for (const role of ['member', 'guest'] as const) {
      const pam = await newPerson(role);
      const [one, two] = [await signIn(pam), await signIn(pam)];
      const list = await pam.ok('listBrowserSessions');
      expect(list.person).to.include({ id: pam.personId, server_role: role });
      expect(new Set(list.sessions.map(({ id }) => id))).to.deep.equal(new Set([one.sessionId, two.sessionId]));
      const { person: _person, csrf_token: _token, ...shown } = await two.ok('getMyBrowserSession');
      expect(list.sessions.find(({ id }) => id === two.sessionId)).to.deep.equal(shown);
      expect(list.next_after).to.equal(null);
      server.clock.advance(10);
      const { sessionId } = await signIn(pam);
      expect((await idsOf(pam))[0]).to.equal(sessionId);
    }
  });

  it('are listed by the page, each once, though sessions come and go between pages', async () => {
    const pam = await newPerson();
    const made: string[] = [];
    for (let n = 0; n < 7; n++) {
      made.unshift((await signIn(pam)).sessionId);
      server.clock.advance(10);
    }
    const seen: string[] = [];
    let after: string | null = null;
    do {
      const query: Record<string, string | number> = after === null ? { limit: 3 } : { limit: 3, after };
      const page = await pam.ok('listBrowserSessions', { query });
      seen.push(...page.sessions.map(({ id }) => id));
      after = page.next_after;
      if (seen.length === 3) {
        await pam.ok('endBrowserSession', { params: { session: made[2] ?? '' } });
        await signIn(pam);
      }
    } while (after !== null);
    expect(seen).to.deep.equal(made);
    for (const query of [
      { after: 'junk' },
      { limit: 0 },
      { limit: 501 },
      { key: 'laptop' },
      { after: 'x'.repeat(201) },
    ])
      expect(await pam.refused('listBrowserSessions', { query: query as never })).to.equal('400 invalid_request');
  });

  it('are listed of one key of one’s own; any other key is not there', async () => {
    const [pam, ben] = [await newPerson(), await newPerson()];
    const browser = await signIn(pam);
    const key = (await browser.ok('getMyBrowserSession')).key.id;
    const foreign = (await (await signIn(ben)).ok('getMyBrowserSession')).key.id;
    expect(await idsOf(pam, { key })).to.deep.equal([browser.sessionId]);
    for (const other of [foreign, 'key_01K5A0000000000000000000Z9'])
      expect(await pam.refused('listBrowserSessions', { query: { key: other } })).to.equal('404 key_not_found');
  });

  it('are ended one by one; a repeat finds nothing, unless it carries the same key', async () => {
    const pam = await newPerson();
    const [one, two] = [await signIn(pam), await signIn(pam)];
    const [shown] = (await pam.ok('listBrowserSessions')).sessions.filter(({ id }) => id === one.sessionId);
    const params = { session: one.sessionId };
    const ended = await pam.call('endBrowserSession', { params, key: 'k' });
    expect([ended.status, ended.body]).to.deep.equal([200, shown]);
    expect([await works(one), await works(one.bearer), await works(two)]).to.deep.equal([false, false, true]);
    expect((await pam.call('endBrowserSession', { params, key: 'k' })).replayed).to.equal(true);
    expect(await pam.refused('endBrowserSession', { params })).to.equal('404 browser_session_not_found');
    expect(await idsOf(pam)).to.deep.equal([two.sessionId]);
  });

  it('have one answer for what is not there: foreign, missing, ended, expired, or of a key that ended', async () => {
    const [pam, ben] = [await newPerson(), await newPerson()];
    const foreign = await signIn(ben);
    const ended = await signIn(pam);
    await ended.ok('endMyBrowserSession');
    const other = await server.person(`person-${++people}`, 'member');
    const dead = await signIn(other);
    await server.db.write((tx) =>
      tx.change((db) => db('browser_sessions').where('id', dead.sessionId).update({ expires_at: tx.now })),
    );
    const texts = new Set<string>();
    for (const [api, session] of [
      [pam, foreign.sessionId],
      [pam, 'ses_01K5A0000000000000000000Z9'],
      [pam, ended.sessionId],
      [other, dead.sessionId],
      [server.dana, foreign.sessionId],
    ] as const) {
      const { status, text } = await api.call('endBrowserSession', { params: { session } });
      expect(status).to.equal(404);
      texts.add(text);
    }
    expect(texts.size).to.equal(1);
    expect(await works(foreign)).to.equal(true);
    expect(await pam.refused('endBrowserSession', { params: { session: 'all' } })).to.equal('400 invalid_request');
  });

  it('are ended all together, of the person only', async () => {
    const [pam, ben] = [await newPerson(), await newPerson()];
    const [one, two, theirs] = [await signIn(pam), await signIn(pam), await signIn(ben)];
    expect(await pam.ok('endAllBrowserSessions', { key: 'k' })).to.deep.equal({ ended: 2 });
    expect((await pam.call('endAllBrowserSessions', { key: 'k' })).body).to.deep.equal({ ended: 2 });
    expect(await pam.ok('endAllBrowserSessions')).to.deep.equal({ ended: 0 });
    expect([await works(one), await works(two), await works(theirs)]).to.deep.equal([false, false, true]);
    expect(await works(pam)).to.equal(true);
  });

  it('are each ended once, however many end them at once', async () => {
    const pam = await newPerson();
    const browsers = await Promise.all(Array.from({ length: 6 }, () => signIn(pam)));
    const session = browsers[0]?.sessionId ?? '';
    const single = await Promise.all(
      Array.from({ length: 6 }, () => pam.call('endBrowserSession', { params: { session } })),
    );
    expect(single.map(({ status }) => status).sort()).to.deep.equal([200, 404, 404, 404, 404, 404]);
    const all = await Promise.all(Array.from({ length: 6 }, () => pam.ok('endAllBrowserSessions')));
    expect(all.reduce((sum, { ended }) => sum + ended, 0)).to.equal(5);
  });

  it('are a matter of the person’s own key: agents, browsers and delegations are refused', async () => {
    const pam = await newPerson();
    const agent = await newAgent(pam, (await newBoard(pam)).name);
    const browser = await signIn(pam);
    const params = { session: browser.sessionId };
    for (const api of [agent, browser, browser.bearer]) {
      expect(await api.refused('listBrowserSessions')).to.equal('403 human_token_required');
      expect(await api.refused('endBrowserSession', { params })).to.equal('403 human_token_required');
      expect(await api.refused('endAllBrowserSessions')).to.equal('403 human_token_required');
    }
    expect(await (await newDelegation(server, pam)).refused('listBrowserSessions')).to.equal('403 forbidden');
    expect(await works(browser)).to.equal(true);
  });

  it('are not listed once their key has ended', async () => {
    const pam = await newPerson();
    await signIn(pam);
    expect(await idsOf(pam)).to.have.length(1);
    // The list is read with the very key, so the key's own end is seen in the rows only.
    await changeKey(server, pam, { expires_at: server.clock.now() + 5_000 });
    server.clock.advance(5_000);
    expect(await pam.refused('listBrowserSessions')).to.equal('401 unauthorized');
  });

  describe('of the page itself', () => {
    it('are shown to it alone, with the token for its writes', async () => {
      const pam = await newPerson();
      const [one, two] = [await signIn(pam), await signIn(pam)];
      const shown = await one.ok('getMyBrowserSession');
      expect(shown).to.include({ id: one.sessionId, csrf_token: one.csrf });
      expect(await one.bearer.ok('getMyBrowserSession')).to.deep.equal(shown);
      expect((await two.ok('getMyBrowserSession')).csrf_token).not.to.equal(one.csrf);
      for (const name of ['getMyBrowserSession', 'endMyBrowserSession'] as const)
        expect(await pam.refused(name)).to.equal('403 browser_session_required');
      expect(await server.nobody.refused('getMyBrowserSession')).to.equal('401 unauthorized');
    });

    it('are ended by signing out, which clears the cookie; a repeat is 401', async () => {
      const pam = await newPerson();
      const browser = await signIn(pam);
      const { person: _person, csrf_token: _token, ...shown } = await browser.ok('getMyBrowserSession');
      const out = await browser.call('endMyBrowserSession', { key: 'k' });
      expect([out.status, out.body]).to.deep.equal([200, shown]);
      const name = browser.cookie.split('=')[0];
      expect(out.headers.get('set-cookie')).to.equal(`${name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax`);
      expect(await browser.refused('endMyBrowserSession', { key: 'k' })).to.equal('401 unauthorized');
      expect(await browser.bearer.refused('getMe')).to.equal('401 unauthorized');
    });

    it('are ended as bearer too, which says nothing about a cookie', async () => {
      const browser = await signIn(await newPerson());
      const out = await browser.bearer.call('endMyBrowserSession');
      expect([out.status, out.headers.get('set-cookie')]).to.deep.equal([200, null]);
      expect(await works(browser)).to.equal(false);
    });

    it('end once when two tabs sign out at once', async () => {
      const browser = await signIn(await newPerson());
      const answers = await Promise.all(Array.from({ length: 4 }, () => browser.call('endMyBrowserSession')));
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 401, 401, 401]);
    });
  });

  it('and login codes are swept when nobody can need them: a code at its end, a session 30 days after its own', async () => {
    const own = await startTestServer(engine);
    try {
      const left = (table: string) => own.db.read(async (tx) => (await tx.query((db) => db(table).select('*'))).length);
      await own.dana.ok('createLoginCode');
      const ended = await signIn(own.dana);
      await ended.ok('endMyBrowserSession');
      const live = await signIn(own.dana);
      const tick = async (ms: number, codes: number, sessions: number) => {
        own.clock.advance(ms);
        await own.restart();
        await until(
          async () => (await left('login_codes')) === codes && (await left('browser_sessions')) === sessions,
          `${codes} codes and ${sessions} sessions are left`,
        );
      };
      await tick(50_000, 1, 2);
      await tick(10_000, 0, 2);
      await tick(30 * 86_400_000 - 70_000, 0, 2);
      expect((await own.dana.call('getMe')).status).to.equal(200);
      await tick(70_000, 0, 1);
      expect(await live.refused('getMe')).to.equal('401 unauthorized');
      await tick(30 * 86_400_000, 0, 0);
    } finally {
      await own.stop();
    }
  });
});
