/** Which use case serves which operation. The type makes a missing one, or one of another kind than its row says, fail to compile. */
import type { ServerInfo } from '../contract/types.ts';
import { clearAllowance, getAllowance, listAllowanceRevisions, setAllowance } from './allowances/allowance.ts';
import { getApproval, listApprovals } from './approvals/approvals.ts';
import { collectApproval } from './approvals/collect.ts';
import { allowApproval, declineApproval } from './approvals/decide.ts';
import { requestAdminAction } from './approvals/request.ts';
import { listAsks } from './asks/read.ts';
import { archiveBoard, createBoard, deleteBoard, restoreBoard } from './boards/lifecycle.ts';
import { getBoard, listBoards, listTemplates } from './boards/read.ts';
import { updateBoard } from './boards/update.ts';
import { setBoardVisibility } from './boards/visibility.ts';
import { createLoginCode, previewLoginCode } from './browsers/login-codes.ts';
import {
  endAllBrowserSessions,
  endBrowserSession,
  endMyBrowserSession,
  getMyBrowserSession,
  listBrowserSessions,
} from './browsers/sessions.ts';
import { createBrowserSession, createBrowserToken } from './browsers/sign-in.ts';
import { createDelegation, endDelegation, listDelegations } from './delegations/delegations.ts';
import { approveFile, unapproveFile } from './files/approve.ts';
import { removeFile, updateFile } from './files/change.ts';
import { downloadFile, getFile, listFilePosts, listFiles, listFileVersions } from './files/read.ts';
import { uploadFile } from './files/upload.ts';
import { ackBoard, ackInbox, readInbox } from './inbox/inbox.ts';
import { revokeInvite, updateInvite } from './invites/change.ts';
import { connectPerson } from './invites/connect.ts';
import { createInvite } from './invites/create.ts';
import { previewInvite } from './invites/preview.ts';
import { getInvite, getOnboardingReceipt, listInvites } from './invites/read.ts';
import { createDelegatedBoard } from './joining/create-delegated.ts';
import { joinAsGuest } from './joining/guest-join.ts';
import { joinBoard } from './joining/join.ts';
import { createJoinCode, listJoinCodes, revokeJoinCode } from './joining/join-codes.ts';
import { createKey, listKeys, revokeKey } from './keys/keys.ts';
import { listClaims } from './lines/claims.ts';
import { clearAgentLine, clearMyLine, setAgentLine, setMyLine } from './lines/lines.ts';
import type { Live } from './live/live.ts';
import { openStream } from './live/open-stream.ts';
import {
  approveMachineRequest,
  collectMachineKey,
  createMachineRequest,
  lookUpMachineRequest,
  refuseMachineRequest,
} from './machines/machines.ts';
import { addBoardPerson } from './members/add-person.ts';
import { makeBoardOwner, unmakeBoardOwner } from './members/owners.ts';
import { pruneAgents } from './members/prune.ts';
import { getMember, listBoardPeople, listMembers, listMyAgents } from './members/read.ts';
import { leaveBoard, leaveSeat, removeBoardPerson, removeMember } from './members/remove.ts';
import { postMessage } from './messages/post.ts';
import { addReaction, listReactions, removeReaction } from './messages/react.ts';
import { getMessage, getMessageBySeq, listMessages, listReplies } from './messages/read.ts';
import { listReceipts } from './messages/receipts.ts';
import { setThreadRun } from './messages/thread-run.ts';
import { listThreads } from './messages/threads.ts';
import { listNeeds } from './needs/needs.ts';
import { listInviteNotices } from './notices/invite-notices.ts';
import { ackNotices, listNotices } from './notices/notices.ts';
import { getOnboardingInbox } from './notices/onboarding-inbox.ts';
import type { Deps, UseCases } from './operation/usecase.ts';
import { createPairingRequest } from './pairing/create.ts';
import { cancelPairing, choosePairingAgent, declinePairing } from './pairing/decide.ts';
import { acceptPairing, verifyPairing } from './pairing/prove.ts';
import { getPairingRequest, listPairingRequests } from './pairing/read.ts';
import { selectPairingEndpoint } from './pairing/select.ts';
import { getMe, updateMe } from './people/me.ts';
import { listPeople, removePerson, setPersonRole } from './people/people.ts';
import { renamePerson } from './people/rename.ts';
import { listEvents } from './record/read.ts';
import type { Searched } from './search/search.store.ts';
import { search } from './search/search.ts';
import { releaseAgent, setAgentBudget } from './seats/budget.ts';
import { getMidturnPolicy, setDeliveryMode, setMidturnPolicy } from './seats/delivery.ts';
import { getDeliveryQueue, reportDeliveryQueue } from './seats/queue.ts';
import { setLocation, setPresence } from './seats/report.ts';
import { reportUsage } from './seats/usage.ts';
import { getSettings, updateSettings } from './settings/settings.ts';
import { getTask, listAllTasks, listTasks, listTaskTexts } from './tasks/read.ts';
import { dropTask, finishTask, joinTask, startTask } from './tasks/take.ts';
import { createTask, updateTask } from './tasks/write.ts';
import { getInfo } from './upkeep/info.ts';

interface Server extends Omit<Deps, 'serverId'> {
  info: ServerInfo;
  live: Live;
  /** Brings the search index of these boards up to what was written before. */
  searchable(searched: Searched): Promise<void>;
}

export function useCases({ info, live, searchable, ...server }: Server): UseCases {
  const { server_id: serverId } = info;
  const { root, address } = server;
  const deps: Deps = { ...server, serverId };
  return {
    getInfo: getInfo(info, root, address),
    openStream: openStream(live),
    getMe,
    createDelegation: createDelegation(root),
    listDelegations,
    endDelegation,
    createInvite: createInvite(root, address),
    listInvites,
    getInvite,
    updateInvite,
    revokeInvite,
    previewInvite: previewInvite(root, serverId, address),
    connectPerson: connectPerson(root, serverId, address),
    getOnboardingReceipt: getOnboardingReceipt(serverId),
    createMachineRequest: createMachineRequest(root),
    lookUpMachineRequest: lookUpMachineRequest(root),
    approveMachineRequest: approveMachineRequest(root),
    refuseMachineRequest: refuseMachineRequest(root),
    collectMachineKey: collectMachineKey(root, serverId),
    createLoginCode: createLoginCode(root),
    previewLoginCode: previewLoginCode(root),
    createBrowserSession: createBrowserSession(root),
    listBrowserSessions,
    endBrowserSession,
    getMyBrowserSession: getMyBrowserSession(root),
    endMyBrowserSession,
    createBrowserToken: createBrowserToken(root),
    endAllBrowserSessions,
    updateMe,
    getMidturnPolicy,
    setMidturnPolicy,
    getSettings,
    updateSettings,
    listPeople,
    setPersonRole,
    renamePerson,
    listKeys,
    createKey: createKey(root),
    revokeKey,
    removePerson,
    createBoard,
    listBoards,
    getBoard,
    updateBoard,
    archiveBoard,
    restoreBoard,
    deleteBoard,
    setBoardVisibility,
    listTemplates,
    leaveBoard,
    listBoardPeople,
    addBoardPerson,
    makeBoardOwner,
    unmakeBoardOwner,
    removeBoardPerson,
    listMembers,
    getMember,
    removeMember,
    leaveSeat,
    pruneAgents,
    createJoinCode: createJoinCode(root, address),
    listJoinCodes,
    revokeJoinCode,
    setDeliveryMode,
    setPresence,
    setMyLine,
    clearMyLine,
    setAgentLine,
    clearAgentLine,
    setLocation,
    reportUsage,
    getDeliveryQueue,
    reportDeliveryQueue,
    listMyAgents,
    createDelegatedBoard: createDelegatedBoard(root),
    joinBoard: joinBoard(root),
    joinAsGuest: joinAsGuest(root, serverId),
    postMessage,
    setThreadRun,
    listNeeds,
    setAgentBudget,
    releaseAgent,
    listMessages,
    getMessageBySeq,
    getMessage,
    listReplies,
    listThreads,
    listReceipts,
    addReaction,
    removeReaction,
    listReactions,
    search: search(searchable),
    readInbox,
    ackInbox,
    ackBoard,
    listEvents,
    listTasks,
    listAllTasks,
    createTask,
    getTask,
    listTaskTexts,
    updateTask,
    startTask,
    joinTask,
    finishTask,
    dropTask,
    listAsks,
    listFiles,
    uploadFile,
    getFile,
    updateFile,
    removeFile,
    listFileVersions,
    downloadFile,
    listFilePosts,
    approveFile,
    unapproveFile,
    requestAdminAction: requestAdminAction(deps),
    listApprovals: listApprovals(address),
    getApproval: getApproval(address),
    allowApproval: allowApproval(deps),
    declineApproval: declineApproval(address),
    collectApproval: collectApproval(deps),
    listInviteNotices: listInviteNotices(address),
    getOnboardingInbox: getOnboardingInbox(address),
    listNotices: listNotices(address),
    listClaims,
    ackNotices,
    createPairingRequest: createPairingRequest(deps),
    listPairingRequests: listPairingRequests(deps),
    getPairingRequest: getPairingRequest(deps),
    choosePairingAgent: choosePairingAgent(deps),
    selectPairingEndpoint: selectPairingEndpoint(deps),
    acceptPairing: acceptPairing(deps),
    verifyPairing: verifyPairing(deps),
    declinePairing: declinePairing(deps),
    cancelPairing: cancelPairing(deps),
    getAllowance,
    setAllowance,
    clearAllowance,
    listAllowanceRevisions,
  };
}
