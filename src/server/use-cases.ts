/** Which use case serves which operation. The type makes a missing one, or one of another kind than its row says, fail to compile. */
import type { ServerInfo } from '../contract/types.ts';
import * as allowance from './allowances/allowance.ts';
import { getApproval, listApprovals } from './approvals/approvals.ts';
import { collectApproval } from './approvals/collect.ts';
import { allowApproval, declineApproval } from './approvals/decide.ts';
import { requestAdminAction } from './approvals/request.ts';
import * as asksRead from './asks/read.ts';
import * as boardsLifecycle from './boards/lifecycle.ts';
import * as boardsRead from './boards/read.ts';
import * as boardsUpdate from './boards/update.ts';
import * as boardsVisibility from './boards/visibility.ts';
import { createLoginCode, previewLoginCode } from './browsers/login-codes.ts';
import * as browsersSessions from './browsers/sessions.ts';
import { createBrowserSession, createBrowserToken } from './browsers/sign-in.ts';
import * as delegations from './delegations/delegations.ts';
import * as filesApprove from './files/approve.ts';
import * as filesChange from './files/change.ts';
import * as filesRead from './files/read.ts';
import * as filesUpload from './files/upload.ts';
import * as inbox from './inbox/inbox.ts';
import * as invitesChange from './invites/change.ts';
import { connectPerson } from './invites/connect.ts';
import { createInvite } from './invites/create.ts';
import { previewInvite } from './invites/preview.ts';
import * as invitesRead from './invites/read.ts';
import { createDelegatedBoard } from './joining/create-delegated.ts';
import { joinAsGuest } from './joining/guest-join.ts';
import { joinBoard } from './joining/join.ts';
import * as joiningJoinCodes from './joining/join-codes.ts';
import * as keys from './keys/keys.ts';
import * as linesClaims from './lines/claims.ts';
import * as lines from './lines/lines.ts';
import type { Live } from './live/live.ts';
import { openStream } from './live/open-stream.ts';
import {
  approveMachineRequest,
  collectMachineKey,
  createMachineRequest,
  lookUpMachineRequest,
  refuseMachineRequest,
} from './machines/machines.ts';
import * as membersAddPerson from './members/add-person.ts';
import * as membersOwners from './members/owners.ts';
import * as membersPrune from './members/prune.ts';
import * as membersRead from './members/read.ts';
import * as membersRemove from './members/remove.ts';
import * as messagesPost from './messages/post.ts';
import * as messagesReact from './messages/react.ts';
import * as messagesRead from './messages/read.ts';
import * as messagesReceipts from './messages/receipts.ts';
import * as messagesThreadRun from './messages/thread-run.ts';
import * as messagesThreads from './messages/threads.ts';
import * as needs from './needs/needs.ts';
import { listInviteNotices } from './notices/invite-notices.ts';
import * as notices from './notices/notices.ts';
import { getOnboardingInbox } from './notices/onboarding-inbox.ts';
import type { Deps, UseCases } from './operation/usecase.ts';
import { createPairingRequest } from './pairing/create.ts';
import { cancelPairing, choosePairingAgent, declinePairing } from './pairing/decide.ts';
import { acceptPairing, verifyPairing } from './pairing/prove.ts';
import { getPairingRequest, listPairingRequests } from './pairing/read.ts';
import { selectPairingEndpoint } from './pairing/select.ts';
import * as peopleMe from './people/me.ts';
import * as people from './people/people.ts';
import * as peopleRename from './people/rename.ts';
import * as recordRead from './record/read.ts';
import type { Searched } from './search/search.store.ts';
import { search } from './search/search.ts';
import * as seatsBudget from './seats/budget.ts';
import * as seatsDelivery from './seats/delivery.ts';
import * as seatsQueue from './seats/queue.ts';
import * as seatsReport from './seats/report.ts';
import * as seatsUsage from './seats/usage.ts';
import * as settings from './settings/settings.ts';
import * as tasksRead from './tasks/read.ts';
import * as tasksTake from './tasks/take.ts';
import * as tasksWrite from './tasks/write.ts';
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
    ...allowance,
    ...asksRead,
    ...boardsLifecycle,
    ...boardsRead,
    ...boardsUpdate,
    ...boardsVisibility,
    ...browsersSessions,
    ...delegations,
    ...filesApprove,
    ...filesChange,
    ...filesRead,
    ...filesUpload,
    ...inbox,
    ...invitesChange,
    ...invitesRead,
    ...joiningJoinCodes,
    ...keys,
    ...linesClaims,
    ...lines,
    ...membersAddPerson,
    ...membersOwners,
    ...membersPrune,
    ...membersRead,
    ...membersRemove,
    ...messagesPost,
    ...messagesReact,
    ...messagesRead,
    ...messagesReceipts,
    ...messagesThreadRun,
    ...messagesThreads,
    ...needs,
    ...notices,
    ...peopleMe,
    ...people,
    ...peopleRename,
    ...recordRead,
    ...seatsBudget,
    ...seatsDelivery,
    ...seatsQueue,
    ...seatsReport,
    ...seatsUsage,
    ...settings,
    ...tasksRead,
    ...tasksTake,
    ...tasksWrite,
    // Those that need something of the server they run in.
    getApproval: getApproval(address),
    listApprovals: listApprovals(address),
    collectApproval: collectApproval(deps),
    allowApproval: allowApproval(deps),
    declineApproval: declineApproval(address),
    requestAdminAction: requestAdminAction(deps),
    createLoginCode: createLoginCode(root),
    previewLoginCode: previewLoginCode(root),
    getMyBrowserSession: browsersSessions.getMyBrowserSession(root),
    createBrowserSession: createBrowserSession(root),
    createBrowserToken: createBrowserToken(root),
    createDelegation: delegations.createDelegation(root),
    connectPerson: connectPerson(root, serverId, address),
    createInvite: createInvite(root, address),
    previewInvite: previewInvite(root, serverId, address),
    getOnboardingReceipt: invitesRead.getOnboardingReceipt(serverId),
    createDelegatedBoard: createDelegatedBoard(root),
    joinAsGuest: joinAsGuest(root, serverId),
    joinBoard: joinBoard(root),
    createJoinCode: joiningJoinCodes.createJoinCode(root, address),
    createKey: keys.createKey(root),
    openStream: openStream(live),
    approveMachineRequest: approveMachineRequest(root),
    collectMachineKey: collectMachineKey(root, serverId),
    createMachineRequest: createMachineRequest(root),
    lookUpMachineRequest: lookUpMachineRequest(root),
    refuseMachineRequest: refuseMachineRequest(root),
    listInviteNotices: listInviteNotices(address),
    listNotices: notices.listNotices(address),
    getOnboardingInbox: getOnboardingInbox(address),
    createPairingRequest: createPairingRequest(deps),
    cancelPairing: cancelPairing(deps),
    choosePairingAgent: choosePairingAgent(deps),
    declinePairing: declinePairing(deps),
    acceptPairing: acceptPairing(deps),
    verifyPairing: verifyPairing(deps),
    getPairingRequest: getPairingRequest(deps),
    listPairingRequests: listPairingRequests(deps),
    selectPairingEndpoint: selectPairingEndpoint(deps),
    search: search(searchable),
    getInfo: getInfo(info, root, address),
  };
}
