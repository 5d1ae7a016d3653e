/** What approvals and allowances do to boards is in the record: members and boards rebuilt from it alone are equal. */
import { expect } from 'chai';
import { Api } from '../../support/api.ts';
import { newAgent, newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { type Recorded, Replay } from '../../support/replay.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { putOnBoard } from '../../support/state.ts';
import { type Connected, connect, secretOf } from '../invites/cast.ts';
import { allow, ask, held, invitePeople, scene, type Wanted } from './cast.ts';

type Row = Record<string, unknown>;

forEachDatabase('the record of what agents asked for', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const rows = (table: string, where: Row, order: string): Promise<Row[]> =>
    server.db.read((tx) => tx.query<Row>((db) => db(table).where(where).orderBy(order).select('*')));

  const like = (row: Row | undefined, rebuilt: object): Row =>
    Object.fromEntries(Object.keys(rebuilt).map((column) => [column, row?.[column]]));

  async function expectRebuilt(board: string): Promise<Recorded[]> {
    const [stored] = await rows('boards', { id: board }, 'id');
    const events = (await rows('events', { board_id: board }, 'seq')).map(
      (row) =>
        ({
          ...row,
          actor: JSON.parse(String(row['actor'])),
          data: JSON.parse(String(row['data'])),
        }) as unknown as Recorded,
    );
    const replay = new Replay(events);
    const parsed = {
      ...stored,
      roles: JSON.parse(String(stored?.['roles'])),
      policy: JSON.parse(String(stored?.['policy'])),
    };
    expect(like(parsed, replay.board)).to.deep.equal(replay.board);
    const members = await rows('members', { board_id: board }, 'id');
    expect(members).to.have.length(replay.members.size);
    for (const member of members) {
      const rebuilt = replay.members.get(String(member['id'])) ?? {};
      expect(like(member, rebuilt)).to.deep.equal(rebuilt);
    }
    return events;
  }

  it('rebuilds boards and members, and names the authority of each event', async () => {
    const s = await scene(server);
    const elsewhere = await newBoard(s.ana);
    const person_id = s.bob.personId ?? '';
    const others = await Promise.all([1, 2, 3].map((n) => server.person(`extra-${n}-${engine}`)));
    const [first, second, third] = others.map((api) => api.personId ?? '');
    const actions: Wanted[] = [
      { kind: 'add_people', board_id: s.board.id, person_id },
      { kind: 'add_people', board_id: elsewhere.id, person_id },
      { kind: 'set_board_role', board_id: s.board.id, person_id, role: 'owner' },
      { kind: 'set_board_role', board_id: elsewhere.id, person_id, role: 'owner' },
      { kind: 'set_board_role', board_id: s.board.id, person_id, role: 'member' },
      { kind: 'set_board_policy', board_id: s.board.id, policy: { preset: 'recommended', nudges: 'off' } },
      { kind: 'set_board_policy', board_id: elsewhere.id, policy: { visibility: 'addressed' } },
    ];
    for (const action of actions) expect((await allow(s.ana, await held(s.agent, action))).status).to.equal(200);

    // Agents that end with their people, and somebody who comes by an invite.
    await putOnBoard(server, s.board.name, others[0] as Api);
    await newAgent(others[0] as Api, s.board.name);
    await newAgent(s.bob, elsewhere.name);
    for (const action of [
      { kind: 'remove_person', person_id: first, board_id: s.board.id },
      { kind: 'remove_person', person_id },
    ] as Wanted[])
      expect((await allow(s.ana, await held(s.agent, action))).status).to.equal(200);
    await s.ana.ok('setAllowance', { body: { categories: ['add_people', 'invite_people'] } });
    for (const each of [second, third]) {
      const body: Wanted = { kind: 'add_people', board_id: s.board.id, person_id: each };
      expect((await ask(s.agent, body)).status).to.equal(201);
    }
    const made = await ask(s.agent, invitePeople({ boards: [s.board.id, elsewhere.id] }));
    const { body } = await connect(server, {
      invite: secretOf(made.body.invite as never),
      handle: `newcomer-${engine}`,
    });
    await newAgent(new Api(server.url, (body as Connected).key.token), s.board.name);

    const caused = (await Promise.all([s.board.id, elsewhere.id].map(expectRebuilt)))
      .flat()
      .filter(({ data }) => data['authorization'] !== undefined);
    const kinds = caused.map(({ type }) => type).sort();
    expect(kinds).to.deep.equal([
      'board.policy_changed',
      'board.policy_changed',
      'person.added',
      'person.added',
      'person.added',
      'person.added',
      'person.added',
      'person.added',
      'person.made_owner',
      'person.made_owner',
      'person.removed',
      'person.removed',
      'person.removed',
      'person.role_changed',
    ]);
    for (const { type, actor, data } of caused) {
      const authorization = data['authorization'] as Row;
      expect(authorization, type).to.include({ person_id: s.ana.personId, agent_id: s.agent.memberId });
      expect(data['action_kind'], type).to.equal(authorization['kind']);
      expect(['human', 'agent'], type).to.include(actor.kind);
    }
  });

  it('rebuilds who was taken off by their own agent', async () => {
    const s = await scene(server);
    await putOnBoard(server, s.board.name, s.bob);
    const agent = await newAgent(s.bob, s.board.name);
    const wanted: Wanted = { kind: 'remove_person', person_id: s.bob.personId, board_id: s.board.id };
    expect((await allow(s.bob, await held(agent, wanted))).status).to.equal(200);
    await expectRebuilt(s.board.id);
  });
});
