import { expect } from 'chai';
import fc from 'fast-check';
import type { Api } from '../../support/api.ts';
import { newAgent, newCode, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { type Recorded, Replay, withNames } from '../../support/replay.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { putOnBoard, removePerson } from '../../support/state.ts';
import { type Step, Story, steps } from '../../support/story.ts';

type Row = Record<string, unknown>;

/** What is said a day after the story. */
const later = ['good morning', 'and on we go'];

forEachDatabase('the tables beside the record', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const rows = <T>(table: string, where: Row, order: string): Promise<T[]> =>
    server.db.read((tx) => tx.query<T>((db) => db(table).where(where).orderBy(order).select('*')));

  /** The columns of a row that a rebuilt one has. */
  const like = (row: Row | undefined, rebuilt: object): Row =>
    Object.fromEntries(Object.keys(rebuilt).map((column) => [column, row?.[column]]));

  it('are what the record says: boards, members and messages rebuilt from it alone are equal', async () => {
    const people = [server.dana, await server.person('pam')];
    let naming = 0;
    for (const story of fc.sample(steps, { numRuns: 3, seed: 12 })) {
      const { board, model } = await tell(people, story);
      const [stored] = await rows<Row>('boards', { name: board }, 'id');
      const id = stored?.['id'];
      const events = (await rows<Record<'actor' | 'data', string> & Row>('events', { board_id: id }, 'seq')).map(
        (row) => ({ ...row, actor: JSON.parse(row.actor), data: JSON.parse(row.data) }) as unknown as Recorded,
      );
      const replay = new Replay(events);
      expect(replay.messages).to.have.length(model.messages.length + later.length);

      const parsed = {
        ...stored,
        roles: JSON.parse(String(stored?.['roles'])),
        policy: JSON.parse(String(stored?.['policy'])),
      };
      expect(like(parsed, replay.board)).to.deep.equal(replay.board);
      const members = await rows<Row>('members', { board_id: id }, 'id');
      expect(members).to.have.length(replay.members.size);
      for (const member of members) {
        const rebuilt = replay.members.get(String(member['id'])) ?? {};
        expect(like(member, rebuilt)).to.deep.equal(rebuilt);
      }
      const codes = await rows<Row>('join_codes', { board_id: id }, 'id');
      expect(codes.map((row) => like(row, replay.codes.get(String(row['id'])) ?? {}))).to.have.deep.members([
        ...replay.codes.values(),
      ]);
      expect(codes.filter((code) => code['revoked_at'] !== null).length).to.be.at.least(3);
      const messages = await rows<Row>('messages', { board_id: id }, 'seq');
      expect(withNames(messages).map((row) => like(row, replay.messages[0] ?? {}))).to.deep.equal(replay.messages);
      const days = await rows<Row>('message_days', { board_id: id }, 'day');
      expect(days.map((row) => like(row, replay.days[0] ?? {}))).to.deep.equal(replay.days);
      const named = (await rows<Row>('message_members', {}, 'seq')).filter((row) =>
        replay.members.has(String(row['member_id'])),
      );
      expect(named).to.have.deep.members([...replay.named.values()]);
      const reactions = (await rows<Row>('reactions', {}, 'seq')).filter((row) =>
        messages.some((message) => message['id'] === row['message_id']),
      );
      expect(reactions).to.have.deep.members([...replay.reactions.values()]);
      naming += named.length;
    }
    expect(naming).to.be.greaterThan(30);
  });

  async function tell(people: Api[], story: Step[]) {
    const begun = await Story.begin(server, people);
    for (const step of story) await begun.take(step);
    await part(begun.board, people[1] as Api);
    await rule(begun.board, people[1] as Api);
    return begun;
  }

  /** What no story tells: who owns the board, what it is called and how it is set, and its states. */
  async function rule(board: string, pam: Api): Promise<void> {
    const params = { board };
    const { name: handle } = await pam.ok('getMe');
    await server.dana.ok('makeBoardOwner', { params, body: { handle } });
    await server.dana.ok('makeBoardOwner', { params, body: { handle } });
    await server.dana.ok('unmakeBoardOwner', { params: { board, handle } });
    const prefix = `R${board.replaceAll(/\D/g, '').slice(-4)}`;
    for (const task_prefix of [`${prefix}A`, `${prefix}B`]) {
      await server.dana.ok('updateBoard', { params, body: { title: task_prefix, charter: task_prefix, task_prefix } });
    }
    const { roles } = await server.dana.ok('getBoard', { params });
    await server.dana.ok('updateBoard', {
      params,
      body: { roles: { ...roles, extra: { can: ['post'] } }, policy: { nudges: 'off' } },
    });
    await newCode(server.dana, board, { role: 'extra' });
    await server.dana.ok('updateBoard', { params, body: { roles } });
    await newCode(server.dana, board);
    await server.dana.ok('setBoardVisibility', { params, body: { visibility: 'private' } });
    await server.dana.ok('updateBoard', { params, body: { agents_add_people: true } });
    await server.dana.ok('setBoardVisibility', { params, body: { visibility: 'open' } });
    await server.dana.ok('archiveBoard', { params });
    await server.dana.ok('restoreBoard', { params });
    await server.dana.ok('archiveBoard', { params });
  }

  /** What no story tells: people who leave, come back and are removed, with their agents and codes. */
  async function part(board: string, pam: Api): Promise<void> {
    const rob = await server.person(`rob-${board}`);
    await putOnBoard(server, board, rob);
    const [left, taken, stays] = [await newAgent(rob, board), await newAgent(pam, board), await newAgent(pam, board)];
    for (const maker of [rob, left, stays]) await newCode(maker, board);
    await left.ok('leaveSeat');
    await server.dana.ok('removeMember', { params: { board, member: taken.memberId } });
    await pam.ok('leaveBoard', { params: { board } });
    const { name: handle } = await pam.ok('getMe');
    await server.dana.ok('addBoardPerson', { params: { board }, body: { handle } });
    await newAgent(pam, board);
    server.clock.advance(86_400_000);
    for (const text of later) await post(server.dana, board, text);
    await removePerson(server, rob);
  }
});
