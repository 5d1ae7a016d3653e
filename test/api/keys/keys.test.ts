import { expect } from 'chai';
import { Api } from '../../support/api.ts';
import { notesAbout } from '../../support/audit.ts';
import { newAgent, newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { newBrowser, newDelegation } from '../../support/state.ts';
import { connect, invite, setInvite } from '../invites/cast.ts';

const HOUR = 3_600_000;

forEachDatabase('access keys', (engine) => {
  let server: TestServer;
  let people = 0;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const newPerson = async (role: 'admin' | 'member' | 'guest' = 'member') => {
    const handle = `person-${++people}`;
    return Object.assign(await server.person(handle, role), { handle });
  };
  const make = (by: Api, name: string, more: Record<string, unknown> = {}) => {
    // No two in one millisecond, so that a list has one order.
    server.clock.advance(1);
    return by.ok('createKey', { body: { name, ...more } });
  };
  const revoke = (by: Api, key: string, query = {}) => by.call('revokeKey', { params: { key }, query });
  const own = async (of: Api) => (await of.ok('listKeys')).current_key_id;

  describe('in a list', () => {
    it('are a person’s, oldest first, ended ones too, with what hangs on each', async () => {
      const pam = await newPerson();
      const board = await newBoard(pam);
      await newAgent(pam, board.name);
      await newDelegation(server, pam);
      await newBrowser(server, pam);
      const [short, old] = [await make(pam, 'short', { ttl_seconds: 3_600 }), await make(pam, 'old')];
      await revoke(pam, old.id);
      server.clock.advance(HOUR + 1_000);
      const answer = await pam.ok('listKeys');
      expect(answer.person).to.include({ id: pam.personId, handle: pam.handle });
      expect(answer.next_after).to.equal(null);
      expect(answer.keys.map(({ name, state }) => `${name} ${state}`)).to.deep.equal([
        'laptop working',
        'short expired',
        'old revoked',
      ]);
      expect(answer.keys[0]).to.include({
        id: answer.current_key_id,
        browser_sessions: 1,
        agent_seats: 1,
        delegations: 1,
        server_invites: 0,
        expires_at: null,
        parent_key_id: null,
      });
      expect(answer.keys[1]).to.include({ id: short.id, origin: 'created', parent_key_id: answer.current_key_id });
      const working = await pam.ok('listKeys', { query: { state: 'working' } });
      expect(working.keys.map(({ name }) => name)).to.deep.equal(['laptop']);
      expect(JSON.stringify(answer)).not.to.include('abh_');
    });

    it('come page by page', async () => {
      const pam = await newPerson();
      for (const name of ['a', 'b', 'c', 'd']) await make(pam, name);
      const names: string[] = [];
      let after: string | null = null;
      do {
        const page: Awaited<ReturnType<typeof pam.ok<'listKeys'>>> = await pam.ok('listKeys', {
          query: { limit: 2, ...(after === null ? {} : { after }) },
        });
        names.push(...page.keys.map(({ name }) => name));
        after = page.next_after;
      } while (after !== null);
      expect(names).to.deep.equal(['laptop', 'a', 'b', 'c', 'd']);
      for (const query of [{ after: 'x' }, { limit: 0 }, { state: 'revoked' }, { person: 'No Handle' }]) {
        expect(await pam.refused('listKeys', { query: query as never })).to.equal('400 invalid_request');
      }
    });

    it('tell when the key of the request was used before', async () => {
      const pam = await newPerson();
      expect((await pam.ok('listKeys')).current_key_previous_use).to.equal(null);
      const first = (await pam.ok('listKeys')).current_key_previous_use;
      expect(first).to.match(/Z$/);
      server.clock.advance(HOUR);
      expect((await pam.ok('listKeys')).current_key_previous_use).to.equal(first);
      expect((await pam.ok('listKeys')).current_key_previous_use).not.to.equal(first);
    });

    it('of somebody else are for admins', async () => {
      const [pam, tom, gus] = [await newPerson(), await newPerson(), await newPerson('guest')];
      const of = (by: Api, handle: string) => by.call('listKeys', { query: { person: handle } });
      expect((await of(pam, pam.handle)).body.person.id).to.equal(pam.personId);
      const { body } = await of(server.dana, pam.handle);
      expect(body.person.id).to.equal(pam.personId);
      expect(body.keys.map(({ name }) => name)).to.deep.equal(['laptop']);
      expect(body.current_key_id).to.equal(await own(server.dana));
      for (const handle of [pam.handle, 'nobody']) {
        expect((await of(tom, handle)).code).to.equal('server_admin_required');
        expect((await of(gus, handle)).code).to.equal('guest_not_allowed');
      }
      expect((await of(server.dana, 'nobody')).code).to.equal('person_not_found');
    });
  });

  describe('when made', () => {
    it('work at once for 90 days or as long as asked, and show their token once', async () => {
      const pam = await newPerson();
      const made = await make(pam, 'spare');
      expect(made).to.include({ name: 'spare', state: 'working', idle_expiry_seconds: null, last_used_at: null });
      expect(Date.parse(made.expires_at ?? '') - Date.parse(made.created_at)).to.equal(7_776_000_000);
      const spare = new Api(server.url, made.token);
      expect((await spare.ok('getMe')).id).to.equal(pam.personId);
      const child = await make(spare, 'child', { ttl_seconds: 3_600 });
      expect(child.parent_key_id).to.equal(made.id);
      // Its use does not move a fixed end.
      server.clock.advance(HOUR - 1_000);
      await new Api(server.url, child.token).ok('getMe');
      server.clock.advance(1_000);
      expect(await new Api(server.url, child.token).refused('getMe')).to.equal('401 unauthorized');
      const notes = await notesAbout(server, made.id);
      expect(notes).to.have.length(1);
      expect(notes[0]).to.deep.include({
        action: 'key.created',
        actor_person_id: pam.personId,
        details: { name: 'spare' },
      });
      expect(notes[0]?.actor_key_id).to.equal(await own(pam));
      const stored = await server.db.read((tx) => tx.query((db) => db('access_keys').where('id', made.id).select('*')));
      expect(JSON.stringify([stored, server.log])).not.to.include(made.token);
    });

    it('are two with two calls under one key of the client, because a secret is not kept', async () => {
      const pam = await newPerson();
      const call = { body: { name: 'one' }, key: 'same' };
      await pam.ok('createKey', call);
      expect(await pam.refused('createKey', call)).to.equal('409 key_name_taken');
    });

    it('take a name of the pattern and an age of an hour to a year', async () => {
      const pam = await newPerson();
      for (const body of [
        {},
        ...['', 'A', 'a_b', '-a', 'a-', 'a--b', 'x'.repeat(41)].map((name) => ({ name })),
        ...[3_599, 31_536_001, 3_600.5, '3600'].map((ttl_seconds) => ({ name: 'a', ttl_seconds })),
        { name: 'a', person: 'other' },
      ]) {
        expect(await pam.refused('createKey', { body }), JSON.stringify(body)).to.equal('400 invalid_request');
      }
      await make(pam, 'x'.repeat(40), { ttl_seconds: 31_536_000 });
    });

    it('have a name of their own among the person’s working keys, not among ended ones or others’', async () => {
      const [pam, tom] = [await newPerson(), await newPerson()];
      const { id } = await make(pam, 'ci', { ttl_seconds: 3_600 });
      expect(await pam.refused('createKey', { body: { name: 'ci' } })).to.equal('409 key_name_taken');
      await make(tom, 'ci');
      await revoke(pam, id);
      await make(pam, 'ci', { ttl_seconds: 3_600 });
      server.clock.advance(HOUR);
      await make(pam, 'ci');
    });

    it('with one name 12 times at once are one key', async () => {
      const pam = await newPerson();
      const answers = await Promise.all(
        Array.from({ length: 12 }, () => pam.call('createKey', { body: { name: 'only' } })),
      );
      expect(answers.filter(({ status }) => status === 201)).to.have.length(1);
      expect(answers.filter(({ code }) => code === 'key_name_taken')).to.have.length(11);
    });

    it('are at most 100 that work, also when many are made at once', async () => {
      const pam = await newPerson();
      const { id } = await make(pam, 'first');
      await server.db.write(async (tx) => {
        const [row] = await tx.query<Record<string, unknown>>((db) => db('access_keys').where('id', id).select('*'));
        const rows = Array.from({ length: 95 }, (_unused, index) => ({
          ...row,
          id: `${id.slice(0, -2)}${String(index).padStart(2, '0')}`,
          name: `key-${index}`,
          digest: server.root.digest(`key ${people} ${index}`),
        })).filter((other) => other.id !== id);
        await tx.change((db) => db('access_keys').insert(rows));
      });
      const { keys } = await pam.ok('listKeys');
      const free = 100 - keys.length;
      const answers = await Promise.all(
        Array.from({ length: free + 3 }, (_unused, index) =>
          pam.call('createKey', { body: { name: `more-${index}` } }),
        ),
      );
      expect(answers.filter(({ status }) => status === 201)).to.have.length(free);
      const refused = answers.filter(({ code }) => code === 'limit_reached');
      expect(refused).to.have.length(3);
      expect(refused[0]?.text).to.include('"details":{"what":"working keys","limit":100}');
      await revoke(pam, id);
      await make(pam, 'one-more');
    });

    it('listed or revoked are not for guests, agents, browsers and delegations', async () => {
      const [pam, gus] = [await newPerson(), await newPerson('guest')];
      const board = await newBoard(pam);
      const key = await own(pam);
      const calls = [
        ['listKeys', {}],
        ['createKey', { body: { name: 'x' } }],
        ['revokeKey', { params: { key } }],
      ] as const;
      for (const [name, call] of calls) {
        expect(await gus.refused(name, call)).to.equal('403 guest_not_allowed');
        for (const other of [
          await newAgent(pam, board.name),
          await newBrowser(server, pam),
          await newDelegation(server, pam),
        ]) {
          expect(await other.refused(name, call)).to.equal('403 human_token_required');
        }
      }
      await pam.ok('getMe');
    });
  });

  describe('when revoked', () => {
    it('end by their person or by an admin; everybody else finds no such key', async () => {
      const [pam, tom] = [await newPerson(), await newPerson()];
      const [one, two] = [await make(pam, 'one'), await make(pam, 'two')];
      const missing = await revoke(tom, 'key_01K5A0000000000000000000K1');
      expect([missing.status, missing.code]).to.deep.equal([404, 'key_not_found']);
      expect((await revoke(tom, one.id)).text).to.equal(missing.text);
      expect((await revoke(pam, 'not-a-key')).code).to.equal('invalid_request');
      const { body: ended } = await revoke(pam, one.id);
      expect(ended).to.include({ id: one.id, state: 'revoked' });
      expect(ended.revoked_at).to.match(/Z$/);
      expect((await revoke(server.dana, two.id)).body.state).to.equal('revoked');
      for (const { token } of [one, two]) {
        expect(await new Api(server.url, token).refused('getMe')).to.equal('401 unauthorized');
      }
      const again = await revoke(pam, one.id);
      expect(again.body).to.deep.equal(ended);
      const notes = await notesAbout(server, one.id);
      expect(notes.map(({ action }) => action)).to.deep.equal(['key.created', 'key.revoked']);
      expect((await notesAbout(server, two.id))[1]?.actor_person_id).to.equal((await server.dana.ok('getMe')).id);
    });

    it('still get the answer to their own end, and no other', async () => {
      const pam = await newPerson();
      const id = await own(pam);
      const call = { params: { key: id }, key: 'own' };
      const answer = await pam.call('revokeKey', call);
      expect([answer.status, answer.body.state]).to.deep.equal([200, 'revoked']);
      expect(await pam.refused('revokeKey', call)).to.equal('401 unauthorized');
      expect(await pam.refused('getMe')).to.equal('401 unauthorized');
    });

    it('have nothing working any more, but their agents stay on their boards', async () => {
      const pam = await newPerson();
      const spare = new Api(server.url, (await make(pam, 'spare')).token);
      const board = await newBoard(spare);
      await newAgent(spare, board.name);
      await newDelegation(server, spare);
      await newBrowser(server, spare);
      const { body } = await revoke(pam, await own(spare));
      expect(body).to.include({ browser_sessions: 0, delegations: 0, agent_seats: 1 });
    });

    it('keep the invites made with them unless asked otherwise', async () => {
      const ada = await newPerson('admin');
      for (const also of [false, true]) {
        const { id, token } = await make(ada, `key-${also}`);
        const spare = new Api(server.url, token);
        const [unused, used, old] = [await invite(spare), await invite(spare), await invite(spare)];
        await connect(server, { invite: used.invite, handle: `newcomer-${also}` });
        await setInvite(server, old, { expires_at: server.clock.now() - 1 });
        const states = () =>
          Promise.all(
            [unused, used, old].map(async (one) => (await ada.ok('getInvite', { params: { invite: one.id } })).state),
          );
        const { body } = await revoke(ada, id, { revoke_invites: also });
        expect(body.server_invites).to.equal(also ? 0 : 1);
        expect(await states()).to.deep.equal([also ? 'revoked' : 'active', 'redeemed', 'expired']);
        // Also later, when somebody finds that they should end too.
        expect((await revoke(ada, id, { revoke_invites: true })).body.server_invites).to.equal(0);
        expect((await states())[0]).to.equal('revoked');
        const notes = await notesAbout(server, unused.id);
        expect(notes.at(-1)).to.deep.include({ action: 'invite.revoked', details: { with_key: id } });
      }
      expect((await revoke(ada, await own(ada), { revoke_invites: 'yes' })).code).to.equal('invalid_request');
    });

    it('are told again to their person and to admins only', async () => {
      const [ada, pam] = [await newPerson('admin'), await newPerson()];
      const { id } = await make(pam, 'spare');
      const call = { params: { key: id }, key: 'key 1' };
      const first = await ada.call('revokeKey', call);
      expect(await ada.call('revokeKey', call)).to.include({ text: first.text, replayed: true });
      const missing = { params: { key: 'key_01K5A0000000000000000000K1' }, key: 'key 2' };
      await ada.call('revokeKey', missing);
      expect((await ada.call('revokeKey', missing)).replayed).to.equal(true);
      await server.dana.ok('setPersonRole', { params: { handle: ada.handle }, body: { server_role: 'member' } });
      expect(await ada.refused('revokeKey', call)).to.equal('404 key_not_found');
    });

    it('warn when no admin can come in any more; a local server lets its owner in again', async () => {
      const alone = await startTestServer(engine);
      const spare = await alone.dana.ok('createKey', { body: { name: 'spare' } });
      const ends = async (key: string) =>
        (await alone.dana.ok('revokeKey', { params: { key } })) as { warning?: string; state: string };
      expect(await ends(spare.id)).not.to.have.property('warning');
      const eva = await alone.person('eva', 'admin');
      const evas = (await eva.ok('listKeys')).current_key_id;
      expect(await ends(evas)).not.to.have.property('warning');
      const local = (await alone.dana.ok('listKeys')).current_key_id;
      expect((await ends(local)).warning).to.include('service server recover-key');
      expect(await alone.dana.refused('getMe')).to.equal('401 unauthorized');
      await alone.restart();
      const { readFileSync } = await import('node:fs');
      const again = new Api(alone.url, readFileSync(`${alone.dataDir}/local-key`, 'utf8').trim());
      expect((await again.ok('getMe')).server_role).to.equal('admin');
      const { keys } = await again.ok('listKeys');
      expect(keys.map(({ origin, state }) => `${origin} ${state}`)).to.deep.equal([
        'local revoked',
        'created revoked',
        'local working',
      ]);
      await alone.stop();
    });

    it('by each other at once leave one of the two working', async () => {
      for (let round = 0; round < 4; round++) {
        const [ada, eva] = [await newPerson('admin'), await newPerson('admin')];
        const [adas, evas] = [await own(ada), await own(eva)];
        const answers = await Promise.all([revoke(ada, evas), revoke(eva, adas)]);
        expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 401]);
      }
    });
  });

  if (engine === 'postgres') {
    it('revoked by each other at once over two servers leave one of the two working', async () => {
      const twin = await startTwin(server);
      for (let round = 0; round < 4; round++) {
        const [ada, eva] = [await newPerson('admin'), await newPerson('admin')];
        const [adas, evas] = [await own(ada), await own(eva)];
        const answers = await Promise.all([revoke(ada, evas), revoke(new Api(twin.url, eva.token), adas)]);
        expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 401]);
      }
      await twin.close();
    });
  }
});
