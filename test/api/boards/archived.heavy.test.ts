import { expect } from 'chai';
import type { OperationRow } from '../../../src/contract/operation.ts';
import { type OperationName, operations } from '../../../src/contract/operations.ts';
import type { PairingSide } from '../../../src/contract/types.ts';
import type { Api, Call } from '../../support/api.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { goodCall } from '../../support/good-calls.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { codeOf, type Pair, pairOn, proposal, propose, select, selection } from '../pairing/cast.ts';

const names = Object.keys(operations) as OperationName[];
const row = (name: OperationName): OperationRow => operations[name];

/** The contract's words for what an archive refuses (interface.md, States; boards.md, section 7), as operations. */
const refused = {
  'new messages': ['postMessage'],
  reactions: ['addReaction', 'removeReaction'],
  tasks: ['createTask', 'updateTask', 'startTask', 'joinTask', 'finishTask', 'dropTask'],
  'titles, charter edits, policy': ['updateBoard'],
  'membership changes, raising board roles': ['addBoardPerson', 'makeBoardOwner'],
  'seats, every form of join': ['joinBoard'],
  'join codes': ['createJoinCode'],
  'making the board open': ['setBoardVisibility'],
  'tasks, asks': ['createTask', 'updateTask', 'startTask', 'joinTask', 'finishTask', 'dropTask'],
};

/** And for what goes on. */
const allowed = {
  'read positions': ['ackBoard', 'ackInbox'],
  presence: ['setPresence', 'setLocation', 'reportDeliveryQueue'],
  'delivery modes': ['setDeliveryMode'],
  lines: ['setMyLine', 'clearMyLine', 'setAgentLine', 'clearAgentLine'],
  'removing people and agents': ['removeBoardPerson', 'removeMember', 'pruneAgents'],
  leaving: ['leaveBoard', 'leaveSeat'],
  'unmaking owners': ['unmakeBoardOwner'],
  'revoking codes': ['revokeJoinCode'],
  'restoring, deleting': ['archiveBoard', 'restoreBoard', 'deleteBoard'],
};

/** What is about one board: by its name, by a message on it, or because an agent is on no other. */
const ofBoards = names.filter(
  (name) => name !== 'openStream' && (/\{(board|message)\}|^\/v1\/me\//.test(row(name).path) || row(name).archived),
);

type OfWork = (pair: Pair, pairing: string) => { side: PairingSide; call: Call };

/** What is about a board by a proposal of work on it: who calls, and what with. */
const ofWork: Partial<Record<OperationName, OfWork>> = {
  createPairingRequest: (pair) => ({ side: 'initiator', call: { body: proposal(pair) } }),
  choosePairingAgent: ({ recipient }, pairing) => ({
    side: 'recipient',
    call: { params: { pairing }, body: { agent_id: recipient.agentId, generation: 1 } },
  }),
  selectPairingEndpoint: ({ initiator }, pairing) => ({
    side: 'initiator',
    call: { body: selection(pairing, 'initiator', initiator) },
  }),
  acceptPairing: ({ recipient }, pairing) => ({
    side: 'recipient',
    call: { params: { pairing }, body: { agent_id: recipient.agentId, generation: 1 } },
  }),
  verifyPairing: (_pair, pairing) => ({
    side: 'recipient',
    call: { ...goodCall('verifyPairing', { board: '', message: '' }), params: { pairing } },
  }),
};

describe('the table of operations', () => {
  it('says of each operation what an archived board says of it', () => {
    for (const [words, operationsOf] of Object.entries(refused)) {
      for (const name of operationsOf.filter((one) => one in operations)) {
        expect(row(name as OperationName).archived, `${words}: ${name}`).to.be.oneOf(['refused', 'partly']);
      }
    }
    for (const [words, operationsOf] of Object.entries(allowed)) {
      for (const name of operationsOf.filter((one) => one in operations)) {
        expect(row(name as OperationName).archived, `${words}: ${name}`).to.equal(undefined);
      }
    }
  });
});

forEachDatabase('an archived board', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  for (const name of ofBoards) {
    const { archived, credentials } = row(name);
    it(`${archived === 'refused' ? 'refuses' : archived === 'partly' ? 'refuses part of' : 'allows'} ${name}`, async () => {
      for (const kind of ['PK', 'AG', 'PC'] as const) {
        if (!credentials.includes(kind)) continue;
        const work = ofWork[name];
        if (work) {
          // An endpoint's credential says nothing of the board: it does not work.
          const expected = kind === 'PC' ? '401 unauthorized' : '409 board_archived';
          expect(await onArchive(name, kind, work), `${name} ${kind}`).to.equal(expected);
          continue;
        }
        const { name: board } = await newBoard(server.dana);
        const message = (await post(server.dana, board, 'before')).id;
        const agent = await newAgent(server.dana, board);
        const call: Call = goodCall(name, { board, message });
        await server.dana.ok('archiveBoard', { params: { board } });
        const caller: Api = kind === 'AG' ? agent : server.dana;
        const { status, code } = await caller.call(name, call);
        if (archived === undefined) expect(code, name).not.to.equal('board_archived');
        else expect(`${status} ${code}`, name).to.equal('409 board_archived');
      }
    });
  }

  /** The answer to a call about proposed work whose board is archived. */
  async function onArchive(name: OperationName, kind: 'PK' | 'AG' | 'PC', work: OfWork): Promise<string> {
    const pair = await pairOn(server);
    const request = await propose(pair);
    const proof = (await select(server, pair, request, 'recipient')).proof;
    await pair.initiator.person.ok('archiveBoard', { params: { board: pair.board.name } });
    const { side, call } = work(pair, request.id);
    const caller = kind === 'PC' ? proof : kind === 'AG' ? pair[side].agent : pair[side].person;
    return codeOf(await caller.call(name, call));
  }

  it('names those who can restore it, never an ordinary owner', async () => {
    const pam = await server.person('pam');
    const { name: board } = await newBoard(pam);
    await pam.ok('addBoardPerson', { params: { board }, body: { handle: (await server.dana.ok('getMe')).name } });
    await pam.ok('archiveBoard', { params: { board } });
    const { body } = await server.dana.call('postMessage', { params: { board }, body: { body: 'x' } });
    const { hint } = (body as unknown as { error: { hint: string } }).error;
    expect(hint).to.include('creator').and.to.include('server admin').and.not.to.include('owner');
  });
});
