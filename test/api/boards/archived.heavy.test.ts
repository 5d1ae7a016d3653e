import { expect } from 'chai';
import type { OperationRow } from '../../../src/contract/operation.ts';
import { type OperationName, operations } from '../../../src/contract/operations.ts';
import type { Api, Call } from '../../support/api.ts';
import { newBoard, newCode, newDelegation } from '../../support/cast.ts';
import { databaseText } from '../../support/database-text.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { goodCall, type Stage } from '../../support/good-calls.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { putOnBoard } from '../../support/state.ts';
import { goodWays, newScene, type Scene, type Way } from '../../support/ways.ts';
import { newSide, type Pair, proposal, propose, select, selection } from '../pairing/cast.ts';

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
  presence: ['setPresence', 'setLocation', 'reportUsage', 'reportDeliveryQueue'],
  'delivery modes': ['setDeliveryMode'],
  lines: ['setMyLine', 'clearMyLine', 'setAgentLine', 'clearAgentLine'],
  'removing people and agents': ['removeBoardPerson', 'removeMember', 'pruneAgents'],
  leaving: ['leaveBoard', 'leaveSeat'],
  'unmaking owners': ['unmakeBoardOwner'],
  'revoking codes': ['revokeJoinCode'],
  'restoring, deleting': ['archiveBoard', 'restoreBoard', 'deleteBoard'],
};

/** A way to call an operation about a board that is archived then. */
interface ArchiveWay extends Way {
  /** What it answers, where that is not what the operation's row says. */
  answers?: string;
}

const withCall = (caller: Api, call: Call): ArchiveWay => ({ caller, call });

/** The ways that no good call stands for. Where they differ from their operation's row, `answers` says how. */
const ways: Partial<Record<OperationName, (scene: Scene) => Promise<ArchiveWay[]>>> = {
  createInvite: async ({ server, boardId }) => [withCall(server.dana, { body: { boards: [boardId] } })],
  updateBoard: async ({ server, agent, board }) => [
    withCall(server.dana, { params: { board }, body: { title: 'New' } }),
    withCall(agent, { params: { board }, body: { charter: 'New' } }),
    withCall(server.dana, { params: { board }, body: { policy: { visibility: 'open' } } }),
    withCall(server.dana, { params: { board }, body: { agents_add_people: true } }),
    withCall(server.dana, { params: { board }, body: { agents_add_people: false, title: 'New' } }),
    { caller: server.dana, call: { params: { board }, body: { agents_add_people: false } }, answers: '200' },
  ],
  setBoardVisibility: async ({ server, board }) => [
    withCall(server.dana, { params: { board }, body: { visibility: 'open' } }),
    { caller: server.dana, call: { params: { board }, body: { visibility: 'private' } }, answers: '200' },
  ],
  joinBoard: async ({ server, board }) => {
    const delegation = await newDelegation(server.dana);
    const bySession = { board, role: 'member', session: 'codex:s1' };
    await delegation.ok('joinBoard', { body: { ...bySession, session: 'codex:s2' } });
    const { code } = await newCode(server.dana, board);
    return [
      withCall(server.dana, { body: { board, role: 'member' } }),
      withCall(server.dana, { body: { code } }),
      withCall(delegation, { body: bySession }),
      // A new token for the seat that is there.
      withCall(delegation, { body: { ...bySession, session: 'codex:s2' } }),
    ];
  },
  joinAsGuest: async ({ server, board }) => {
    const { code } = await newCode(server.dana, board, { guest: `guest-of-${board}` });
    return [withCall(server.nobody, { body: { code, key_name: 'laptop' } })];
  },
  createPairingRequest: async ({ server, board }) => {
    const pair = await pairAt(server, board);
    return [
      withCall(pair.initiator.person, { body: proposal(pair) }),
      withCall(pair.initiator.agent, { body: proposal(pair) }),
    ];
  },
  choosePairingAgent: async ({ server, board }) => {
    const { pair, pairing } = await proposed(server, board);
    const { person, agentId } = pair.recipient;
    return [withCall(person, { params: { pairing }, body: { agent_id: agentId, generation: 1 } })];
  },
  selectPairingEndpoint: async ({ server, board }) => {
    const { pair, pairing } = await proposed(server, board);
    return [withCall(pair.initiator.person, { body: selection(pairing, 'initiator', pair.initiator) })];
  },
  // An endpoint's credential says nothing of the board: it does not work.
  acceptPairing: async ({ server, board }) => {
    const { pair, pairing, proof } = await proposed(server, board);
    const call = { params: { pairing }, body: { agent_id: pair.recipient.agentId, generation: 1 } };
    return [{ caller: proof, call, answers: '401 unauthorized' }];
  },
  verifyPairing: async ({ server, board }) => {
    const { pairing, proof } = await proposed(server, board);
    const call = { ...goodCall('verifyPairing', { board: '', message: '' }), params: { pairing } };
    return [{ caller: proof, call, answers: '401 unauthorized' }];
  },
};

/** Two sides on this board, which the first person of the server made. */
async function pairAt(server: TestServer, board: string): Promise<Pair> {
  const { id } = await server.dana.ok('getBoard', { params: { board } });
  const rob = await server.person(`rob-of-${board}`);
  await putOnBoard(server, board, rob);
  return {
    board: { id, name: board },
    initiator: await newSide(server.dana, board),
    recipient: await newSide(rob, board),
  };
}

/** Work that was proposed on this board, with the recipient's session selected. */
async function proposed(server: TestServer, board: string): Promise<{ pair: Pair; pairing: string; proof: Api }> {
  const pair = await pairAt(server, board);
  const request = await propose(pair);
  return { pair, pairing: request.id, proof: (await select(server, pair, request, 'recipient')).proof };
}

/** Whether a stream of this board opens. */
async function streamAnswer(api: Api, { board }: Stage): Promise<string> {
  const response = await fetch(`${api.url}/v1/stream?board=${board}`, { headers: api.headers({}) });
  await response.body?.cancel();
  return String(response.status);
}

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
  /** Has few rows, so that all of them are soon compared. */
  let refusing: TestServer;
  before(async () => {
    server = await startTestServer(engine);
    refusing = await startTestServer(engine);
  });
  after(async () => {
    await server.stop();
    await refusing.stop();
  });

  for (const name of names.filter((one) => one !== 'openStream')) {
    const { archived } = row(name);
    it(`${archived === 'refused' ? 'refuses' : archived === 'partly' ? 'refuses part of' : 'allows'} ${name}`, async () => {
      const make = ways[name] ?? ((scene: Scene) => goodWays(name, scene));
      const on = archived ? refusing : server;
      const archivedWays = async (): Promise<ArchiveWay[]> => {
        const scene = await newScene(on);
        const made = await make(scene);
        await on.dana.ok('archiveBoard', { params: { board: scene.board } });
        return made;
      };
      let made = await archivedWays();
      let before: Record<string, string> | null = null;
      for (let n = 0; n < made.length; n++) {
        const { caller, call, answers = archived && '409 board_archived' } = made[n] as ArchiveWay;
        if (answers === '409 board_archived') before ??= await databaseText(on.db);
        const { status, code } = await caller.call(name, call);
        if (answers === undefined) expect(code, `way ${n}`).not.to.equal('board_archived');
        else expect(code === undefined ? `${status}` : `${status} ${code}`, `way ${n}`).to.equal(answers);
        if (code === 'board_archived') {
          const after = await databaseText(on.db);
          expect(after, `way ${n}`).to.deep.equal(before);
          before = after;
        } else if (n + 1 < made.length) {
          // What is not refused may change the board.
          made = await archivedWays();
          before = null;
        }
      }
    });
  }

  it('allows openStream', async () => {
    const scene = await newScene(server);
    await server.dana.ok('archiveBoard', { params: { board: scene.board } });
    for (const api of [server.dana, scene.agent]) expect(await streamAnswer(api, scene)).to.equal('200');
  });

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
