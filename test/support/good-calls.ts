/** One call per operation that succeeds for whoever may make it, so that tests can walk the whole table. */
import type { OperationName } from '../../src/contract/operations.ts';
import type { Call } from './api.ts';

/** What the calls are about: made once per suite, so a call must not use it up. */
export interface Stage {
  board: string;
  /** Id of a message on it. */
  message: string;
}

interface Good extends Omit<Call, 'params'> {
  params?: Call['params'];
  /** Refusals that callers meet only after their credential was taken, by what they are or what the call names. */
  later?: readonly string[];
}

type GoodCall = (stage: Stage) => Good;

const noInvite = 'inv_01K5A0000000000000000000V1';

const noApproval = (): Good => ({
  params: { approval: 'apr_01K5A0000000000000000000A1' },
  later: ['approval_not_found'],
});

const noPairing = (): Good => ({
  params: { pairing: 'prq_01K5A0000000000000000000P1' },
  later: ['pairing_not_found'],
});

const noTask = (): Good => ({ params: { task: 'XX-999999999' }, later: ['task_not_found'] });

export const goodCalls: Record<OperationName, GoodCall> = {
  getInfo: () => ({}),
  getMe: () => ({}),
  createDelegation: () => ({ body: { name: 'laptop' } }),
  listDelegations: () => ({}),
  endDelegation: () => ({ params: { delegation: 'dlg_01K5A0000000000000000000D1' }, later: ['delegation_not_found'] }),
  createInvite: () => ({ body: {}, later: ['server_admin_required'] }),
  listInvites: () => ({}),
  getInvite: () => ({ params: { invite: noInvite }, later: ['invite_not_found'] }),
  updateInvite: () => ({
    params: { invite: noInvite },
    body: { suggested_handle: 'maya' },
    later: ['invite_not_found'],
  }),
  revokeInvite: () => ({ params: { invite: noInvite }, later: ['invite_not_found'] }),
  previewInvite: () => ({}),
  connectPerson: () => ({
    body: { invite: 'abi_none', handle: 'nobody-here', key_name: 'box' },
    later: ['invite_invalid'],
  }),
  getOnboardingReceipt: () => ({ later: ['not_found'] }),
  createMachineRequest: () => ({ body: { handle: 'nobody-here', label: 'box' } }),
  lookUpMachineRequest: () => ({ body: { code: '000-000' }, later: ['machine_request_invalid'] }),
  approveMachineRequest: () => ({ body: { code: '000-000' }, later: ['machine_request_invalid'] }),
  refuseMachineRequest: () => ({ body: { code: '000-000' }, later: ['machine_request_invalid'] }),
  collectMachineKey: () => ({ body: { secret: 'abc_none' }, later: ['machine_request_invalid'] }),
  createLoginCode: () => ({}),
  previewLoginCode: () => ({ body: { code: 'x' }, later: ['login_code_invalid'] }),
  createBrowserSession: () => ({ body: { code: 'x' }, later: ['login_code_invalid'] }),
  listBrowserSessions: () => ({}),
  endBrowserSession: () => ({
    params: { session: 'ses_01K5A0000000000000000000Z9' },
    later: ['browser_session_not_found'],
  }),
  getMyBrowserSession: () => ({}),
  endMyBrowserSession: () => ({}),
  createBrowserToken: () => ({ body: { code: 'x' }, later: ['login_code_invalid'] }),
  endAllBrowserSessions: () => ({}),
  updateMe: () => ({ body: { display_name: 'Somebody' } }),
  getMidturnPolicy: () => ({}),
  setMidturnPolicy: () => ({ body: { policy: 'my-agents' } }),
  getSettings: () => ({}),
  updateSettings: () => ({ body: { board_creation: 'members' }, later: ['server_admin_required'] }),
  listPeople: () => ({ query: { handle: 'nobody-here' }, later: ['person_not_found'] }),
  setPersonRole: () => ({
    params: { handle: 'nobody-here' },
    body: { server_role: 'member' },
    later: ['server_admin_required'],
  }),
  renamePerson: () => ({
    params: { handle: 'nobody-here' },
    body: { handle: 'somebody' },
    later: ['server_admin_required'],
  }),
  listKeys: () => ({}),
  createKey: () => ({ body: { name: 'spare' } }),
  revokeKey: () => ({ params: { key: 'key_01K5A0000000000000000000K1' }, later: ['key_not_found'] }),
  removePerson: () => ({
    params: { handle: 'nobody-here' },
    later: ['person_not_found', 'server_admin_required'],
  }),
  createBoard: () => ({ body: {} }),
  listBoards: () => ({}),
  getBoard: () => ({}),
  updateBoard: () => ({ body: { title: 'The stage' }, later: ['admin_required', 'human_token_required'] }),
  archiveBoard: () => ({ later: ['board_creator_required'] }),
  restoreBoard: () => ({ later: ['board_creator_required'] }),
  deleteBoard: () => ({ later: ['board_creator_required', 'board_not_archived'] }),
  setBoardVisibility: () => ({ body: { visibility: 'open', dry_run: true }, later: ['owner_required'] }),
  listTemplates: () => ({}),
  leaveBoard: () => ({ later: ['last_owner'] }),
  listBoardPeople: () => ({}),
  addBoardPerson: () => ({ body: { handle: 'nobody-here' }, later: ['person_not_found', 'agent_session_required'] }),
  makeBoardOwner: () => ({ body: { handle: 'nobody-here' }, later: ['person_not_on_board', 'owner_required'] }),
  unmakeBoardOwner: () => ({ params: { handle: 'nobody-here' }, later: ['person_not_on_board', 'owner_required'] }),
  removeBoardPerson: () => ({ params: { handle: 'nobody-here' }, later: ['person_not_on_board', 'owner_required'] }),
  listMembers: () => ({}),
  getMember: () => ({ params: { member: 'nobody-here' }, later: ['member_not_found'] }),
  removeMember: () => ({ params: { member: 'nobody-here' }, later: ['agent_not_found'] }),
  leaveSeat: () => ({}),
  pruneAgents: () => ({ body: { disconnected_for: 3600, dry_run: true } }),
  createJoinCode: () => ({ body: { role: 'member' } }),
  listJoinCodes: () => ({}),
  revokeJoinCode: () => ({ params: { code_id: 'jc_01K5A0000000000000000000J1' }, later: ['join_code_not_found'] }),
  createDelegatedBoard: () => ({ body: { session: 'codex:s1', harness: 'codex' }, key: 'a board' }),
  joinBoard: ({ board }) => ({ body: { board, role: 'member', session: 'codex:s1' } }),
  joinAsGuest: () => ({ body: { code: '000-000', key_name: 'laptop' }, later: ['join_code_invalid'] }),
  setDeliveryMode: () => ({
    params: { member: 'nobody-here' },
    body: { mode: 'all' },
    later: ['agent_not_found', 'agent_owner_required'],
  }),
  setMyLine: () => ({ body: { kind: 'working', text: 'the cap' } }),
  clearMyLine: () => ({}),
  setAgentLine: () => ({
    params: { member: 'nobody-here' },
    body: { kind: 'working', text: 'the cap' },
    later: ['member_not_found'],
  }),
  clearAgentLine: () => ({ params: { member: 'nobody-here' }, later: ['member_not_found'] }),
  setPresence: () => ({ body: { presence: 'idle' } }),
  getDeliveryQueue: () => ({}),
  reportDeliveryQueue: () => ({ body: { session: 'codex:s1', boot: '1', expected_epoch: 0 } }),
  reportUsage: () => ({ body: { turns: 1, input_tokens: 10 } }),
  setLocation: () => ({ body: { harness: 'codex', session_id: 's1', folder: '/work' } }),
  listMyAgents: () => ({}),
  postMessage: () => ({ body: { body: 'hi' } }),
  listMessages: () => ({}),
  getMessageBySeq: () => ({}),
  getMessage: () => ({}),
  listReplies: () => ({}),
  listThreads: () => ({}),
  listReceipts: () => ({}),
  addReaction: () => ({ params: { reaction: 'eyes' } }),
  removeReaction: () => ({ params: { reaction: 'eyes' } }),
  listReactions: () => ({}),
  setThreadRun: () => ({ body: { action: 'continue' }, later: ['agent_owner_required'] }),
  setAgentBudget: () => ({
    params: { member: 'nobody-here' },
    body: { wakes: 'off' },
    later: ['agent_not_found', 'agent_owner_required'],
  }),
  releaseAgent: () => ({
    params: { member: 'nobody-here' },
    body: { action: 'more' },
    later: ['agent_not_found', 'agent_owner_required'],
  }),
  listNeeds: () => ({}),
  search: () => ({ query: { q: 'hi' } }),
  readInbox: () => ({}),
  ackInbox: () => ({ body: { up_to: 0 } }),
  ackBoard: () => ({ body: { up_to: 0 } }),
  listEvents: () => ({}),
  listTasks: () => ({}),
  listAllTasks: () => ({}),
  createTask: () => ({ body: { title: 'a task' } }),
  getTask: noTask,
  listTaskTexts: noTask,
  updateTask: () => ({ ...noTask(), body: { title: 'another title' } }),
  startTask: noTask,
  joinTask: noTask,
  finishTask: () => ({ ...noTask(), body: { note: 'done' } }),
  dropTask: noTask,
  listAsks: () => ({}),
  listFiles: () => ({}),
  uploadFile: () => ({ query: { name: 'stage.txt' }, bytes: 'on the stage', later: ['file_exists'] }),
  getFile: () => ({ params: { file: 'nothing.txt' }, later: ['file_not_found'] }),
  updateFile: () => ({ params: { file: 'nothing.txt' }, body: { maintained: true }, later: ['file_not_found'] }),
  removeFile: () => ({ params: { file: 'nothing.txt' }, later: ['file_not_found'] }),
  listFileVersions: () => ({ params: { file: 'nothing.txt' }, later: ['file_not_found'] }),
  downloadFile: () => ({ params: { file: 'nothing.txt', version: 'latest' }, later: ['file_not_found'] }),
  listFilePosts: () => ({ params: { file: 'nothing.txt' }, later: ['file_not_found'] }),
  approveFile: () => ({ params: { file: 'nothing.txt' }, body: { version: 1 }, later: ['file_not_found'] }),
  unapproveFile: () => ({ params: { file: 'nothing.txt' }, later: ['file_not_found'] }),
  requestAdminAction: () => ({
    body: { kind: 'revoke_key', key_id: 'key_01K5A0000000000000000000K1' },
    later: ['key_not_found'],
  }),
  listApprovals: () => ({}),
  getApproval: noApproval,
  allowApproval: noApproval,
  declineApproval: noApproval,
  collectApproval: noApproval,
  listInviteNotices: () => ({}),
  getOnboardingInbox: () => ({}),
  listNotices: () => ({}),
  listClaims: () => ({}),
  ackNotices: () => ({ body: { ids: ['ntc_01K5A0000000000000000000N1'] } }),
  createPairingRequest: () => ({
    body: {
      board_id: 'brd_01K5A0000000000000000000B1',
      recipient_id: 'hum_01K5A0000000000000000000H1',
      initiating_agent_id: 'mem_01K5A0000000000000000000M1',
      work: 'review the plan',
    },
    later: ['pairing_not_found'],
  }),
  listPairingRequests: () => ({}),
  getPairingRequest: noPairing,
  choosePairingAgent: () => ({ ...noPairing(), body: { agent_id: 'mem_01K5A0000000000000000000M1', generation: 1 } }),
  selectPairingEndpoint: () => ({
    body: {
      request_id: 'prq_01K5A0000000000000000000P1',
      side: 'initiator',
      agent_id: 'mem_01K5A0000000000000000000M1',
      session_binding: `sha256:${'0'.repeat(64)}`,
      generation: 1,
      client_token: `abp_${'A'.repeat(43)}`,
    },
    later: ['pairing_not_found'],
  }),
  acceptPairing: () => ({ ...noPairing(), body: { agent_id: 'mem_01K5A0000000000000000000M1', generation: 1 } }),
  verifyPairing: () => ({
    ...noPairing(),
    body: { generation: 1, direction: 'initiator_to_recipient', ping_seq: 1, reply_seq: 2, handoff_id: 'hnd_1' },
  }),
  declinePairing: noPairing,
  cancelPairing: noPairing,
  getAllowance: () => ({}),
  setAllowance: () => ({ body: { categories: [] } }),
  clearAllowance: () => ({}),
  listAllowanceRevisions: () => ({}),
  openStream: () => ({}),
};

/** The call with the path parameters of the stage. */
export function goodCall(name: OperationName, stage: Stage): Call {
  const { params, later: _, ...call } = goodCalls[name](stage);
  return { params: { board: stage.board, message: stage.message, seq: 3, ...params }, ...call };
}

/** Whether this operation took the caller's credential, whatever it said to the rest of the call. */
export const isServed = (
  name: OperationName,
  stage: Stage,
  { status, code }: { status: number; code?: string },
): boolean => status < 400 || (goodCalls[name](stage).later ?? []).includes(code ?? '');
