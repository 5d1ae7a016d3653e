/** Who among people: every operation as a board's owner, a member, a guest, a stranger and an admin off the board. */
import { expect } from 'chai';
import type { OperationRow } from '../../../src/contract/operation.ts';
import { type OperationName, operations } from '../../../src/contract/operations.ts';
import type { Api } from '../../support/api.ts';
import { post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { goodCall, type Stage } from '../../support/good-calls.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { putOnBoard } from '../../support/state.ts';

const row = (name: OperationName): OperationRow => operations[name];
const forKeys = (Object.keys(operations) as OperationName[]).filter(
  (name) => row(name).credentials.includes('PK') && name !== 'openStream',
);

const standings = ['owner', 'member', 'guest', 'stranger', 'admin'] as const;
type Standing = (typeof standings)[number];

/** What a guest may not do at all (identity.md, `G:`; boards.md, section 5). */
const notForGuests = [
  'listPeople',
  'listKeys',
  'createKey',
  'revokeKey',
  'createInvite',
  'listInvites',
  'getInvite',
  'updateInvite',
  'revokeInvite',
  'lookUpMachineRequest',
  'approveMachineRequest',
  'refuseMachineRequest',
  'createBoard',
  'updateBoard',
  'archiveBoard',
  'restoreBoard',
  'deleteBoard',
  'setBoardVisibility',
  'addBoardPerson',
  'makeBoardOwner',
  'unmakeBoardOwner',
  'createJoinCode',
  'listApprovals',
  'getApproval',
  'allowApproval',
  'declineApproval',
  'getAllowance',
  'setAllowance',
  'clearAllowance',
  'listJoinCodes',
  'revokeJoinCode',
  'joinBoard',
] as const;

/** Guests have no part in bringing people on (onboarding.md, section 1). */
const onboarding = /^\/v1\/(me\/(approvals|allowance|invite-notices|onboarding-inbox)|pairing)/;

/** What asks for more than being there, and what everybody else is told. */
const forSome: Partial<Record<OperationName, { who: Standing; others: string }>> = {
  updateSettings: { who: 'admin', others: '403 server_admin_required' },
  setPersonRole: { who: 'admin', others: '403 server_admin_required' },
  renamePerson: { who: 'admin', others: '403 server_admin_required' },
  removePerson: { who: 'admin', others: '403 server_admin_required' },
  createInvite: { who: 'admin', others: '403 server_admin_required' },
  updateBoard: { who: 'owner', others: '403 admin_required' },
  setThreadRun: { who: 'owner', others: '403 agent_owner_required' },
  setBoardVisibility: { who: 'owner', others: '403 owner_required' },
  makeBoardOwner: { who: 'owner', others: '403 owner_required' },
  unmakeBoardOwner: { who: 'owner', others: '403 owner_required' },
  removeBoardPerson: { who: 'owner', others: '403 owner_required' },
  archiveBoard: { who: 'owner', others: '403 board_creator_required' },
  restoreBoard: { who: 'owner', others: '403 board_creator_required' },
  deleteBoard: { who: 'owner', others: '403 board_creator_required' },
};

/** The first that applies; whatever is in no list is for everybody, so an operation added later shows here. */
function expected(name: OperationName, standing: Standing): string {
  const { path } = row(name);
  const outside = standing === 'stranger' || standing === 'admin';
  if (outside && path.includes('{board}')) return '404 board_not_found';
  if (outside && path.includes('{message}')) return '404 message_not_found';
  if (outside && name === 'joinBoard') return '404 board_not_found';
  const guestless = (notForGuests as readonly OperationName[]).includes(name) || onboarding.test(path);
  if (standing === 'guest' && guestless) return '403 guest_not_allowed';
  const some = forSome[name];
  return some && some.who !== standing ? some.others : 'served';
}

/** The caller came as far as what the call is about. */
const served = ({ status, code }: { status: number; code: string | undefined }): boolean =>
  status < 400 ||
  (status === 404 && code !== 'board_not_found') ||
  code === 'last_owner' ||
  code === 'board_not_archived';

let boards = 0;

forEachDatabase('every operation, by who somebody is', (engine) => {
  let server: TestServer;
  let people: Record<Standing, Api>;
  let stage: Stage | null = null;
  before(async () => {
    server = await startTestServer(engine);
    people = {
      owner: await server.person('olga'),
      member: await server.person('mia'),
      guest: await server.person('gus', 'guest'),
      stranger: await server.person('sid'),
      admin: server.dana,
    };
  });
  after(() => server.stop());

  for (const standing of standings) {
    it(`answers ${standing === 'owner' || standing === 'admin' ? 'an' : 'a'} ${standing} as the contract says`, async () => {
      for (const name of forKeys) expect(await outcome(name, standing), name).to.equal(expected(name, standing));
    });
  }

  /** A private board with a message, for as many calls as leave it as it is. */
  async function newStage(): Promise<Stage> {
    const board = `stand-${++boards}`;
    await people.owner.ok('createBoard', { body: { name: board, visibility: 'private' } });
    await putOnBoard(server, board, people.member);
    await putOnBoard(server, board, people.guest);
    return { board, message: (await post(people.owner, board, 'hello')).id };
  }

  async function outcome(name: OperationName, standing: Standing): Promise<string> {
    stage ??= await newStage();
    const answer = await people[standing].call(name, goodCall(name, stage));
    // Some operations end what they are about.
    if (answer.status < 400 && row(name).method !== 'GET') stage = null;
    const hidden = expected(name, standing) === '404 message_not_found';
    return !hidden && served(answer) ? 'served' : `${answer.status} ${answer.code}`;
  }
});
