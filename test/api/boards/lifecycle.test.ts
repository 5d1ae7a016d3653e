import { expect } from 'chai';
import { Api } from '../../support/api.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { endMember, memberIdOf, newBrowser, newDelegation, putOnBoard } from '../../support/state.ts';
import { TestStream } from '../../support/stream.ts';

type Step = 'archiveBoard' | 'restoreBoard' | 'deleteBoard';

forEachDatabase("a board's end", (engine) => {
  let server: TestServer;
  /** Creates the boards here; dana is the server's admin. */
  let pam: Api;
  let tom: Api;
  before(async () => {
    server = await startTestServer(engine);
    pam = await server.person('pam');
    tom = await server.person('tom');
  });
  after(() => server.stop());

  const take = (step: Step, board: string, from: Api = pam, key?: string) =>
    from.call(step, { params: { board }, key });
  const told = async (step: Step, board: string, from: Api = pam, key?: string) => {
    const { status, code, body } = await take(step, board, from, key);
    return code === undefined ? `${status} ${body.lifecycle} ${body.changed}` : `${status} ${code}`;
  };
  const newPrivate = () => newBoard(pam, { visibility: 'private' });
  const eventsOf = (boardId: string) =>
    server.db.read((tx) =>
      tx.query<{ type: string; actor: string; data: string }>((db) =>
        db('events').where('board_id', boardId).where('seq', '>', 2).orderBy('seq').select('type', 'actor', 'data'),
      ),
    );

  it('is archived, restored and deleted, each step with one event and a bare receipt', async () => {
    const { name, id } = await newBoard(pam);
    expect(await told('deleteBoard', name)).to.equal('409 board_not_archived');
    expect((await take('archiveBoard', name)).body).to.deep.equal({ id, lifecycle: 'archived', changed: true });
    expect(await told('archiveBoard', name)).to.equal('200 archived false');
    expect(await told('restoreBoard', name)).to.equal('200 active true');
    expect(await told('restoreBoard', id)).to.equal('200 active false');
    expect(await told('archiveBoard', id)).to.equal('200 archived true');
    expect(await told('deleteBoard', name)).to.equal('200 deleted true');
    for (const step of ['archiveBoard', 'restoreBoard', 'deleteBoard'] as const) {
      for (const ref of [name, id]) expect(await told(step, ref)).to.equal('404 board_not_found');
    }
    const events = await eventsOf(id);
    const { id: person_id } = await pam.ok('getMe');
    expect(events.map(({ type, data }) => [type, JSON.parse(data)])).to.deep.equal([
      ['board.archived', { person_id, before: 'active', after: 'archived' }],
      ['board.restored', { person_id, before: 'archived', after: 'active' }],
      ['board.archived', { person_id, before: 'active', after: 'archived' }],
      ['board.deleted', { person_id, before: 'archived', after: 'deleted' }],
    ]);
    for (const { actor } of events) expect(JSON.parse(actor)).to.include({ kind: 'human', name: 'pam' });
  });

  it('is the creator’s to decide while on the board, and again after coming back', async () => {
    const { name } = await newBoard(pam);
    await pam.ok('addBoardPerson', { params: { board: name }, body: { handle: 'tom' } });
    await pam.ok('makeBoardOwner', { params: { board: name }, body: { handle: 'tom' } });
    await take('archiveBoard', name);
    for (const step of ['archiveBoard', 'restoreBoard', 'deleteBoard'] as const) {
      expect(await told(step, name, tom)).to.equal('403 board_creator_required');
    }
    expect(await told('restoreBoard', name)).to.equal('200 active true');
    await endMember(server, await memberIdOf(server, name, pam), 'left');
    expect(await told('archiveBoard', name)).to.equal('403 board_creator_required');
    await pam.ok('addBoardPerson', { params: { board: name }, body: { handle: 'pam' } });
    expect(await told('archiveBoard', name)).to.equal('200 archived true');
  });

  it('is an admin’s too: an open board by name or id, a private one they are not on only by id', async () => {
    const [open, hidden] = [await newBoard(pam), await newPrivate()];
    expect(await told('archiveBoard', open.name, server.dana)).to.equal('200 archived true');
    expect(await told('restoreBoard', open.id, server.dana)).to.equal('200 active true');
    for (const step of ['archiveBoard', 'restoreBoard', 'deleteBoard'] as const) {
      expect(await told(step, hidden.name, server.dana)).to.equal('404 board_not_found');
      expect(await told(step, hidden.id, tom)).to.equal('404 board_not_found');
    }
    expect(await told('archiveBoard', hidden.id, server.dana)).to.equal('200 archived true');
    const [event] = await eventsOf(hidden.id);
    const { name: handle, id } = await server.dana.ok('getMe');
    expect(JSON.parse(event?.actor ?? '')).to.deep.equal({ kind: 'human', member_id: null, name: handle, owner: null });
    expect(JSON.parse(event?.data ?? '')).to.include({ person_id: id });
    expect(await told('deleteBoard', hidden.id, server.dana)).to.equal('200 deleted true');
  });

  it('tells an admin who is not on a private board nothing of its name', async () => {
    const { id, name } = await newPrivate();
    const refused = await take('deleteBoard', id, server.dana);
    expect(`${refused.status} ${refused.code}`).to.equal('409 board_not_archived');
    expect(refused.text).to.include(`service board archive ${id}`).and.not.include(name);
  });

  it('is decided by the creator’s agent on its own board but never deleted by it; an admin’s agent decides nothing', async () => {
    const { name, id } = await newBoard(pam);
    const { handle } = { handle: (await server.dana.ok('getMe')).name };
    await pam.ok('addBoardPerson', { params: { board: name }, body: { handle } });
    const [own, admins, other] = [
      await newAgent(pam, name),
      await newAgent(server.dana, name),
      await newAgent(pam, (await newBoard(pam)).name),
    ];
    for (const step of ['archiveBoard', 'restoreBoard'] as const) {
      expect(await told(step, name, admins)).to.equal('403 board_creator_required');
      for (const ref of [name, id]) expect(await told(step, ref, other)).to.equal('404 board_not_found');
    }
    expect(await told('archiveBoard', name, own)).to.equal('200 archived true');
    expect(await told('restoreBoard', id, own)).to.equal('200 active true');
    const [event] = await eventsOf(id).then((events) => events.filter(({ type }) => type === 'board.archived'));
    expect(JSON.parse(event?.actor ?? '')).to.include({ kind: 'agent', member_id: own.memberId, owner: 'pam' });
    for (const agent of [own, other]) {
      expect(await told('deleteBoard', 'nowhere', agent)).to.equal('403 human_token_required');
    }
    const delegation = await newDelegation(server, pam);
    expect(await told('archiveBoard', 'nowhere', delegation)).to.equal('403 forbidden');
    const gus = await server.person('gus', 'guest');
    await putOnBoard(server, name, gus);
    expect(await told('archiveBoard', name, gus)).to.equal('403 guest_not_allowed');
    expect(await told('archiveBoard', (await newBoard(pam)).name, gus)).to.equal('404 board_not_found');
  });

  it('leaves nothing readable: neither board, list, messages, agents nor kept answers, and other boards alone', async () => {
    const { name, id } = await newBoard(pam);
    const other = await newBoard(pam);
    const [agent, stays] = [await newAgent(pam, name), await newAgent(pam, other.name)];
    const key = { params: { board: name }, body: { body: 'kept' }, key: `kept-${name}` };
    const message = await pam.ok('postMessage', key);
    await take('archiveBoard', name);
    expect((await pam.call('postMessage', key)).replayed).to.equal(true);
    await take('deleteBoard', name);
    expect(await pam.refused('postMessage', key)).to.equal('404 board_not_found');
    for (const operation of ['getBoard', 'listMessages', 'listMembers', 'listEvents', 'listBoardPeople'] as const) {
      expect(await pam.refused(operation, { params: { board: name } })).to.equal('404 board_not_found');
    }
    expect(await pam.refused('getMessage', { params: { message: message.id } })).to.equal('404 message_not_found');
    expect(await agent.refused('getMe')).to.equal('404 board_not_found');
    expect(await agent.refused('readInbox')).to.equal('404 board_not_found');
    await stays.ok('getMe');
    await pam.ok('getMe');
    for (const api of [pam, server.dana]) {
      const { boards, hidden_boards, archived_count } = await api.ok('listBoards', {
        query: { all: true, lifecycle: 'all' },
      });
      expect([...boards, ...(hidden_boards ?? [])].map((board) => board.id)).not.to.include(id);
      expect(archived_count).to.equal(boards.filter((board) => board.lifecycle === 'archived').length);
    }
    expect((await pam.call('createBoard', { body: { name } })).code).to.equal('board_name_taken');
  });

  it('revives nothing that had ended when it is restored', async () => {
    const { name } = await newBoard(pam);
    const [gone, stays] = [await newAgent(pam, name), await newAgent(pam, name)];
    await take('archiveBoard', name);
    await endMember(server, gone.memberId);
    await take('restoreBoard', name);
    expect(await gone.refused('getMe')).to.equal('403 agent_removed');
    await post(stays, name, 'still here');
  });

  it('repeats the receipt of what was done under its key, whatever the state is now', async () => {
    const { name, id } = await newBoard(pam);
    const browser = await newBrowser(server, pam);
    expect(await told('archiveBoard', name, pam, 'a1')).to.equal('200 archived true');
    await take('restoreBoard', name);
    const again = await take('archiveBoard', name, pam, 'a1');
    expect([again.replayed, again.body]).to.deep.equal([true, { id, lifecycle: 'archived', changed: true }]);
    expect((await pam.ok('getBoard', { params: { board: name } })).lifecycle).to.equal('active');
    expect(await told('deleteBoard', name, pam, 'd0')).to.equal('409 board_not_archived');
    expect((await take('deleteBoard', name, pam, 'd0')).replayed).to.equal(true);
    await take('archiveBoard', name);
    expect(await told('deleteBoard', name, pam, 'd1')).to.equal('200 deleted true');
    expect((await take('deleteBoard', name, pam, 'd1')).replayed).to.equal(true);
    for (const [step, key] of [
      ['archiveBoard', 'a1'],
      ['deleteBoard', 'd0'],
      ['deleteBoard', 'd2'],
    ] as const) {
      expect(await told(step, name, pam, key), key).to.equal('404 board_not_found');
    }
    expect(await told('deleteBoard', name, browser, 'd1')).to.equal('404 board_not_found');
  });

  it('shows no receipt to somebody who has lost the authority since', async () => {
    const setRole = (api: Api, server_role: string) =>
      server.db.write((tx) => tx.change((db) => db('people').where('id', api.personId).update({ server_role })));
    const ann = await server.person('ann', 'admin');
    const [open, hidden, left] = [await newBoard(pam), await newPrivate(), await newBoard(pam)];
    await take('archiveBoard', open.name, ann, 'open');
    await take('archiveBoard', hidden.id, ann, 'hidden');
    await take('deleteBoard', hidden.id, ann, 'gone');
    await take('archiveBoard', left.name, pam, 'left');
    await take('deleteBoard', left.name, pam, 'left gone');
    expect((await take('deleteBoard', hidden.id, ann, 'gone')).replayed).to.equal(true);
    await setRole(ann, 'member');
    expect(await told('archiveBoard', open.name, ann, 'open')).to.equal('403 board_creator_required');
    expect(await told('archiveBoard', hidden.id, ann, 'hidden')).to.equal('404 board_not_found');
    expect(await told('deleteBoard', hidden.id, ann, 'gone')).to.equal('404 board_not_found');
    await setRole(ann, 'admin');
    expect((await take('deleteBoard', hidden.id, ann, 'gone')).replayed).to.equal(true);
    await server.db.write((tx) =>
      tx.change((db) => db('members').where({ board_id: left.id, kind: 'human' }).update({ status: 'left' })),
    );
    expect(await told('deleteBoard', left.name, pam, 'left gone')).to.equal('404 board_not_found');
  });

  it('is told on open streams: the board is gone, its waits end, other boards go on', async () => {
    const { name, id } = await newPrivate();
    const agent = await newAgent(pam, name);
    const hints = await TestStream.open(pam);
    const live = await TestStream.open(pam, { board: name });
    const seat = await TestStream.open(agent, { board: name });
    await hints.frame((frame) => frame.event === 'ready');
    for (const stream of [live, seat]) await stream.frame((frame) => frame.event === 'ready');
    const wait = agent.call('readInbox', { query: { wait: 60 } });
    await take('archiveBoard', name);
    await live.frame((frame) => frame.data.type === 'board.archived');
    await hints.frame((frame) => frame.event === 'boards');
    await take('deleteBoard', name);
    expect((await hints.frame((frame) => frame.event === 'board_unavailable')).data).to.deep.equal({ board_id: id });
    for (const stream of [live, seat]) {
      const end = await stream.frame((frame) => frame.event === 'end');
      expect(end.data.reason).to.equal('board_unavailable');
    }
    const { status, code } = await wait;
    expect(`${status} ${code}`).to.equal('404 board_not_found');
    expect(hints.ended).to.equal(false);
    hints.close();
  });

  it('while others post has one order: what was posted came before the archive, the rest is refused', async () => {
    const twin = engine === 'postgres' ? await startTwin(server) : null;
    const there = new Api(twin?.url ?? server.url, pam.token);
    for (let round = 0; round < 3; round++) {
      const { name, id } = await newBoard(pam);
      const posts = Array.from({ length: 12 }, (_unused, n) =>
        (n % 2 ? there : pam).call('postMessage', { params: { board: name }, body: { body: `${n}` } }),
      );
      const [archived, answers] = await Promise.all([told('archiveBoard', name, there), Promise.all(posts)]);
      expect(archived).to.equal('200 archived true');
      const statuses = answers.map(({ status, code }) => (status === 201 ? 'posted' : code));
      const types = (await eventsOf(id)).map(({ type }) => type);
      expect(types.at(-1)).to.equal('board.archived');
      expect(types.length - 1).to.equal(statuses.filter((status) => status === 'posted').length);
      for (const status of statuses) expect(status).to.be.oneOf(['posted', 'board_archived']);
    }
    await twin?.close();
  });

  it('asked for many times at once happens once', async () => {
    const { name, id } = await newBoard(pam);
    const answers = await Promise.all(Array.from({ length: 6 }, () => told('archiveBoard', name)));
    expect(answers.filter((answer) => answer === '200 archived true')).to.have.length(1);
    const ends = await Promise.all(Array.from({ length: 6 }, () => told('deleteBoard', name)));
    expect(ends.filter((answer) => answer === '200 deleted true')).to.have.length(1);
    expect(ends.filter((answer) => answer === '404 board_not_found')).to.have.length(5);
    expect(await eventsOf(id)).to.have.length(2);
  });
});
