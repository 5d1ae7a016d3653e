/** Which schemas an operation has, by the operation's name. Loaded by the server and the tests, not by a short command. */
import { z } from 'zod';
import type { OperationName } from '../operations.ts';
import * as approvals from './approvals.ts';
import * as asks from './asks.ts';
import * as boards from './boards.ts';
import * as browsers from './browsers.ts';
import { id } from './common.ts';
import * as delegations from './delegations.ts';
import * as endings from './endings.ts';
import * as events from './events.ts';
import * as files from './files.ts';
import * as identity from './identity.ts';
import * as invites from './invites.ts';
import * as joining from './joining.ts';
import * as keys from './keys.ts';
import * as lines from './lines.ts';
import * as machines from './machines.ts';
import * as messages from './messages.ts';
import * as pairing from './pairing.ts';
import * as people from './people.ts';
import * as search from './search.ts';
import * as seats from './seats.ts';
import * as tasks from './tasks.ts';

interface OperationSchemas {
  /** Patterns of the path parameters whose breach is 400. `{board}` and `{member}` are not here: theirs is the 404 of a missing one. */
  params?: z.ZodObject;
  query?: z.ZodType;
  body?: z.ZodType;
  answer: z.ZodType;
}

const taskParam = z.object({ task: tasks.taskSelector });
const messageParam = z.object({ message: id('msg') });
const reactionParams = z.object({ message: id('msg'), reaction: messages.reactionName });
const approvalParam = z.object({ approval: id('apr') });
const pairingParam = z.object({ pairing: id('prq') });
const inviteParam = z.object({ invite: id('inv') });
const seqParam = z.object({
  seq: z
    .string()
    .regex(/^[1-9]\d{0,15}$/, 'must be a whole number of at least 1')
    .transform(Number),
});

export const schemas = {
  getInfo: { answer: identity.serverInfo },
  getMe: { answer: identity.me },
  createDelegation: { body: delegations.newDelegationBody, answer: delegations.newDelegation },
  listDelegations: { query: delegations.listDelegationsQuery, answer: delegations.delegationList },
  endDelegation: { params: z.object({ delegation: id('dlg') }), answer: delegations.delegationRecord },
  createInvite: { body: invites.createInviteBody, answer: invites.serverInvite },
  listInvites: { query: invites.listInvitesQuery, answer: invites.inviteList },
  getInvite: { params: inviteParam, answer: invites.serverInviteMetadata },
  updateInvite: { params: inviteParam, body: invites.updateInviteBody, answer: invites.serverInviteMetadata },
  revokeInvite: { params: inviteParam, answer: invites.revokedInvite },
  previewInvite: { answer: invites.invitePreview },
  connectPerson: { body: invites.connectBody, answer: invites.connectResult },
  getOnboardingReceipt: { answer: invites.onboardingReceipt },
  createMachineRequest: { body: machines.createMachineRequestBody, answer: machines.newMachineRequest },
  lookUpMachineRequest: { body: machines.machineCodeBody, answer: machines.machineRequest },
  approveMachineRequest: { body: machines.machineCodeBody, answer: machines.machineRequest },
  refuseMachineRequest: { body: machines.machineCodeBody, answer: machines.machineRequest },
  collectMachineKey: { body: machines.collectMachineKeyBody, answer: machines.machineKey },
  createLoginCode: { answer: browsers.loginCode },
  previewLoginCode: { body: browsers.previewLoginCodeBody, answer: browsers.loginCodePreview },
  createBrowserSession: { body: browsers.createBrowserSessionBody, answer: browsers.currentBrowserSession },
  listBrowserSessions: { query: browsers.listBrowserSessionsQuery, answer: browsers.browserSessionList },
  endBrowserSession: { params: z.object({ session: id('ses') }), answer: browsers.browserSession },
  getMyBrowserSession: { answer: browsers.currentBrowserSession },
  endMyBrowserSession: { answer: browsers.browserSession },
  createBrowserToken: { body: browsers.createBrowserTokenBody, answer: browsers.browserToken },
  endAllBrowserSessions: { answer: browsers.endedSessions },
  updateMe: { body: identity.updateMeBody, answer: identity.me },
  getMidturnPolicy: { answer: identity.midturn },
  setMidturnPolicy: { body: identity.setMidturnBody, answer: identity.midturn },
  getSettings: { answer: identity.settings },
  updateSettings: { body: identity.updateSettingsBody, answer: identity.settings },
  listPeople: { query: people.listPeopleQuery, answer: people.peopleAnswer },
  setPersonRole: { params: people.personParam, body: people.setRoleBody, answer: people.personChange },
  renamePerson: { params: people.personParam, body: people.renameBody, answer: people.personChange },
  listKeys: { query: keys.listKeysQuery, answer: keys.keyList },
  createKey: { body: keys.createKeyBody, answer: keys.newAccessKey },
  revokeKey: { params: keys.keyParam, query: keys.revokeKeyQuery, answer: keys.revokedKey },
  removePerson: { params: endings.handleParam, query: endings.removePersonQuery, answer: endings.personRemoval },
  createBoard: { body: boards.createBoardBody, answer: boards.board },
  listBoards: { query: boards.listBoardsQuery, answer: boards.boardList },
  getBoard: { answer: boards.board },
  updateBoard: { body: boards.updateBoardBody, answer: boards.board },
  archiveBoard: { answer: boards.lifecycleReceipt },
  restoreBoard: { answer: boards.lifecycleReceipt },
  deleteBoard: { answer: boards.lifecycleReceipt },
  setBoardVisibility: { body: boards.setVisibilityBody, answer: boards.visibilityChange },
  listTemplates: { answer: boards.templateList },
  leaveBoard: { answer: boards.boardPerson },
  listBoardPeople: { query: boards.pageOfMembersQuery, answer: boards.boardPeople },
  addBoardPerson: { body: boards.handleBody, answer: boards.boardPerson },
  makeBoardOwner: { body: boards.handleBody, answer: boards.boardPerson },
  unmakeBoardOwner: { answer: boards.boardPerson },
  removeBoardPerson: { params: endings.handleParam, answer: boards.boardPerson },
  listMembers: { query: boards.listMembersQuery, answer: boards.memberList },
  getMember: { answer: boards.memberRecord },
  removeMember: { answer: endings.removedMember },
  leaveSeat: { answer: endings.agentSeat },
  pruneAgents: { body: endings.pruneBody, answer: endings.pruning },
  createJoinCode: { body: joining.createJoinCodeBody, answer: joining.newJoinCode },
  listJoinCodes: { query: joining.listJoinCodesQuery, answer: joining.joinCodeList },
  revokeJoinCode: { params: z.object({ code_id: id('jc') }), answer: joining.joinCode },
  createDelegatedBoard: { body: joining.delegatedBoardBody, answer: joining.joinResult },
  joinBoard: { body: joining.joinBody, answer: joining.joinResult },
  joinAsGuest: { body: joining.guestJoinBody, answer: joining.guestJoinResult },
  setMyLine: { body: lines.setLineBody, answer: boards.memberRecord },
  clearMyLine: { answer: boards.memberRecord },
  setAgentLine: { body: lines.setLineBody, answer: boards.memberRecord },
  clearAgentLine: { answer: boards.memberRecord },
  listMyAgents: { query: boards.ownAgentsQuery, answer: boards.ownAgents },
  setDeliveryMode: { body: seats.setModeBody, answer: seats.modeSet },
  setPresence: { body: seats.setPresenceBody, answer: seats.presenceReport },
  setLocation: { body: seats.setLocationBody, answer: seats.agentLocation },
  getDeliveryQueue: { answer: seats.deliveryQueue },
  reportDeliveryQueue: { body: seats.reportQueueBody, answer: seats.queueReported },
  postMessage: { body: messages.postMessageBody, answer: messages.message },
  listMessages: { query: messages.listMessagesQuery, answer: messages.messagePage },
  getMessageBySeq: { params: seqParam, answer: messages.oneMessage },
  getMessage: { params: messageParam, answer: messages.oneMessage },
  listReplies: { params: messageParam, query: messages.listRepliesQuery, answer: messages.replyPage },
  listThreads: { query: messages.listThreadsQuery, answer: messages.threadPage },
  listReceipts: { params: seqParam, answer: messages.receipts },
  addReaction: { params: reactionParams, answer: messages.message },
  removeReaction: { params: reactionParams, answer: messages.message },
  listReactions: { params: messageParam, answer: messages.reactionList },
  search: { query: search.searchQuery, answer: search.searchPage },
  readInbox: { query: messages.readInboxQuery, answer: messages.inbox },
  ackInbox: { body: messages.ackBody, answer: messages.inboxAck },
  ackBoard: { body: messages.ackBody, answer: messages.boardAck },
  listEvents: { query: events.listEventsQuery, answer: events.eventPage },
  openStream: { query: events.openStreamQuery, answer: z.string() },
  listTasks: { query: tasks.listTasksQuery, answer: tasks.taskList },
  listAllTasks: { query: tasks.listAllTasksQuery, answer: tasks.allTaskList },
  createTask: { body: tasks.createTaskBody, answer: tasks.task },
  getTask: { params: taskParam, answer: tasks.task },
  listTaskTexts: { params: taskParam, query: tasks.listTaskTextsQuery, answer: tasks.taskTexts },
  updateTask: { params: taskParam, body: tasks.updateTaskBody, answer: tasks.task },
  startTask: { params: taskParam, answer: tasks.task },
  joinTask: { params: taskParam, answer: tasks.task },
  finishTask: { params: taskParam, body: tasks.finishTaskBody, answer: tasks.task },
  dropTask: { params: taskParam, body: tasks.dropTaskBody, answer: tasks.task },
  listAsks: { query: asks.listAsksQuery, answer: asks.askList },
  listFiles: { query: files.listFilesQuery, answer: files.fileList },
  uploadFile: { query: files.uploadFileQuery, answer: files.boardFile },
  getFile: { params: files.fileParam, answer: files.fileDetail },
  updateFile: { params: files.fileParam, body: files.updateFileBody, answer: files.boardFile },
  removeFile: { params: files.fileParam, query: files.removeFileQuery, answer: files.boardFile },
  listFileVersions: { params: files.fileParam, query: files.listFileVersionsQuery, answer: files.fileVersionList },
  downloadFile: { params: files.fileVersionParams, answer: z.string() },
  listFilePosts: { params: files.fileParam, query: files.listFilePostsQuery, answer: files.filePostList },
  approveFile: { params: files.fileParam, body: files.approveFileBody, answer: files.boardFile },
  unapproveFile: { params: files.fileParam, answer: files.boardFile },
  requestAdminAction: { body: approvals.adminAction, answer: approvals.adminActionResult },
  listApprovals: { query: approvals.listApprovalsQuery, answer: approvals.approvalList },
  getApproval: { params: approvalParam, answer: approvals.approvalOutcome },
  allowApproval: { params: approvalParam, body: approvals.allowBody, answer: approvals.adminActionResult },
  declineApproval: { params: approvalParam, answer: approvals.approval },
  collectApproval: { params: approvalParam, answer: approvals.approvalOutcome },
  listInviteNotices: { query: approvals.listInviteNoticesQuery, answer: approvals.inviteNoticeList },
  getOnboardingInbox: { answer: approvals.onboardingInbox },
  listNotices: { query: approvals.listNoticesQuery, answer: approvals.noticeList },
  ackNotices: { body: approvals.ackNoticesBody, answer: approvals.ackedNotices },
  createPairingRequest: { body: pairing.createPairingBody, answer: pairing.pairingRequest },
  listPairingRequests: { query: pairing.listPairingQuery, answer: pairing.pairingList },
  getPairingRequest: { params: pairingParam, answer: pairing.pairingRequest },
  choosePairingAgent: { params: pairingParam, body: pairing.choosePairingBody, answer: pairing.pairingRequest },
  selectPairingEndpoint: { body: pairing.selectEndpointBody, answer: pairing.pairingCredential },
  acceptPairing: { params: pairingParam, body: pairing.acceptPairingBody, answer: pairing.pairingRequest },
  verifyPairing: { params: pairingParam, body: pairing.verifyPairingBody, answer: pairing.pairingRequest },
  declinePairing: { params: pairingParam, answer: pairing.pairingRequest },
  cancelPairing: { params: pairingParam, answer: pairing.pairingRequest },
  getAllowance: { answer: approvals.allowance },
  setAllowance: { body: approvals.setAllowanceBody, answer: approvals.allowance },
  clearAllowance: { answer: approvals.allowance },
  listAllowanceRevisions: { query: approvals.listAllowanceRevisionsQuery, answer: approvals.allowanceRevisions },
} as const satisfies Record<OperationName, OperationSchemas>;
