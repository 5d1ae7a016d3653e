import { expect } from 'chai';
import type { Person } from '../../../src/contract/types.ts';
import type { RunningServer } from '../../../src/server/serve.ts';
import { Api } from '../../support/api.ts';
import { notesAbout } from '../../support/audit.ts';
import { newAgent, newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { endMember, newBrowser, putOnBoard, removePerson } from '../../support/state.ts';
import { TestStream } from '../../support/stream.ts';

interface Page {
  people: Person[];
  next_after: string | null;
}

const page = async (api: Api, query: Record<string, string | number> = {}): Promise<Page> =>
  (await api.ok('listPeople', { query })) as Page;

forEachDatabase('the people of a server', (engine) => {
  let server: TestServer;
  beforeEach(async () => {
    server = await startTestServer(engine);
  });
  afterEach(() => server.stop());

  const setRole = (by: Api, handle: string, server_role: string, key?: string) =>
    by.call('setPersonRole', { params: { handle }, body: { server_role }, key });
  const roleAnswer = async (by: Api, handle: string, server_role: string): Promise<string> => {
    const { status, code, body } = await setRole(by, handle, server_role);
    return code === undefined ? `${status} ${body.person.server_role} ${body.changed}` : `${status} ${code}`;
  };

  describe('in a list', () => {
    it('are all that are there, oldest first, page by page', async () => {
      for (const handle of ['ann', 'ben', 'cat', 'gus', 'dee']) {
        server.clock.advance(1);
        await server.person(handle, handle === 'gus' ? 'guest' : 'member');
      }
      const gone = await server.person('gone');
      await removePerson(server, gone);
      const all = await page(server.dana);
      const dana = await server.dana.ok('getMe');
      expect(all.people.map(({ handle }) => handle)).to.deep.equal([dana.name, 'ann', 'ben', 'cat', 'gus', 'dee']);
      expect(all.next_after).to.equal(null);
      expect(all.people[4]?.server_role).to.equal('guest');
      const first = await page(server.dana, { limit: 4 });
      expect(first.people).to.deep.equal(all.people.slice(0, 4));
      // A page begins where the last one ended, whoever comes or goes between them.
      server.clock.advance(1);
      await server.person('zoe');
      const rest = await page(server.dana, { limit: 4, after: first.next_after ?? '' });
      expect(rest.people.map(({ handle }) => handle)).to.deep.equal(['gus', 'dee', 'zoe']);
      expect(rest.next_after).to.equal(null);
      const bad: Record<string, string | number>[] = [{ limit: 0 }, { limit: 501 }];
      for (const query of [...bad, { after: 'nonsense' }, { after: 'x'.repeat(201) }]) {
        expect(await server.dana.refused('listPeople', { query })).to.equal('400 invalid_request');
      }
    });

    it('are shown to people, in a browser too, but neither to guests nor to agents', async () => {
      const mia = await server.person('mia');
      const gus = await server.person('gus', 'guest');
      const { name } = await newBoard(mia);
      expect((await page(await newBrowser(server, mia))).people).to.have.length(3);
      expect(await gus.refused('listPeople')).to.equal('403 guest_not_allowed');
      const agent = await newAgent(mia, name);
      // Said before anything about the request, as of every operation that is not for agents.
      for (const query of [{}, { limit: 'x' }]) {
        expect(await agent.refused('listPeople', { query: query as Record<string, string> })).to.equal(
          '403 human_token_required',
        );
      }
    });
  });

  describe('by handle', () => {
    it('are told with id, handle and display name only, to people and to agents with a seat', async () => {
      const mia = await server.person('mia');
      await mia.ok('updateMe', { body: { display_name: 'Mia' } });
      const { name } = await newBoard(server.dana);
      const agent = await newAgent(server.dana, name);
      const query = { handle: 'mia' };
      for (const reader of [server.dana, agent, await newBrowser(server, server.dana)]) {
        expect(await reader.ok('listPeople', { query })).to.deep.equal({
          id: mia.personId,
          handle: 'mia',
          display_name: 'Mia',
        });
      }
      await endMember(server, agent.memberId);
      expect(await agent.refused('listPeople', { query })).to.equal('403 agent_removed');
    });

    it('are found by the whole current handle; a guest and nobody look the same', async () => {
      const mia = await server.person('mia');
      const gus = await server.person('gus', 'guest');
      const { name } = await newBoard(server.dana);
      await putOnBoard(server, name, gus);
      const answers = [];
      for (const handle of ['gus', 'nobody', 'mi', 'mia-2']) {
        answers.push((await mia.call('listPeople', { query: { handle } })).text);
      }
      expect(new Set(answers).size).to.equal(1);
      expect(answers[0]).to.include('person_not_found');
      expect(await gus.refused('listPeople', { query: { handle: 'mia' } })).to.equal('403 guest_not_allowed');
      for (const query of [{ handle: 'Mia' }, { handle: 'mia', limit: 5 }, { handle: 'mia', after: 'x' }]) {
        expect(await mia.refused('listPeople', { query: query as never })).to.equal('400 invalid_request');
      }
    });
  });

  describe('as admins', () => {
    it('are made and unmade by admins; the same role changes nothing', async () => {
      const mia = await server.person('mia');
      const { id } = await server.dana.ok('getMe');
      expect(await roleAnswer(mia, 'mia', 'admin')).to.equal('403 server_admin_required');
      expect(await roleAnswer(server.dana, 'mia', 'admin')).to.equal('200 admin true');
      expect(await roleAnswer(server.dana, 'mia', 'admin')).to.equal('200 admin false');
      expect((await mia.ok('getMe')).server_role).to.equal('admin');
      expect(await roleAnswer(mia, 'mia', 'member')).to.equal('200 member true');
      expect(await roleAnswer(mia, 'mia', 'admin')).to.equal('403 server_admin_required');
      const notes = await notesAbout(server, mia.personId ?? '');
      expect(notes.map(({ action, actor_person_id, details }) => [action, actor_person_id, details])).to.deep.equal([
        ['person.role_changed', id, { before: 'member', after: 'admin' }],
        ['person.role_changed', mia.personId, { before: 'admin', after: 'member' }],
      ]);
    });

    it('are decided by their own key, the caller’s role first, then the target', async () => {
      const mia = await server.person('mia');
      const gus = await server.person('gus', 'guest');
      const { name } = await newBoard(server.dana);
      const agent = await newAgent(server.dana, name);
      const browser = await newBrowser(server, server.dana);
      for (const handle of ['mia', 'nobody', 'gus']) {
        for (const member of [mia, gus]) {
          expect(await roleAnswer(member, handle, 'member')).to.equal('403 server_admin_required');
        }
        for (const other of [agent, browser]) {
          expect(await roleAnswer(other, handle, 'member')).to.equal('403 human_token_required');
        }
      }
      expect(await roleAnswer(server.dana, 'nobody', 'admin')).to.equal('404 person_not_found');
      for (const role of ['admin', 'member']) {
        expect(await roleAnswer(server.dana, 'gus', role)).to.equal('409 person_is_guest');
      }
      expect(await roleAnswer(server.dana, 'mia', 'guest')).to.equal('400 invalid_request');
      expect(await roleAnswer(server.dana, 'Not A Handle', 'admin')).to.equal('400 invalid_request');
    });

    it('never end: the last one stays, also where another admin was removed', async () => {
      const dana = (await server.dana.ok('getMe')).name;
      expect(await roleAnswer(server.dana, dana, 'member')).to.equal('409 last_admin');
      const ada = await server.person('ada', 'admin');
      await removePerson(server, ada);
      expect(await roleAnswer(server.dana, dana, 'member')).to.equal('409 last_admin');
      await server.person('eva', 'admin');
      expect(await roleAnswer(server.dana, dana, 'member')).to.equal('200 member true');
    });

    it('warn who goes as the last one with a working key', async () => {
      const dana = (await server.dana.ok('getMe')).name;
      await server.person('eva', 'admin', { expiresIn: 60 });
      const role = { params: { handle: dana }, body: { server_role: 'member' } } as const;
      const removal = { params: { handle: dana }, query: { dry_run: true } } as const;
      expect(await server.dana.ok('removePerson', removal)).not.to.have.property('warning');
      server.clock.advance(61_000);
      expect((await server.dana.ok('removePerson', removal)).warning).to.include('service server recover-key eva');
      expect((await server.dana.ok('setPersonRole', role)).warning).to.include('service server recover-key eva');
    });

    it('warn likewise who allows an agent to do it', async () => {
      await server.person('eva', 'admin', { expiresIn: 60 });
      server.clock.advance(61_000);
      const warningOf = async (handle: string, action: (person: Api) => Promise<object>) => {
        const person = await server.person(handle, 'admin');
        const agent = await newAgent(person, (await newBoard(person)).name);
        const { approval } = await agent.ok('requestAdminAction', { body: await action(person) });
        const answer = await person.ok('allowApproval', { params: { approval: approval.id }, body: {} });
        expect(answer.state).to.equal('executed');
        return answer.warning;
      };
      const own = async (person: Api) => ({ kind: 'revoke_key', key_id: (await person.ok('listKeys')).current_key_id });
      expect(await warningOf('ida', own)).to.equal(undefined);
      await setRole(server.dana, (await server.dana.ok('getMe')).name, 'member');
      const about = (action: object) => async (person: Api) => ({ ...action, person_id: person.personId });
      const actions = [own, about({ kind: 'set_server_role', role: 'member' }), about({ kind: 'remove_person' })];
      for (const [n, action] of actions.entries())
        expect(await warningOf(`ida-${n}`, action)).to.include('service server recover-key eva');
    });

    it('keep one when the only two unmake each other at once', async () => {
      const dana = (await server.dana.ok('getMe')).name;
      for (let round = 0; round < 5; round++) {
        const handle = `ada-${round}`;
        const ada = await server.person(handle, 'admin');
        await expectOneLeft(
          roleAnswer(server.dana, handle, 'member'),
          roleAnswer(ada, dana, 'member'),
          async () => (await page(server.dana)).people,
        );
        // Whoever is left makes the other one admin again, and goes.
        await roleAnswer(ada, dana, 'admin');
        await roleAnswer(server.dana, handle, 'member');
      }
    });

    it('keep one when each unmakes themselves at once', async () => {
      const dana = (await server.dana.ok('getMe')).name;
      const ada = await server.person('ada', 'admin');
      const answers = await Promise.all([roleAnswer(server.dana, dana, 'member'), roleAnswer(ada, 'ada', 'member')]);
      expect(answers.sort()).to.deep.equal(['200 member true', '409 last_admin']);
    });

    it('are told by a hint that their boards are worth another look', async () => {
      const mia = await server.person('mia');
      const stream = await TestStream.open(mia);
      await stream.frame(({ event }) => event === 'ready');
      await setRole(server.dana, 'mia', 'admin');
      await stream.frame(({ event }) => event === 'boards');
      stream.close();
    });

    it('are not told a kept answer once they are admin no more, or the person is gone', async () => {
      const ada = await server.person('ada', 'admin');
      const mia = await server.person('mia');
      const made = await setRole(ada, 'mia', 'admin', 'key 1');
      expect((await setRole(ada, 'mia', 'admin', 'key 1')).text).to.equal(made.text);
      expect((await setRole(ada, 'nobody', 'admin', 'key 2')).status).to.equal(404);
      expect((await setRole(ada, 'nobody', 'admin', 'key 2')).replayed).to.equal(true);
      await removePerson(server, mia);
      expect((await setRole(ada, 'mia', 'admin', 'key 1')).code).to.equal('person_not_found');
      await setRole(server.dana, 'ada', 'member');
      for (const [handle, key] of [
        ['mia', 'key 1'],
        ['nobody', 'key 2'],
      ] as const) {
        expect((await setRole(ada, handle, 'admin', key)).code).to.equal('server_admin_required');
      }
    });
  });

  if (engine === 'postgres') {
    it('keep an admin when the only two unmake each other at once over two servers', async () => {
      const dana = (await server.dana.ok('getMe')).name;
      const twin: RunningServer = await startTwin(server);
      for (let round = 0; round < 5; round++) {
        const handle = `ada-${round}`;
        const ada = new Api(twin.url, (await server.person(handle, 'admin')).token);
        await expectOneLeft(
          roleAnswer(server.dana, handle, 'member'),
          roleAnswer(ada, dana, 'member'),
          async () => (await page(server.dana)).people,
        );
        await roleAnswer(ada, dana, 'admin');
        await roleAnswer(server.dana, handle, 'member');
      }
      await twin.close();
    });
  }
});

/** One unmakes the other, who is then no admin any more; how the loser hears of it depends on who was first. */
async function expectOneLeft(
  one: Promise<string>,
  other: Promise<string>,
  people: () => Promise<Person[]>,
): Promise<void> {
  const answers = (await Promise.all([one, other])).sort();
  expect(answers[0]).to.equal('200 member true');
  expect(answers[1]).to.be.oneOf(['403 server_admin_required', '409 last_admin']);
  expect((await people()).filter(({ server_role }) => server_role === 'admin')).to.have.length(1);
}
