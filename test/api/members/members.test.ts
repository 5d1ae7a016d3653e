import { expect } from 'chai';
import { inParts } from '../../../src/server/db/rows.ts';
import type { WriteTx } from '../../../src/server/db/tx.ts';
import { activeNames } from '../../../src/server/members/member-names.store.ts';
import { listMemberRows, type MemberRow, memberById, nextMemberId } from '../../../src/server/members/members.store.ts';
import { newId } from '../../../src/server/text/ids.ts';
import type { Api } from '../../support/api.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeBoard, endMember, memberIdOf, putOnBoard, setPolicy } from '../../support/state.ts';

forEachDatabase('who is on a board', (engine) => {
  let server: TestServer;
  let pam: Api;
  let board: string;
  before(async () => {
    server = await startTestServer(engine);
    pam = await server.person('pam');
  });
  beforeEach(async () => {
    board = (await newBoard(server.dana)).name;
    await putOnBoard(server, board, pam);
  });
  after(() => server.stop());

  const members = (reader: Api, query = {}) => reader.ok('listMembers', { params: { board }, query });

  it('is listed in the order of arrival, people and agents, by kind and page by page', async () => {
    const { name } = await server.dana.ok('getMe');
    for (const agent of ['x', 'y', 'z']) await newAgent(pam, board, { name: agent });
    const names = async (query: Record<string, string | number>) =>
      (await members(server.dana, query)).members.map((member) => member.name);
    expect(await names({})).to.deep.equal([name, 'pam', 'x', 'y', 'z']);
    expect(await names({ kind: 'human' })).to.deep.equal([name, 'pam']);
    expect(await names({ kind: 'agent' })).to.deep.equal(['x', 'y', 'z']);
    const seen: string[] = [];
    const follow = async (after?: string): Promise<void> => {
      const page = await members(server.dana, { limit: 2, ...(after ? { after } : {}) });
      seen.push(...page.members.map((member) => member.name));
      if (page.next_after !== null) await follow(page.next_after);
    };
    await follow();
    expect(seen).to.deep.equal([name, 'pam', 'x', 'y', 'z']);
    const people = await pam.ok('listBoardPeople', { params: { board }, query: { limit: 1 } });
    expect(people.people.map((person) => person.board_role)).to.deep.equal(['owner']);
    expect(people.next_after).to.equal(people.people[0]?.member_id);
  });

  it('is listed in the order of the record, however many come in one moment', async () => {
    const handles = Array.from({ length: 20 }, (_unused, n) => `arrival-${n}`);
    await Promise.all(handles.map((handle) => server.person(handle)));
    const { clock } = server;
    const [moment, running] = [clock.now(), clock.now.bind(clock)];
    clock.now = () => moment;
    const arrivals = handles.flatMap((handle) => [
      pam.ok('addBoardPerson', { params: { board }, body: { handle } }),
      newAgent(pam, board),
    ]);
    await Promise.all(arrivals).finally(() => {
      clock.now = running;
    });
    const type = 'person.added,member.joined';
    const { events } = await pam.ok('listEvents', { params: { board }, query: { type, newest: true, limit: 40 } });
    const came = events.map(({ data }) => data?.['member_id']);
    expect((await members(pam)).members.map(({ id }) => id).slice(-40)).to.deep.equal(came);
    const { people } = await pam.ok('listBoardPeople', { params: { board } });
    const those = people.map(({ member_id }) => member_id).slice(-20);
    expect(those).to.deep.equal(came.filter((id) => those.includes(String(id))));
  });

  it('has an id of which 80 bits are random, also who comes as the same one of a board', async () => {
    const ids = await Promise.all(
      Array.from(
        { length: 12 },
        async () => (await newAgent(server.dana, (await newBoard(server.dana)).name)).memberId,
      ),
    );
    // `mem_` and ten characters of time come before.
    for (let at = 14; at < 30; at++) expect(new Set(ids.map((id) => id[at])).size, `character ${at}`).to.be.above(1);
  });

  if (engine === 'postgres') {
    it('is found among those of the board, however many are on others', async () => {
      const other = await newBoard(server.dana);
      const { memberId } = await newAgent(server.dana, other.name);
      const { id: boardId } = await server.dana.ok('getBoard', { params: { board } });
      const plans = await server.db.write(async (tx) => {
        const agent = { ...((await memberById(tx, memberId)) as MemberRow), token_digest: null, session_digest: null };
        const rows = Array.from({ length: 4_000 }, (_, n) => {
          const old = n < 300 ? { board_id: boardId, id: newId('mem', n) } : { id: newId('mem', tx.now) };
          return { ...agent, name: `agent-${n}`, ...old };
        });
        await inParts(rows, (part) => tx.change((db) => db('members').insert(part)));
        await tx.query((db) => db.raw('ANALYZE members'));
        const found: string[] = [];
        const query: WriteTx['query'] = async (build) => {
          const plan = await tx.query<{ 'QUERY PLAN': string }>((db) => db.raw(`EXPLAIN ${build(db)}`));
          found.push(plan.map((line) => line['QUERY PLAN']).join('\n'));
          return tx.query(build);
        };
        const explained = { now: tx.now, query } as WriteTx;
        await nextMemberId(explained, boardId);
        expect(await activeNames(explained, boardId, 5)).to.have.length(5);
        expect(await listMemberRows(explained, { boardId, ended: false, limit: 5 })).to.have.length(5);
        return found;
      });
      expect(plans).to.have.length(3);
      for (const plan of plans) expect(plan).to.match(/Index Cond: \(board_id = /);
    });
  }

  it('shows ended seats only when asked, with how they ended, and never people who left', async () => {
    const [left, removed] = [await newAgent(pam, board), await newAgent(pam, board)];
    await endMember(server, left.memberId, 'left');
    await endMember(server, removed.memberId, 'removed');
    await endMember(server, await memberIdOf(server, board, pam), 'left');
    expect((await members(server.dana)).members).to.have.length(1);
    const all = (await members(server.dana, { removed: true })).members;
    expect(all.map(({ id }) => id).slice(1)).to.deep.equal([left.memberId, removed.memberId]);
    expect(all[1]).to.include({ status: 'left', removed_by: 'self' }).and.to.have.property('removed_at');
    expect(all[2]).to.include({ status: 'removed', removed_by: 'person' });
    expect(all[2]).not.to.have.property('can_remove');
  });

  it('is read one by one, by name or id, ended agents included; people who left are gone', async () => {
    const ended = await newAgent(pam, board, { name: 'gone' });
    await endMember(server, ended.memberId);
    const one = async (member: string, reader: Api = pam) => reader.call('getMember', { params: { board, member } });
    const { members: listed } = await members(pam, { removed: true });
    for (const member of listed) {
      expect((await one(member.name)).body).to.deep.equal(member);
      expect((await one(member.id)).body).to.deep.equal(member);
    }
    expect((await one('pam', await newAgent(server.dana, board))).body).to.include({ kind: 'human', name: 'pam' });
    const id = await memberIdOf(server, board, pam);
    await endMember(server, id, 'left');
    for (const nobody of ['pam', id, 'nobody', 'Not a name', `x\u0000`, 'mem_1', 'y'.repeat(90)]) {
      const { status, code } = await one(nobody, server.dana);
      expect(`${status} ${code}`, nobody).to.equal('404 member_not_found');
    }
  });

  it('tells a person which agents they could remove: their own, and all of them to an owner or admin', async () => {
    const eve = await server.person(`eve-${board}`);
    await putOnBoard(server, board, eve);
    const [pams, danas] = [await newAgent(pam, board), await newAgent(server.dana, board)];
    const removable = async (reader: Api) =>
      (await members(reader, { kind: 'agent' })).members.map((member) => member.can_remove);
    expect(await removable(server.dana)).to.deep.equal([true, true]);
    expect(await removable(pam)).to.deep.equal([true, false]);
    expect(await removable(eve)).to.deep.equal([false, false]);
    expect(await removable(pams)).to.deep.equal([undefined, undefined]);
    expect((await members(danas)).members.some((member) => 'can_remove' in member)).to.equal(false);
  });

  it('hides the harness from agents where the policy says so: lists, messages, events, streams alike', async () => {
    const agents = [
      await newAgent(pam, board, { harness: 'codex' }),
      await newAgent(server.dana, board, { harness: 'claude-code' }),
      await newAgent(pam, board, { name: 'plain' }),
    ];
    const [one, two] = agents as [(typeof agents)[0], (typeof agents)[0]];
    await post(one, board, 'hello');
    const seen = async (reader: Api) => ({
      list: (await members(reader, { kind: 'agent' })).members.map(({ harness }) => harness),
      from: (await reader.ok('listMessages', { params: { board } })).messages[0]?.from.harness,
      withheld: (await reader.ok('listEvents', { params: { board } })).events
        .filter((event) => event.data_withheld)
        .map(({ seq }) => seq),
    });
    const open = { list: ['codex', 'claude-code', null], from: 'codex', withheld: [] };
    for (const reader of [server.dana, one, two]) expect(await seen(reader)).to.deep.equal(open);
    await setPolicy(server, board, { show_harness: false });
    expect(await seen(server.dana)).to.deep.equal(open);
    expect(await seen(one)).to.deep.equal({ list: ['codex', null, null], from: 'codex', withheld: [5] });
    expect(await seen(two)).to.deep.equal({ list: [null, 'claude-code', null], from: null, withheld: [4] });
  });

  it('may be read on an archived board, and by nobody who is not on it', async () => {
    const eve = await server.person(`eva-${board}`);
    await changeBoard(server, board, { lifecycle: 'archived' });
    expect((await members(pam)).members).to.have.length(2);
    expect(await eve.refused('listMembers', { params: { board } })).to.equal('403 not_on_board');
    expect((await eve.ok('listBoardPeople', { params: { board } })).people).to.have.length(2);
  });

  it('is told over the limits of a page with 400', async () => {
    const bad: Record<string, string | number>[] = [
      { limit: 0 },
      { limit: 1_001 },
      { kind: 'robot' },
      { removed: 'yes' },
    ];
    for (const query of [...bad, { after: 'x' }]) {
      expect(await pam.refused('listMembers', { params: { board }, query })).to.equal('400 invalid_request');
    }
  });
});
