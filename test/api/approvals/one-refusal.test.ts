/** What an agent asks for is refused in the words in which its person's own operation is refused. */
import { expect } from 'chai';
import type { Api } from '../../support/api.ts';
import { newAgent, newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { putOnBoard } from '../../support/state.ts';
import { ask, invitePeople, type Scene, scene, type Wanted } from './cast.ts';

type Refused = { status: number; text: string };
type Pair = { what: string; wanted: Wanted; own: () => Promise<Refused> };

const NOBODY = 'hum_01K5A0000000000000000000H1';
const NO_KEY = 'key_01K5A0000000000000000000H1';

/** The whole refusal but the number of its request. */
function wordsOf({ status, text }: Refused): Record<string, unknown> {
  const { request_id: _, ...error } = JSON.parse(text).error;
  expect(error.code, text).to.be.a('string');
  return { status, ...error };
}

forEachDatabase('a request and the own operation', (engine) => {
  let server: TestServer;
  let s: Scene;
  let anaHandle: string;
  let guest: Api;
  let eve: Api;
  let on: { board_id: string };
  let board: string;

  before(async () => {
    server = await startTestServer(engine);
    s = await scene(server);
    anaHandle = (await s.ana.ok('getMe')).name;
    guest = await server.person('gus', 'guest');
    eve = await server.person('eve');
    await putOnBoard(server, s.board.name, guest);
    await putOnBoard(server, s.board.name, eve);
    on = { board_id: s.board.id };
    board = s.board.name;
  });
  after(() => server.stop());

  const make = (api: Api, handle: string) => () => api.call('makeBoardOwner', { params: { board }, body: { handle } });
  const add = (api: Api, handle: string) => () => api.call('addBoardPerson', { params: { board }, body: { handle } });
  const takeOff = (api: Api, handle: string) => () => api.call('removeBoardPerson', { params: { board, handle } });
  const setRole = (api: Api, handle: string, server_role: string) => () =>
    api.call('setPersonRole', { params: { handle }, body: { server_role } });

  async function expectSame(agent: Api, pairs: Pair[]): Promise<void> {
    for (const { what, wanted, own } of pairs) {
      expect(wordsOf(await ask(agent, wanted)), what).to.deep.equal(wordsOf(await own()));
    }
  }

  it('say the same about who owns a board', async () => {
    const kind = 'set_board_role' as const;
    const bob = s.bob.personId;
    await expectSame(s.agent, [
      { what: 'a guest', wanted: { kind, ...on, person_id: guest.personId, role: 'owner' }, own: make(s.ana, 'gus') },
      {
        what: 'somebody off it',
        wanted: { kind, ...on, person_id: bob, role: 'owner' },
        own: make(s.ana, s.bobHandle),
      },
      {
        what: 'the last owner',
        wanted: { kind, ...on, person_id: s.ana.personId, role: 'member' },
        own: () => s.ana.call('unmakeBoardOwner', { params: { board, handle: anaHandle } }),
      },
    ]);
  });

  it('say the same about who is added to a board and taken off it', async () => {
    const stranger = await server.person('greta', 'guest');
    const [adding, removing] = ['add_people', 'remove_person'] as const;
    const bob = s.bob.personId;
    await expectSame(s.agent, [
      { what: 'a member', wanted: { kind: adding, ...on, person_id: eve.personId }, own: add(s.ana, 'eve') },
      { what: 'a guest', wanted: { kind: adding, ...on, person_id: stranger.personId }, own: add(s.ana, 'greta') },
      { what: 'nobody', wanted: { kind: adding, ...on, person_id: NOBODY }, own: add(s.ana, 'no-such-person') },
      { what: 'somebody off it', wanted: { kind: removing, ...on, person_id: bob }, own: takeOff(s.ana, s.bobHandle) },
      {
        what: 'the last owner',
        wanted: { kind: removing, ...on, person_id: s.ana.personId },
        own: takeOff(s.ana, anaHandle),
      },
    ]);
  });

  it('say the same about the server: its people, keys and invites', async () => {
    const elsewhere = await newBoard(s.ana);
    const pairing = { initiating_agent_id: s.agent.memberId, work: 'x' };
    const invite = { boards: [elsewhere.id], pairing };
    const role = { kind: 'set_server_role', person_id: guest.personId, role: 'member' } as const;
    const revoke = () => s.ana.call('revokeKey', { params: { key: NO_KEY } });
    await expectSame(s.agent, [
      { what: 'a guest', wanted: role, own: setRole(s.ana, 'gus', 'member') },
      { what: 'no such key', wanted: { kind: 'revoke_key', key_id: NO_KEY }, own: revoke },
      {
        what: 'an agent on another board',
        wanted: invitePeople(invite),
        own: () => s.ana.call('createInvite', { body: invite }),
      },
    ]);
  });

  it('say the same to somebody who is neither an owner nor an admin', async () => {
    const hers = await newAgent(eve, board);
    const bob = s.bob.personId;
    const policy = { nudges: 'off' };
    await expectSame(hers, [
      {
        what: 'an owner',
        wanted: { kind: 'set_board_role', ...on, person_id: eve.personId, role: 'owner' },
        own: make(eve, 'eve'),
      },
      {
        what: 'taken off',
        wanted: { kind: 'remove_person', ...on, person_id: s.ana.personId },
        own: takeOff(eve, anaHandle),
      },
      {
        what: 'removed',
        wanted: { kind: 'remove_person', person_id: bob },
        own: () => eve.call('removePerson', { params: { handle: s.bobHandle } }),
      },
      {
        what: 'an admin',
        wanted: { kind: 'set_server_role', person_id: bob, role: 'admin' },
        own: setRole(eve, s.bobHandle, 'admin'),
      },
      { what: 'an invite', wanted: invitePeople(), own: () => eve.call('createInvite', { body: {} }) },
    ]);
    const changed = wordsOf(await ask(hers, { kind: 'set_board_policy', ...on, policy }));
    const own = wordsOf(await eve.call('updateBoard', { params: { board }, body: { policy } }));
    expect(changed['message']).to.equal(own['message']);
  });
});
