import { expect } from 'chai';
import { Api } from '../../support/api.ts';
import { notesAbout } from '../../support/audit.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { changeBoard, endMember, memberIdOf, newBrowser, putOnBoard, removePerson } from '../../support/state.ts';
import { TestStream } from '../../support/stream.ts';
import { connect, invite } from '../invites/cast.ts';

forEachDatabase('a new handle', (engine) => {
  let server: TestServer;
  let people = 0;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  /** Somebody with a handle of their own, and another handle that nobody has. */
  const newPerson = async (role: 'admin' | 'member' | 'guest' = 'member') => {
    const handle = `person-${++people}`;
    return Object.assign(await server.person(handle, role), { handle, free: `free-${people}` });
  };
  const rename = (by: Api, from: string, to: string, key?: string) =>
    by.call('renamePerson', { params: { handle: from }, body: { handle: to }, key });
  const renamed = async (by: Api, from: string, to: string): Promise<string> => {
    const { status, code, body } = await rename(by, from, to);
    return code === undefined ? `${status} ${body.person.handle} ${body.changed}` : `${status} ${code}`;
  };
  const events = async (board: string, type = 'person.renamed') =>
    (await server.dana.ok('listEvents', { params: { board }, query: { type, limit: 200 } })).events;

  it('is shown at once wherever the person is: boards, agents, messages; their ids and credentials stay', async () => {
    const pam = await newPerson();
    const board = await newBoard(server.dana);
    const memberId = await putOnBoard(server, board.name, pam);
    const agent = await newAgent(pam, board.name);
    const { id } = await pam.ok('getMe');
    const message = await post(pam, board.name, `by @${pam.handle}`);
    await post(server.dana, board.name, 'to you', { to: [`@${pam.handle}`], expects_reply: true });
    const { read_up_to } = await pam.ok('getBoard', { params: { board: board.name } });

    expect(await renamed(pam, pam.handle, pam.free)).to.equal(`200 ${pam.free} true`);
    expect(await pam.ok('getMe')).to.include({ id, name: pam.free });
    expect(await agent.ok('getMe')).to.include({ id: agent.memberId, name: agent.name, owner: pam.free });
    const { people: there } = await server.dana.ok('listBoardPeople', { params: { board: board.name } });
    expect(there.find((person) => person.id === id)).to.include({
      handle: pam.free,
      name: pam.free,
      member_id: memberId,
    });
    const now = await pam.ok('getBoard', { params: { board: board.name } });
    expect(now).to.include({ read_up_to, needs_reply: 1 });
    const { message: shown } = await server.dana.ok('getMessage', { params: { message: message.id } });
    expect(shown.from).to.include({ id: memberId, name: pam.free });
    // What was written stays as it was written.
    expect(shown.body).to.equal(`by @${pam.handle}`);
    expect(
      await pam.refused('postMessage', { params: { board: board.name }, body: { body: 'x', to: [`@${pam.handle}`] } }),
    ).to.equal('422 unknown_recipient');
    await post(server.dana, board.name, 'hello again', { to: [`@${pam.free}`, `owner:${pam.free}`] });
    const posted = (await events(board.name, 'message.posted'))[0];
    expect(posted?.actor.name).to.equal(pam.handle);
  });

  it('is an event on every board the person is or was on, archived ones too, but not on deleted ones', async () => {
    const pam = await newPerson();
    const names: Record<string, string> = {};
    for (const kind of ['on', 'left', 'archived', 'deleted', 'private']) {
      const board = await newBoard(server.dana, kind === 'private' ? { visibility: 'private' } : {});
      names[kind] = board.name;
      await putOnBoard(server, board.name, pam);
    }
    const never = await newBoard(server.dana);
    const left = await memberIdOf(server, names['left'] ?? '', pam);
    await endMember(server, left, 'left');
    await changeBoard(server, names['archived'] ?? '', { lifecycle: 'archived' });
    await changeBoard(server, names['deleted'] ?? '', { lifecycle: 'deleted' });
    await rename(pam, pam.handle, pam.free);
    for (const kind of ['on', 'left', 'archived', 'private']) {
      const [event, ...more] = await events(names[kind] ?? '');
      expect(more).to.deep.equal([]);
      const memberId = kind === 'left' ? left : await memberIdOf(server, names[kind] ?? '', pam);
      expect(event?.data).to.deep.equal({
        person_id: pam.personId,
        member_id: memberId,
        before: pam.handle,
        after: pam.free,
      });
      expect(event?.actor).to.deep.equal(
        kind === 'left'
          ? { kind: 'human', member_id: null, name: pam.handle, owner: null }
          : { kind: 'human', member_id: memberId, name: pam.handle, owner: null },
      );
    }
    expect(await events(never.name)).to.deep.equal([]);
    const rows = await server.db.read((tx) =>
      tx.query<{ name: string }>((db) =>
        db({ m: 'members' })
          .join({ b: 'boards' }, 'b.id', 'm.board_id')
          .where({ 'm.person_id': pam.personId, 'b.lifecycle': 'deleted' })
          .select('m.name'),
      ),
    );
    expect(rows).to.deep.equal([{ name: pam.handle }]);
  });

  it('given by an admin names the admin as who did it, without a member where they are not on the board', async () => {
    const pam = await newPerson();
    const own = await newBoard(pam, { visibility: 'private' });
    const shared = await newBoard(server.dana);
    await putOnBoard(server, shared.name, pam);
    const me = await server.dana.ok('getMe');
    expect(await renamed(server.dana, pam.handle, pam.free)).to.equal(`200 ${pam.free} true`);
    const { events: seen } = await pam.ok('listEvents', {
      params: { board: own.name },
      query: { type: 'person.renamed' },
    });
    expect(seen[0]?.actor).to.deep.equal({ kind: 'human', member_id: null, name: me.name, owner: null });
    expect((await events(shared.name))[0]?.actor).to.deep.equal({
      kind: 'human',
      member_id: await memberIdOf(server, shared.name, server.dana),
      name: me.name,
      owner: null,
    });
    const notes = await notesAbout(server, pam.personId ?? '');
    expect(notes.map(({ action, details }) => [action, details])).to.deep.equal([
      ['person.renamed', { before: pam.handle, after: pam.free }],
    ]);
    expect(notes[0]?.actor_person_id).to.equal(me.id);
  });

  it('reaches watchers of a board of the person, as an event', async () => {
    const pam = await newPerson();
    const board = await newBoard(server.dana);
    await putOnBoard(server, board.name, pam);
    const stream = await TestStream.open(server.dana, { board: board.name });
    await stream.frame(({ event }) => event === 'ready');
    await rename(pam, pam.handle, pam.free);
    const frame = await stream.frame(({ event }) => event === 'event');
    expect(frame.data).to.deep.include({ type: 'person.renamed' });
    stream.close();
  });

  it('leaves the old one to the person for good: nobody else gets it, they may have it back', async () => {
    const [pam, tom] = [await newPerson(), await newPerson()];
    await rename(pam, pam.handle, pam.free);
    expect(await renamed(tom, tom.handle, pam.handle)).to.equal('409 handle_taken');
    expect(await renamed(server.dana, tom.handle, pam.handle)).to.equal('409 handle_taken');
    expect(await tom.refused('listPeople', { query: { handle: pam.handle } })).to.equal('404 person_not_found');
    expect(await renamed(server.dana, pam.handle, 'other')).to.equal('404 person_not_found');
    expect(await renamed(pam, pam.free, pam.handle)).to.equal(`200 ${pam.handle} true`);
    expect(await renamed(tom, tom.handle, pam.free)).to.equal('409 handle_taken');
    expect(await renamed(pam, pam.handle, pam.free)).to.equal(`200 ${pam.free} true`);
    await removePerson(server, pam);
    for (const handle of [pam.handle, pam.free]) {
      expect(await renamed(tom, tom.handle, handle), handle).to.equal('409 handle_taken');
    }
  });

  it('leaves the old one out of reach of agents on the boards the person is or was on', async () => {
    const pam = await newPerson();
    const old = pam.handle;
    const { name: board } = await newBoard(server.dana);
    const { name: elsewhere } = await newBoard(server.dana);
    const { name: left } = await newBoard(server.dana);
    await putOnBoard(server, board, pam);
    await endMember(server, await putOnBoard(server, left, pam), 'left');
    expect(await renamed(pam, old, pam.free)).to.equal(`200 ${pam.free} true`);
    const join = (on: string, named: Record<string, string>) =>
      server.dana.call('joinBoard', { body: { board: on, role: 'member', ...named } });
    for (const on of [board, left]) {
      expect((await join(on, { name: old })).code).to.equal('name_taken');
      expect((await join(on, { harness: old })).body.agent.name).to.equal(`${old}-2`);
    }
    expect((await join(elsewhere, { name: old })).body.agent.name).to.equal(old);
    expect(await renamed(pam, pam.free, old)).to.equal(`200 ${old} true`);
  });

  it('leaves the name that the person had on a board beside an agent of that name out of reach too', async () => {
    const [pam, tom] = [await newPerson(), await newPerson()];
    const { name: board } = await newBoard(server.dana);
    await newAgent(server.dana, board, { name: pam.handle });
    await server.dana.ok('addBoardPerson', { params: { board }, body: { handle: pam.handle } });
    const old = `${pam.handle}-2`;
    await post(server.dana, board, 'to you', { to: [`@${old}`] });
    expect(await renamed(pam, pam.handle, pam.free)).to.equal(`200 ${pam.free} true`);
    const join = { body: { board, role: 'member', name: old } };
    expect(await server.dana.refused('joinBoard', join)).to.equal('409 name_taken');
    expect(await renamed(tom, tom.handle, old)).to.equal('409 handle_taken');
  });

  it('leaves the old one out of reach of newcomers too, also once the person is gone', async () => {
    const [pam, ada] = [await newPerson(), await newPerson('admin')];
    await rename(pam, pam.handle, pam.free);
    const { invite: link } = await invite(ada);
    for (const end of [async () => {}, () => removePerson(server, pam)]) {
      await end();
      for (const handle of [pam.handle, pam.free]) {
        expect((await connect(server, { invite: link, handle })).code, handle).to.equal('handle_taken');
      }
    }
  });

  it('is refused while somebody has it, on the server or as a name on one of their boards', async () => {
    const pam = await newPerson();
    const there = await newBoard(server.dana, { visibility: 'private' });
    const before = await newBoard(server.dana);
    const gone = await newBoard(server.dana);
    const elsewhere = await newBoard(server.dana);
    for (const board of [there, before, gone]) await putOnBoard(server, board.name, pam);
    await endMember(server, await memberIdOf(server, before.name, pam), 'left');
    await newAgent(server.dana, there.name, { name: `agent-${people}` });
    await newAgent(server.dana, before.name, { name: `former-${people}` });
    await newAgent(pam, there.name, { name: `own-${people}` });
    await newAgent(server.dana, gone.name, { name: `gone-${people}` });
    await newAgent(server.dana, elsewhere.name, { name: `elsewhere-${people}` });
    await changeBoard(server, gone.name, { lifecycle: 'deleted' });
    const tom = await newPerson();
    const taken = [tom.handle, `agent-${people - 1}`, `former-${people - 1}`, `own-${people - 1}`];
    const answers = new Set<string>();
    for (const handle of taken) {
      const { status, text } = await rename(pam, pam.handle, handle);
      answers.add(`${status} ${text.replaceAll(handle, 'HANDLE')}`);
    }
    // One answer, whatever the reason: nothing tells of a board.
    expect([...answers]).to.have.length(1);
    expect([...answers][0]).to.match(/^409 .*handle_taken/);
    for (const handle of [`elsewhere-${people - 1}`, `gone-${people - 1}`]) {
      expect(await renamed(server.dana, (await pam.ok('getMe')).name, handle)).to.equal(`200 ${handle} true`);
    }
  });

  it('follows the rule of handles, and equal to the old one changes nothing', async () => {
    const pam = await newPerson();
    const board = await newBoard(pam);
    const bad = ['', 'Pam', 'pam_x', '-pam', 'pam-', 'p--m', 'p'.repeat(41), 'all', 'everyone', 'here', 'me', 'system'];
    for (const handle of [...bad, 'service']) {
      expect(await renamed(pam, pam.handle, handle), handle).to.equal('400 invalid_request');
    }
    expect(await renamed(pam, pam.handle, pam.handle)).to.equal(`200 ${pam.handle} false`);
    expect((await pam.ok('getBoard', { params: { board: board.name } })).head_seq).to.equal(2);
    expect(await notesAbout(server, pam.personId ?? '')).to.deep.equal([]);
    expect(await renamed(pam, pam.handle, 'p'.repeat(40))).to.equal(`200 ${'p'.repeat(40)} true`);
  });

  it('is for the person and for admins, with their own key; a guest’s is an admin’s matter', async () => {
    const [pam, tom, gus] = [await newPerson(), await newPerson(), await newPerson('guest')];
    const board = await newBoard(pam);
    const agent = await newAgent(pam, board.name);
    for (const handle of [pam.handle, 'nobody']) {
      expect(await renamed(tom, handle, tom.free)).to.equal('403 server_admin_required');
      expect(await renamed(gus, handle, gus.free)).to.equal('403 server_admin_required');
      for (const other of [agent, await newBrowser(server, pam)]) {
        expect(await renamed(other, handle, pam.free)).to.equal('403 human_token_required');
      }
    }
    expect(await renamed(gus, gus.handle, gus.free)).to.equal('403 guest_not_allowed');
    expect(await renamed(server.dana, gus.handle, gus.free)).to.equal(`200 ${gus.free} true`);
    expect(await renamed(server.dana, 'nobody', 'somebody')).to.equal('404 person_not_found');
  });

  it('goes to one of those who ask for it at once, and the loser keeps theirs', async () => {
    const asking = await Promise.all(Array.from({ length: 6 }, () => newPerson()));
    const answers = await Promise.all(asking.map((person) => renamed(person, person.handle, 'wanted')));
    expect(answers.filter((answer) => answer === '200 wanted true')).to.have.length(1);
    expect(answers.filter((answer) => answer === '409 handle_taken')).to.have.length(5);
    const names = await Promise.all(asking.map(async (person) => (await person.ok('getMe')).name));
    expect(names.filter((name) => name === 'wanted')).to.have.length(1);
  });

  it('taken while the person and others post leaves every record whole', async () => {
    const pam = await newPerson();
    const boards = [await newBoard(server.dana), await newBoard(server.dana)];
    for (const board of boards) await putOnBoard(server, board.name, pam);
    const agent = await newAgent(pam, boards[0]?.name ?? '');
    await Promise.all([
      ...boards.flatMap(({ name }) => [
        post(pam, name, 'one'),
        post(server.dana, name, 'two'),
        post(pam, name, 'three'),
      ]),
      rename(server.dana, pam.handle, pam.free),
      post(agent, boards[0]?.name ?? '', 'four'),
      ...boards.map(({ name }) => post(pam, name, 'five')),
    ]);
    for (const { name } of boards) {
      const { events: all } = await server.dana.ok('listEvents', { params: { board: name }, query: { limit: 200 } });
      expect(all.map((event) => event.seq)).to.deep.equal(all.map((_event, index) => index + 1));
      const at = all.findIndex((event) => event.type === 'person.renamed');
      expect(at).to.be.greaterThan(0);
      for (const [index, event] of all.entries()) {
        if (event.actor.name === pam.handle) expect(index).to.be.lessThan(at);
        if (event.actor.name === pam.free) expect(index).to.be.greaterThan(at);
      }
    }
  });

  it('is told again to the person and to admins, as long as they are that and the person is there', async () => {
    const [ada, pam, tom] = [await newPerson('admin'), await newPerson(), await newPerson()];
    const first = await rename(ada, pam.handle, pam.free, 'key 1');
    expect(await rename(ada, pam.handle, pam.free, 'key 1')).to.include({ text: first.text, replayed: true });
    const own = await rename(tom, tom.handle, tom.free, 'key 1');
    // By now the path names a handle that is not theirs any more; the kept answer does not depend on it.
    expect(await rename(tom, tom.handle, tom.free, 'key 1')).to.include({ text: own.text, replayed: true });
    await server.dana.ok('setPersonRole', { params: { handle: ada.handle }, body: { server_role: 'member' } });
    expect((await rename(ada, pam.handle, pam.free, 'key 1')).code).to.equal('server_admin_required');
    await server.dana.ok('setPersonRole', { params: { handle: ada.handle }, body: { server_role: 'admin' } });
    await removePerson(server, pam);
    expect((await rename(ada, pam.handle, pam.free, 'key 1')).code).to.equal('person_not_found');
  });

  if (engine === 'postgres') {
    it('goes to one of two who ask two servers for it at once', async () => {
      const twin = await startTwin(server);
      for (let round = 0; round < 4; round++) {
        const [pam, tom] = [await newPerson(), await newPerson()];
        const answers = await Promise.all([
          renamed(pam, pam.handle, `prize-${round}`),
          renamed(new Api(twin.url, tom.token), tom.handle, `prize-${round}`),
        ]);
        expect(answers.sort()).to.deep.equal([`200 prize-${round} true`, '409 handle_taken']);
      }
      await twin.close();
    });
  }
});
