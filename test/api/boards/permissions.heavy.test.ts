/** The permission matrix of boards.md, section 5, cell by cell: what changes a board on one of its own. */
import { expect } from 'chai';
import { type OperationName, operations } from '../../../src/contract/operations.ts';
import type { Api, Call } from '../../support/api.ts';
import { newAgent, newBoard, newDelegation, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { putOnBoard } from '../../support/state.ts';

/** Who asks. An admin asks about an open board, a private one by its name, and a private one by its id. */
const columns = [
  'creator',
  'owner',
  'member',
  'guest',
  'off',
  'admin',
  'admin, private by name',
  'admin, private by id',
  'agent of the creator',
  'agent of a member',
  'agent of a guest',
  'delegation',
] as const;
type Column = (typeof columns)[number];

const y = 'y';
const off = '403 not_on_board';
const hidden = '404 board_not_found';
const person = '403 human_token_required';
const forbidden = '403 forbidden';
const guest = '403 guest_not_allowed';
const noAdmin = '403 admin_required';
const noOwner = '403 owner_required';
const noCreator = '403 board_creator_required';

/** What each column gets, in the order of `columns`. */
type Cells = readonly [string, string, string, string, string, string, string, string, string, string, string, string];

interface Action {
  words: string;
  call: (stage: Stage) => Call & { name: OperationName };
  /** The board is archived before. */
  archived?: true;
  cells: Cells;
}

/** A board with who asks about it. */
interface Board extends Pick<Stage, 'name' | 'agents'> {
  id: string;
  callers: Record<Column, Api>;
}

interface Stage {
  /** How the board is named in this column. */
  board: string;
  /** Its name, however it is asked for. */
  name: string;
  /** Names of an agent of the creator and of one of the member. */
  agents: { creator: string; member: string };
}

const on =
  (name: OperationName, body?: unknown, params: Call['params'] = {}) =>
  ({ board }: Stage) => ({ name, params: { board, ...params }, ...(body === undefined ? {} : { body }) });

const everybody = [y, y, y, y] as const;
const owners = [y, y] as const;

const actions: Action[] = [
  {
    words: 'read the record',
    call: on('getBoard'),
    cells: [...everybody, y, y, hidden, hidden, y, y, y, forbidden],
  },
  {
    words: 'list people',
    call: on('listBoardPeople'),
    cells: [...everybody, y, y, hidden, hidden, y, y, y, forbidden],
  },
  ...(['listMembers', 'listMessages', 'listEvents'] as const).map(
    (name): Action => ({
      words: name,
      call: on(name),
      cells: [...everybody, off, off, hidden, hidden, y, y, y, forbidden],
    }),
  ),
  {
    words: 'title',
    call: on('updateBoard', { title: 'T' }),
    cells: [...owners, noAdmin, guest, off, off, hidden, hidden, y, person, guest, forbidden],
  },
  {
    words: 'task prefix',
    call: ({ board, name }) => ({
      name: 'updateBoard',
      params: { board },
      // One of its own for each board: a prefix is never free again.
      body: { task_prefix: `M${Number(name.replaceAll(/\D/g, '')).toString(36).toUpperCase().padStart(3, '0')}` },
    }),
    cells: [...owners, noAdmin, guest, off, off, hidden, hidden, y, person, guest, forbidden],
  },
  {
    words: 'charter',
    call: on('updateBoard', { charter: 'C' }),
    cells: [...owners, noAdmin, guest, off, off, hidden, hidden, person, person, guest, forbidden],
  },
  ...[
    { words: 'roles', body: { roles: { member: { can: ['post'] } } }, mem: noAdmin },
    { words: 'policy', body: { policy: { nudges: 'off' } }, mem: noAdmin },
    { words: 'agents_add_people', body: { agents_add_people: false }, mem: noOwner },
  ].map(
    ({ words, body, mem }): Action => ({
      words,
      call: on('updateBoard', body),
      cells: [...owners, mem, guest, off, off, hidden, hidden, person, person, guest, forbidden],
    }),
  ),
  ...(['open', 'private'] as const).map(
    (visibility): Action => ({
      words: `turn ${visibility}`,
      call: on('setBoardVisibility', { visibility }),
      cells: [...owners, noOwner, guest, off, off, hidden, hidden, person, person, person, forbidden],
    }),
  ),
  {
    words: 'archive',
    call: on('archiveBoard'),
    cells: [y, noCreator, noCreator, guest, noCreator, y, hidden, y, y, noCreator, guest, forbidden],
  },
  {
    words: 'restore',
    archived: true,
    call: on('restoreBoard'),
    cells: [y, noCreator, noCreator, guest, noCreator, y, hidden, y, y, noCreator, guest, forbidden],
  },
  {
    words: 'delete',
    archived: true,
    call: on('deleteBoard'),
    cells: [y, noCreator, noCreator, guest, noCreator, y, hidden, y, person, person, person, forbidden],
  },
  {
    words: 'add another person',
    call: on('addBoardPerson', { handle: 'another' }),
    // Both agents have the role's grant, a session and a board that allows it.
    cells: [...owners, y, guest, off, off, hidden, hidden, y, y, guest, forbidden],
  },
  {
    words: 'remove a person',
    call: on('removeBoardPerson', undefined, { handle: 'extra' }),
    cells: [...owners, noOwner, noOwner, off, off, hidden, hidden, person, person, person, forbidden],
  },
  {
    words: 'leave',
    call: on('leaveBoard'),
    cells: [...everybody, off, off, hidden, hidden, person, person, person, forbidden],
  },
  {
    words: 'make an owner',
    call: on('makeBoardOwner', { handle: 'extra' }),
    cells: [...owners, noOwner, guest, off, off, hidden, hidden, person, person, person, forbidden],
  },
  {
    words: 'unmake an owner',
    call: on('unmakeBoardOwner', undefined, { handle: 'owner' }),
    cells: [...owners, noOwner, guest, off, off, hidden, hidden, person, person, person, forbidden],
  },
  {
    words: "remove a member's agent",
    call: ({ board, agents }) => ({ name: 'removeMember', params: { board, member: agents.member } }),
    cells: [...owners, y, noOwner, off, y, hidden, '404 agent_not_found', person, person, person, forbidden],
  },
  {
    words: "set the delivery mode of a member's agent",
    call: ({ board, agents }) => ({
      name: 'setDeliveryMode',
      params: { board, member: agents.member },
      body: { mode: 'all' },
    }),
    cells: [
      ...['403 agent_owner_required', '403 agent_owner_required', y, '403 agent_owner_required'],
      // An admin hears whose it is to set, on the board or not.
      ...[off, '403 agent_owner_required', hidden, hidden, person, person, person, forbidden],
    ] as unknown as Cells,
  },
  {
    words: 'make a pairing code',
    call: on('createJoinCode', { role: 'member' }),
    cells: [...owners, y, guest, off, off, hidden, hidden, y, y, guest, forbidden],
  },
  {
    words: 'make a guest code',
    call: on('createJoinCode', { role: 'member', guest: 'nobody-yet' }),
    cells: [...owners, y, guest, off, off, hidden, hidden, person, person, person, forbidden],
  },
  {
    words: 'list codes',
    call: on('listJoinCodes'),
    cells: [...owners, y, guest, off, off, hidden, hidden, y, y, guest, forbidden],
  },
];

forEachDatabase('the permission matrix', (engine) => {
  let server: TestServer;
  const people = {} as Record<'creator' | 'owner' | 'member' | 'guest' | 'off' | 'admin', Api>;
  let delegation: Api;
  /** A guest with agents. */
  let gil: Api;
  before(async () => {
    server = await startTestServer(engine);
    for (const handle of ['creator', 'owner', 'member', 'off'] as const) people[handle] = await server.person(handle);
    people.guest = await server.person('guest', 'guest');
    gil = await server.person('gil', 'guest');
    people.admin = server.dana;
    for (const handle of ['extra', 'another']) await server.person(handle);
    delegation = await newDelegation(people.creator);
  });
  after(() => server.stop());

  const setRole = (api: Api, role: string) =>
    server.db.write((tx) => tx.change((db) => db('people').where('id', api.personId).update({ server_role: role })));

  /** A board with one of each kind on it. @param column the only one that asks, if there is only one */
  async function stage({ archived }: Action, hides: boolean, column?: Column): Promise<Board> {
    const { name, id } = await newBoard(people.creator, hides ? { visibility: 'private' } : {});
    const params = { board: name };
    for (const handle of ['owner', 'member', 'extra']) {
      await people.creator.ok('addBoardPerson', { params, body: { handle } });
    }
    await people.creator.ok('makeBoardOwner', { params, body: { handle: 'owner' } });
    await putOnBoard(server, name, people.guest);
    await post(people.creator, name, 'hello');
    const agents = {
      creator: await newAgent(people.creator, name, { session: 'codex:1' }),
      member: await newAgent(people.member, name, { session: 'codex:2' }),
    };
    const withGuest = !hides && (column ?? 'agent of a guest') === 'agent of a guest';
    const ofGuest = withGuest ? await guestsAgent(name) : gil;
    if (archived) await people.creator.ok('archiveBoard', { params });
    const callers = {
      ...people,
      'admin, private by name': people.admin,
      'admin, private by id': people.admin,
      'agent of the creator': agents.creator,
      'agent of a member': agents.member,
      'agent of a guest': ofGuest,
      delegation,
    };
    return { id, name, agents: { creator: agents.creator.name, member: agents.member.name }, callers };
  }

  /** A guest's agent, made while its person was a member: how guests bring agents is another story. */
  async function guestsAgent(board: string): Promise<Api> {
    await putOnBoard(server, board, gil);
    await setRole(gil, 'member');
    const agent = await newAgent(gil, board, { session: 'codex:3' });
    await setRole(gil, 'guest');
    return agent;
  }

  async function answer(action: Action, column: Column, { id, name, agents, callers }: Board): Promise<string> {
    const { name: operation, ...call } = action.call({
      board: column === 'admin, private by id' ? id : name,
      name,
      agents,
    });
    const { status, code } = await callers[column].call(operation, call);
    return code === undefined ? y : `${status} ${code}`;
  }

  for (const action of actions) {
    it(`holds for: ${action.words}`, async () => {
      // What is refused or only reads changes nothing, so all of it may be asked of the same two boards.
      const [open, hidden] = [await stage(action, false), await stage(action, true)];
      const reads = operations[action.call({ board: '', name: '0', agents: open.agents }).name].method === 'GET';
      const answers: string[] = [];
      for (const [n, column] of columns.entries()) {
        const hides = column.startsWith('admin, private');
        const own = action.cells[n] === y && !reads;
        answers.push(await answer(action, column, own ? await stage(action, hides, column) : hides ? hidden : open));
      }
      const shown = (cells: readonly string[]) => Object.fromEntries(columns.map((column, n) => [column, cells[n]]));
      expect(shown(answers)).to.deep.equal(shown(action.cells));
    });
  }
});
