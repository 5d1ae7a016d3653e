/** Which use case serves which operation. The type makes a missing or doubled one fail to compile. */
import type { OperationName } from '../contract/operations.ts';
import { clearAllowance, getAllowance, listAllowanceRevisions, setAllowance } from './allowances/allowance.ts';
import { getApproval, listApprovals } from './approvals/approvals.ts';
import { collectApproval } from './approvals/collect.ts';
import { allowApproval, declineApproval } from './approvals/decide.ts';
import { requestAdminAction } from './approvals/request.ts';
import { listAsks } from './asks/read.ts';
import { createBoard } from './boards/create.ts';
import { archiveBoard, deleteBoard, restoreBoard } from './boards/lifecycle.ts';
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
import { getInvite, listInvites } from './invites/read.ts';
import { getOnboardingReceipt } from './invites/receipt.ts';
import { createDelegatedBoard } from './joining/create-delegated.ts';
import { joinAsGuest } from './joining/guest-join.ts';
import { joinBoard } from './joining/join.ts';
import { createJoinCode, listJoinCodes, revokeJoinCode } from './joining/join-codes.ts';
import { createKey, listKeys, revokeKey } from './keys/keys.ts';
import { clearAgentLine, clearMyLine, setAgentLine, setMyLine } from './lines/lines.ts';
import { collectMachineKey } from './machines/collect.ts';
import { approveMachineRequest, lookUpMachineRequest, refuseMachineRequest } from './machines/decide.ts';
import { createMachineRequest } from './machines/request.ts';
import { addBoardPerson } from './members/add-person.ts';
import { leaveSeat } from './members/leave-seat.ts';
import { makeBoardOwner, unmakeBoardOwner } from './members/owners.ts';
import { pruneAgents } from './members/prune.ts';
import { getMember, listBoardPeople, listMembers, listMyAgents } from './members/read.ts';
import { leaveBoard, removeBoardPerson, removeMember } from './members/remove.ts';
import { postMessage } from './messages/post.ts';
import { addReaction, listReactions, removeReaction } from './messages/react.ts';
import { getMessage, getMessageBySeq, listMessages, listReplies } from './messages/read.ts';
import { listReceipts } from './messages/receipts.ts';
import { listThreads } from './messages/threads.ts';
import { listInviteNotices } from './notices/invite-notices.ts';
import { ackNotices, listNotices } from './notices/notices.ts';
import { getOnboardingInbox } from './notices/onboarding-inbox.ts';
import { type Deps, download, type Offered, open, read, upload, wait, write } from './operation/usecase.ts';
import { createPairingRequest } from './pairing/create.ts';
import { cancelPairing, choosePairingAgent, declinePairing } from './pairing/decide.ts';
import { acceptPairing, verifyPairing } from './pairing/prove.ts';
import { getPairingRequest, listPairingRequests } from './pairing/read.ts';
import { selectPairingEndpoint } from './pairing/select.ts';
import { getMe, updateMe } from './people/me.ts';
import { listPeople } from './people/people.ts';
import { removePerson } from './people/remove.ts';
import { renamePerson } from './people/rename.ts';
import { setPersonRole } from './people/role.ts';
import { listEvents } from './record/read.ts';
import type { Searched } from './search/search.store.ts';
import { search } from './search/search.ts';
import { setDeliveryMode } from './seats/delivery.ts';
import { getMidturnPolicy, setMidturnPolicy } from './seats/midturn.ts';
import { getDeliveryQueue, reportDeliveryQueue } from './seats/queue.ts';
import { setLocation, setPresence } from './seats/report.ts';
import { getSettings, updateSettings } from './settings/settings.ts';
import { getTask, listAllTasks, listTasks, listTaskTexts } from './tasks/read.ts';
import { dropTask, finishTask, joinTask, startTask } from './tasks/take.ts';
import { createTask, updateTask } from './tasks/write.ts';

/** Operations that are no use case: one needs no caller, the other no transaction of its own. */
export type OutsideAreas = 'getInfo' | 'openStream';

export type Areas = Record<Exclude<OperationName, OutsideAreas>, Offered>;

interface AreaDeps extends Deps {
  /** Brings the search index of these boards up to what was written before. */
  searchable(searched: Searched): Promise<void>;
}

export function areas(deps: AreaDeps): Areas {
  const { root, serverId, address, searchable } = deps;
  return {
    getMe: read('getMe', getMe),
    createDelegation: write('createDelegation', createDelegation(root)),
    listDelegations: read('listDelegations', listDelegations),
    endDelegation: write('endDelegation', endDelegation),
    createInvite: write('createInvite', createInvite(root, address)),
    listInvites: read('listInvites', listInvites),
    getInvite: read('getInvite', getInvite),
    updateInvite: write('updateInvite', updateInvite),
    revokeInvite: write('revokeInvite', revokeInvite),
    previewInvite: open('previewInvite', previewInvite(root, serverId, address)),
    connectPerson: open('connectPerson', connectPerson(root, serverId, address)),
    getOnboardingReceipt: read('getOnboardingReceipt', getOnboardingReceipt(serverId)),
    createMachineRequest: open('createMachineRequest', createMachineRequest(root)),
    lookUpMachineRequest: read('lookUpMachineRequest', lookUpMachineRequest(root)),
    approveMachineRequest: write('approveMachineRequest', approveMachineRequest(root)),
    refuseMachineRequest: write('refuseMachineRequest', refuseMachineRequest(root)),
    collectMachineKey: open('collectMachineKey', collectMachineKey(root, serverId)),
    createLoginCode: write('createLoginCode', createLoginCode(root)),
    previewLoginCode: open('previewLoginCode', previewLoginCode(root)),
    createBrowserSession: open('createBrowserSession', createBrowserSession(root)),
    listBrowserSessions: read('listBrowserSessions', listBrowserSessions),
    endBrowserSession: write('endBrowserSession', endBrowserSession),
    getMyBrowserSession: read('getMyBrowserSession', getMyBrowserSession(root)),
    endMyBrowserSession: write('endMyBrowserSession', endMyBrowserSession),
    createBrowserToken: open('createBrowserToken', createBrowserToken(root)),
    endAllBrowserSessions: write('endAllBrowserSessions', endAllBrowserSessions),
    updateMe: write('updateMe', updateMe),
    getMidturnPolicy: read('getMidturnPolicy', getMidturnPolicy),
    setMidturnPolicy: write('setMidturnPolicy', setMidturnPolicy),
    getSettings: read('getSettings', getSettings),
    updateSettings: write('updateSettings', updateSettings),
    listPeople: read('listPeople', listPeople),
    setPersonRole: write('setPersonRole', setPersonRole),
    renamePerson: write('renamePerson', renamePerson),
    listKeys: read('listKeys', listKeys),
    createKey: write('createKey', createKey(root)),
    revokeKey: write('revokeKey', revokeKey),
    removePerson: write('removePerson', removePerson),
    createBoard: write('createBoard', createBoard),
    listBoards: read('listBoards', listBoards),
    getBoard: read('getBoard', getBoard),
    updateBoard: write('updateBoard', updateBoard),
    archiveBoard: write('archiveBoard', archiveBoard),
    restoreBoard: write('restoreBoard', restoreBoard),
    deleteBoard: write('deleteBoard', deleteBoard),
    setBoardVisibility: write('setBoardVisibility', setBoardVisibility),
    listTemplates: read('listTemplates', listTemplates),
    leaveBoard: write('leaveBoard', leaveBoard),
    listBoardPeople: read('listBoardPeople', listBoardPeople),
    addBoardPerson: write('addBoardPerson', addBoardPerson),
    makeBoardOwner: write('makeBoardOwner', makeBoardOwner),
    unmakeBoardOwner: write('unmakeBoardOwner', unmakeBoardOwner),
    removeBoardPerson: write('removeBoardPerson', removeBoardPerson),
    listMembers: read('listMembers', listMembers),
    getMember: read('getMember', getMember),
    removeMember: write('removeMember', removeMember),
    leaveSeat: write('leaveSeat', leaveSeat),
    pruneAgents: write('pruneAgents', pruneAgents),
    createJoinCode: write('createJoinCode', createJoinCode(root, address)),
    listJoinCodes: read('listJoinCodes', listJoinCodes),
    revokeJoinCode: write('revokeJoinCode', revokeJoinCode),
    setDeliveryMode: write('setDeliveryMode', setDeliveryMode),
    setPresence: write('setPresence', setPresence),
    setMyLine: write('setMyLine', setMyLine),
    clearMyLine: write('clearMyLine', clearMyLine),
    setAgentLine: write('setAgentLine', setAgentLine),
    clearAgentLine: write('clearAgentLine', clearAgentLine),
    setLocation: write('setLocation', setLocation),
    getDeliveryQueue: read('getDeliveryQueue', getDeliveryQueue),
    reportDeliveryQueue: write('reportDeliveryQueue', reportDeliveryQueue),
    listMyAgents: read('listMyAgents', listMyAgents),
    createDelegatedBoard: write('createDelegatedBoard', createDelegatedBoard(root)),
    joinBoard: write('joinBoard', joinBoard(root)),
    joinAsGuest: open('joinAsGuest', joinAsGuest(root, serverId)),
    postMessage: write('postMessage', postMessage),
    listMessages: read('listMessages', listMessages),
    getMessageBySeq: read('getMessageBySeq', getMessageBySeq),
    getMessage: read('getMessage', getMessage),
    listReplies: wait('listReplies', listReplies),
    listThreads: read('listThreads', listThreads),
    listReceipts: read('listReceipts', listReceipts),
    addReaction: write('addReaction', addReaction),
    removeReaction: write('removeReaction', removeReaction),
    listReactions: read('listReactions', listReactions),
    search: read('search', search(searchable)),
    readInbox: wait('readInbox', readInbox),
    ackInbox: write('ackInbox', ackInbox),
    ackBoard: write('ackBoard', ackBoard),
    listEvents: read('listEvents', listEvents),
    listTasks: read('listTasks', listTasks),
    listAllTasks: read('listAllTasks', listAllTasks),
    createTask: write('createTask', createTask),
    getTask: read('getTask', getTask),
    listTaskTexts: read('listTaskTexts', listTaskTexts),
    updateTask: write('updateTask', updateTask),
    startTask: write('startTask', startTask),
    joinTask: write('joinTask', joinTask),
    finishTask: write('finishTask', finishTask),
    dropTask: write('dropTask', dropTask),
    listAsks: read('listAsks', listAsks),
    listFiles: read('listFiles', listFiles),
    uploadFile: upload('uploadFile', uploadFile),
    getFile: read('getFile', getFile),
    updateFile: write('updateFile', updateFile),
    removeFile: write('removeFile', removeFile),
    listFileVersions: read('listFileVersions', listFileVersions),
    downloadFile: download('downloadFile', downloadFile),
    listFilePosts: read('listFilePosts', listFilePosts),
    approveFile: write('approveFile', approveFile),
    unapproveFile: write('unapproveFile', unapproveFile),
    requestAdminAction: write('requestAdminAction', requestAdminAction(deps)),
    listApprovals: read('listApprovals', listApprovals(address)),
    getApproval: read('getApproval', getApproval(address)),
    allowApproval: write('allowApproval', allowApproval(deps)),
    declineApproval: write('declineApproval', declineApproval(address)),
    collectApproval: write('collectApproval', collectApproval(deps)),
    listInviteNotices: read('listInviteNotices', listInviteNotices(address)),
    getOnboardingInbox: read('getOnboardingInbox', getOnboardingInbox(address)),
    listNotices: wait('listNotices', listNotices(address)),
    ackNotices: write('ackNotices', ackNotices),
    createPairingRequest: write('createPairingRequest', createPairingRequest(deps)),
    listPairingRequests: read('listPairingRequests', listPairingRequests(deps)),
    getPairingRequest: read('getPairingRequest', getPairingRequest(deps)),
    choosePairingAgent: write('choosePairingAgent', choosePairingAgent(deps)),
    selectPairingEndpoint: write('selectPairingEndpoint', selectPairingEndpoint(deps)),
    acceptPairing: write('acceptPairing', acceptPairing(deps)),
    verifyPairing: write('verifyPairing', verifyPairing(deps)),
    declinePairing: write('declinePairing', declinePairing(deps)),
    cancelPairing: write('cancelPairing', cancelPairing(deps)),
    getAllowance: read('getAllowance', getAllowance),
    setAllowance: write('setAllowance', setAllowance),
    clearAllowance: write('clearAllowance', clearAllowance),
    listAllowanceRevisions: read('listAllowanceRevisions', listAllowanceRevisions),
  };
}
