import { expect } from 'chai';
import type { Api } from '../../support/api.ts';
import { notesAbout } from '../../support/audit.ts';
import { newAgent, newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { newBrowser } from '../../support/state.ts';

forEachDatabase("the server's settings", (engine) => {
  let server: TestServer;
  beforeEach(async () => {
    server = await startTestServer(engine);
  });
  afterEach(() => server.stop());

  const set = (body: Record<string, unknown>) => server.dana.ok('updateSettings', { body });

  it('begin with boards for every member and agents that may add people, and change one by one', async () => {
    expect(await server.dana.ok('getSettings')).to.deep.equal({ board_creation: 'members', agents_add_people: true });
    expect(await set({ agents_add_people: false })).to.deep.equal({
      board_creation: 'members',
      agents_add_people: false,
    });
    expect(await set({ board_creation: 'admins' })).to.deep.equal({
      board_creation: 'admins',
      agents_add_people: false,
    });
    await server.restart();
    expect(await server.dana.ok('getSettings')).to.deep.equal({ board_creation: 'admins', agents_add_people: false });
    expect(await set({ board_creation: 'members', agents_add_people: true })).to.deep.equal({
      board_creation: 'members',
      agents_add_people: true,
    });
    for (const body of [{}, { board_creation: 'nobody' }, { agents_add_people: 'true' }, { other: 1 }]) {
      expect(await server.dana.refused('updateSettings', { body })).to.equal('400 invalid_request');
    }
  });

  it('are read by every person, and changed by admins with their own key', async () => {
    const [mia, gus] = [await server.person('mia'), await server.person('gus', 'guest')];
    const agent = await newAgent(server.dana, (await newBoard(server.dana)).name);
    const browser = await newBrowser(server, server.dana);
    for (const reader of [mia, gus, browser]) await reader.ok('getSettings');
    expect(await agent.refused('getSettings')).to.equal('403 human_token_required');
    const body = { board_creation: 'admins' };
    for (const member of [mia, gus]) {
      expect(await member.refused('updateSettings', { body })).to.equal('403 server_admin_required');
    }
    for (const other of [agent, browser]) {
      expect(await other.refused('updateSettings', { body })).to.equal('403 human_token_required');
    }
    expect((await mia.ok('getSettings')).board_creation).to.equal('members');
  });

  it('decide at once who creates boards, and take none away', async () => {
    const mia = await server.person('mia');
    const gus = await server.person('gus', 'guest');
    const create = (by: Api) => by.call('createBoard', { body: {} }).then(({ status, code }) => code ?? String(status));
    const kept = await newBoard(mia);
    const call = { body: { name: 'kept-answer' }, key: 'kept' };
    await mia.ok('createBoard', call);
    await set({ board_creation: 'admins' });
    expect(await create(mia)).to.equal('board_creation_restricted');
    expect(await create(await newBrowser(server, mia))).to.equal('board_creation_restricted');
    expect(await create(gus)).to.equal('guest_not_allowed');
    expect(await create(server.dana)).to.equal('201');
    expect(await create(await newBrowser(server, server.dana))).to.equal('201');
    await mia.ok('postMessage', { params: { board: kept.name }, body: { body: 'still mine' } });
    // What was created before is told again; a refusal is not kept.
    expect((await mia.call('createBoard', call)).replayed).to.equal(true);
    expect(await mia.refused('createBoard', { body: {}, key: 'later' })).to.equal('403 board_creation_restricted');
    await set({ board_creation: 'members' });
    expect((await mia.call('createBoard', { body: {}, key: 'later' })).status).to.equal(201);
    expect(await create(gus)).to.equal('guest_not_allowed');
  });

  it('are noted for the operator when they change', async () => {
    await set({ board_creation: 'admins' });
    await set({ board_creation: 'admins' });
    await set({ board_creation: 'members', agents_add_people: false });
    const notes = await notesAbout(server, null);
    expect(notes.map(({ action, details }) => ({ action, details }))).to.deep.equal([
      { action: 'settings.changed', details: { board_creation: { before: 'members', after: 'admins' } } },
      {
        action: 'settings.changed',
        details: {
          board_creation: { before: 'admins', after: 'members' },
          agents_add_people: { before: true, after: false },
        },
      },
    ]);
    expect(notes[0]?.actor_person_id).to.equal((await server.dana.ok('getMe')).id);
    expect(notes[0]?.request_id).to.match(/^req_/);
  });

  it('are set once by two requests with one key, and not told again to somebody who is no admin any more', async () => {
    const ada = await server.person('ada', 'admin');
    const call = { body: { board_creation: 'admins' }, key: 'once' };
    const answers = await Promise.all([ada.call('updateSettings', call), ada.call('updateSettings', call)]);
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
    expect(answers.filter(({ replayed }) => replayed)).to.have.length(1);
    await server.dana.ok('setPersonRole', { params: { handle: 'ada' }, body: { server_role: 'member' } });
    expect(await ada.refused('updateSettings', call)).to.equal('403 server_admin_required');
  });
});
