import { expect } from 'chai';
import { Api } from '../../support/api.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { changeBoard, endMember, memberIdOf, putOnBoard, setRoles } from '../../support/state.ts';
import { TestStream } from '../../support/stream.ts';

forEachDatabase('adding a person to a board', (engine) => {
  let server: TestServer;
  let sam: Api;
  before(async () => {
    server = await startTestServer(engine);
    sam = await server.person('sam');
  });
  after(() => server.stop());

  const add = (board: string, handle: string, from: Api = server.dana, key?: string) =>
    from.call('addBoardPerson', { params: { board }, body: { handle }, key });
  const refused = async (board: string, handle: string, from: Api = server.dana) => {
    const { status, code } = await add(board, handle, from);
    return `${status} ${code}`;
  };
  const last = async (board: string, count = 1) => {
    const { events } = await server.dana.ok('listEvents', {
      params: { board },
      query: { newest: true, limit: count },
    });
    return events;
  };

  it('makes them a member from then on: nothing from before is unread', async () => {
    const { name: board } = await newBoard(server.dana, { visibility: 'private' });
    await post(server.dana, board, 'before');
    const { status, body } = await add(board, 'sam');
    expect(status).to.equal(201);
    const me = await sam.ok('getMe');
    expect(body).to.include({ id: me.id, handle: 'sam', board, name: 'sam', board_role: 'member' });
    const [event] = await last(board);
    expect(event).to.deep.include({ type: 'person.added', seq: 4 });
    expect(event?.actor).to.include({ kind: 'human', name: (await server.dana.ok('getMe')).name });
    expect(event?.data).to.deep.equal({
      member_id: body.member_id,
      person_id: me.id,
      name: 'sam',
      access: 'member',
      rejoined: false,
    });
    expect(await sam.ok('getBoard', { params: { board } })).to.include({ on_board: true, read_up_to: 4, unread: 0 });
    await post(server.dana, board, 'after');
    await post(sam, board, 'own');
    expect(await sam.ok('getBoard', { params: { board } })).to.include({ unread: 1 });
  });

  it('is joining when somebody off an open board adds themselves, and only that', async () => {
    const { name: board } = await newBoard(server.dana);
    expect(await refused(board, 'nobody-here', sam)).to.equal('403 not_on_board');
    const { body } = await add(board, 'sam', sam);
    const [event] = await last(board);
    expect(event?.actor).to.deep.equal({ kind: 'human', member_id: body.member_id, name: 'sam', owner: null });
    expect(await refused(board, 'sam', sam)).to.equal('409 already_on_board');
  });

  it('gives another name to a person whose own is taken, and the same one when they come back', async () => {
    const { name: board } = await newBoard(server.dana);
    await newAgent(server.dana, board, { name: 'sam' });
    await newAgent(server.dana, board, { name: 'sam-2' });
    const first = (await add(board, 'sam')).body;
    expect(first.name).to.equal('sam-3');
    await endMember(server, first.member_id, 'left');
    const back = (await add(board, 'sam')).body;
    expect(back).to.include({ member_id: first.member_id, name: 'sam-3' });
    expect((await last(board))[0]?.data).to.deep.include({ rejoined: true });
  });

  it('brings somebody back as a member with nothing unread, and keeps what they missed as a gap', async () => {
    const { name: board } = await newBoard(server.dana);
    const { member_id } = (await add(board, 'sam')).body;
    await post(sam, board, 'mine');
    await post(server.dana, board, 'read by sam');
    await sam.ok('ackBoard', { params: { board }, body: { up_to: 5 } });
    await server.db.write((tx) => tx.change((db) => db('members').where('id', member_id).update({ access: 'admin' })));
    await endMember(server, member_id, 'left');
    for (const text of ['one', 'two']) await post(server.dana, board, text);
    const { body } = await add(board, 'sam');
    expect(body).to.include({ board_role: 'member', member_id });
    expect(await sam.ok('getBoard', { params: { board } })).to.include({ read_up_to: 9, unread: 0 });
    await post(server.dana, board, 'three');
    await post(sam, board, 'four');
    expect(await sam.ok('getBoard', { params: { board } })).to.include({ read_up_to: 9, unread: 1 });
    const gaps = await server.db.read((tx) => tx.query((db) => db('member_gaps').where({ member_id }).select('*')));
    expect(gaps).to.deep.equal([{ member_id, after_seq: 5, up_to_seq: 9 }]);
  });

  it('decides in the order of the contract: board, membership, guest, lifecycle, person', async () => {
    const [open, hidden] = [await newBoard(server.dana), await newBoard(server.dana, { visibility: 'private' })];
    const gus = await server.person('gus', 'guest');
    expect(await refused(hidden.name, 'nobody-here', sam)).to.equal('404 board_not_found');
    expect(await refused(open.name, 'gus', gus)).to.equal('404 board_not_found');
    await putOnBoard(server, open.name, gus);
    await changeBoard(server, open.name, { lifecycle: 'archived' });
    expect(await refused(open.name, 'sam', gus)).to.equal('403 guest_not_allowed');
    expect(await refused(open.name, 'nobody-here')).to.equal('409 board_archived');
    expect(await refused(open.name, 'sam', sam)).to.equal('409 board_archived');
    await changeBoard(server, open.name, { lifecycle: 'active' });
    expect(await refused(open.name, 'nobody-here')).to.equal('404 person_not_found');
    expect(await refused(open.name, 'gus')).to.equal('409 already_on_board');
    expect(await refused(hidden.name, 'gus')).to.equal('409 person_is_guest');
    expect(await refused(open.name, 'Not A Handle')).to.equal('400 invalid_request');
  });

  it('by an agent needs its session, the server, the board and its role, and names its person', async () => {
    const { name: board } = await newBoard(server.dana);
    const plain = await newAgent(server.dana, board);
    const agent = await newAgent(server.dana, board, { session: 'codex:s1' });
    expect(await refused(board, 'sam', plain)).to.equal('403 agent_session_required');
    const told = await add(board, 'sam', plain);
    expect(told.text).to.include(`service board add sam --board ${board}`);
    await server.dana.ok('updateBoard', { params: { board }, body: { agents_add_people: false } });
    expect(await refused(board, 'sam', agent)).to.equal('403 add_people_not_allowed');
    await server.dana.ok('updateBoard', { params: { board }, body: { agents_add_people: true } });
    await server.dana.ok('updateSettings', { body: { agents_add_people: false } });
    expect(await refused(board, 'sam', agent)).to.equal('403 add_people_not_allowed');
    await server.dana.ok('updateSettings', { body: { agents_add_people: true } });
    await setRoles(server, board, { member: { can: ['post'] } });
    expect(await refused(board, 'sam', agent)).to.equal('403 add_people_not_allowed');
    await setRoles(server, board, { member: { can: ['add_people'] } });
    expect(await refused(board, 'gus', agent)).to.equal('404 person_not_found');
    expect((await add(board, 'sam', agent)).status).to.equal(201);
    const [event] = await last(board);
    expect(event?.actor).to.include({ kind: 'agent', member_id: agent.memberId });
    expect(event?.data).to.deep.include({ by_owner: (await server.dana.ok('getMe')).id, rejoined: false });
  });

  it('makes the first non-guest on a board without an owner its owner', async () => {
    const { name: board } = await newBoard(server.dana);
    await server.db.write((tx) =>
      tx.change((db) =>
        db('members')
          .where('id', db('boards').where('name', board).select('creator_member_id'))
          .update({ access: 'member' }),
      ),
    );
    const { body } = await add(board, 'sam', sam);
    expect(body.board_role).to.equal('owner');
    const [added, made] = await last(board, 2);
    expect([added?.type, made?.type]).to.deep.equal(['person.added', 'person.made_owner']);
    expect(made?.actor).to.deep.equal({ kind: 'system', member_id: null, name: null, owner: null });
    expect(made?.data).to.deep.equal({
      member_id: body.member_id,
      person_id: body.id,
      name: 'sam',
      reason: 'board_had_no_owner',
    });
    await server.person('tim');
    expect((await add(board, 'tim')).body.board_role).to.equal('member');
  });

  it('stops at 1000 people', async () => {
    const { name: board, id } = await newBoard(server.dana);
    await server.db.write(async (tx) => {
      const [model] = await tx.query<Record<string, unknown>>((db) => db('members').where('board_id', id).select('*'));
      const rows = Array.from({ length: 999 }, (_unused, n) => ({
        ...model,
        id: `mem_${String(n).padStart(26, '0')}`,
        person_id: `hum_${String(n).padStart(26, '0')}`,
        name: `person-${n}`,
      }));
      for (let n = 0; n < rows.length; n += 20) await tx.change((db) => db('members').insert(rows.slice(n, n + 20)));
    });
    const full = await add(board, 'sam');
    expect([full.status, full.code]).to.deep.equal([409, 'limit_reached']);
    await server.db.write((tx) =>
      tx.change((db) => db('members').where('name', 'person-7').update({ status: 'left' })),
    );
    expect((await add(board, 'sam')).status).to.equal(201);
  });

  it('many times at once puts them there once', async () => {
    const { name: board } = await newBoard(server.dana);
    const answers = await Promise.all(Array.from({ length: 8 }, () => refused(board, 'sam')));
    expect(answers.filter((answer) => answer === '201 undefined')).to.have.length(1);
    expect(answers.filter((answer) => answer === '409 already_on_board')).to.have.length(7);
  });

  it('shows the board on their open stream at once', async () => {
    const { name: board, id } = await newBoard(server.dana, { visibility: 'private' });
    const stream = await TestStream.open(sam);
    await stream.frame((frame) => frame.event === 'ready');
    await add(board, 'sam');
    const head = await stream.frame((frame) => frame.event === 'head' && frame.data.board_id === id);
    expect(head.data).to.deep.equal({ board, board_id: id, seq: 3 });
    const unread = await stream.frame((frame) => frame.event === 'unread' && frame.data.board_id === id);
    expect(unread.data).to.include({ read_up_to: 3, unread: 0 });
    await stream.frame((frame) => frame.event === 'boards');
    stream.close();
  });

  it('is replayed under its key while the caller sees the board', async () => {
    const { name: board } = await newBoard(server.dana);
    const first = await add(board, 'sam', server.dana, 'once');
    const again = await add(board, 'sam', server.dana, 'once');
    expect(again.replayed).to.equal(true);
    expect(again.body).to.deep.equal(first.body);
    const joined = await newBoard(server.dana);
    await add(joined.name, 'sam', sam, 'join');
    await endMember(server, await memberIdOf(server, joined.name, sam), 'left');
    await changeBoard(server, joined.name, { visibility: 'private' });
    const { status, code } = await add(joined.name, 'sam', sam, 'join');
    expect(`${status} ${code}`).to.equal('404 board_not_found');
  });

  it('of oneself is replayed only while one is on the board, which no replay brings back onto it', async () => {
    const { name: board } = await newBoard(server.dana);
    const first = await add(board, 'sam', sam, 'join once');
    expect((await add(board, 'sam', sam, 'join once')).replayed).to.equal(true);
    await server.dana.ok('removeBoardPerson', { params: { board, handle: 'sam' } });
    const again = await add(board, 'sam', sam, 'join once');
    expect(`${again.status} ${again.code}`).to.equal('403 not_on_board');
    const { people } = await server.dana.ok('listBoardPeople', { params: { board } });
    expect(people.map(({ handle }) => handle)).to.not.include('sam');
    expect((await add(board, 'sam', sam, 'join anew')).status).to.equal(201);
    const back = await add(board, 'sam', sam, 'join once');
    expect([back.replayed, back.body]).to.deep.equal([true, first.body]);
  });

  if (engine === 'postgres') {
    it('through two server processes at once has one winner', async () => {
      const twin = await startTwin(server);
      const there = new Api(twin.url, server.dana.token);
      const { name: board } = await newBoard(server.dana);
      const answers = await Promise.all([refused(board, 'sam'), refused(board, 'sam', there), refused(board, 'sam')]);
      expect(answers.sort()).to.deep.equal(['201 undefined', '409 already_on_board', '409 already_on_board']);
      await twin.close();
    });
  }
});
