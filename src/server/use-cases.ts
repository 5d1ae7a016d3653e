/** Which use case serves which operation. The type makes a missing one, or one of another kind than its row says, fail to compile. */
import * as allowance from './allowances/allowance.ts';
import * as approvals from './approvals/approvals.ts';
import * as approvalsCollect from './approvals/collect.ts';
import * as approvalsDecide from './approvals/decide.ts';
import * as approvalsRequest from './approvals/request.ts';
import * as asksRead from './asks/read.ts';
import * as boardsLifecycle from './boards/lifecycle.ts';
import * as boardsRead from './boards/read.ts';
import * as boardsUpdate from './boards/update.ts';
import * as boardsVisibility from './boards/visibility.ts';
import * as browsersLoginCodes from './browsers/login-codes.ts';
import * as browsersSessions from './browsers/sessions.ts';
import * as browsersSignIn from './browsers/sign-in.ts';
import * as delegations from './delegations/delegations.ts';
import * as filesApprove from './files/approve.ts';
import * as filesChange from './files/change.ts';
import * as filesRead from './files/read.ts';
import * as filesUpload from './files/upload.ts';
import * as inbox from './inbox/inbox.ts';
import * as invitesChange from './invites/change.ts';
import * as invitesConnect from './invites/connect.ts';
import * as invitesCreate from './invites/create.ts';
import * as invitesPreview from './invites/preview.ts';
import * as invitesRead from './invites/read.ts';
import * as joiningCreateDelegated from './joining/create-delegated.ts';
import * as joiningGuestJoin from './joining/guest-join.ts';
import * as joiningJoin from './joining/join.ts';
import * as joiningJoinCodes from './joining/join-codes.ts';
import * as keys from './keys/keys.ts';
import * as linesClaims from './lines/claims.ts';
import * as lines from './lines/lines.ts';
import * as liveOpenStream from './live/open-stream.ts';
import * as machines from './machines/machines.ts';
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
import * as noticesInviteNotices from './notices/invite-notices.ts';
import * as notices from './notices/notices.ts';
import * as noticesOnboardingInbox from './notices/onboarding-inbox.ts';
import type { UseCases } from './operation/usecase.ts';
import * as pairingCreate from './pairing/create.ts';
import * as pairingDecide from './pairing/decide.ts';
import * as pairingProve from './pairing/prove.ts';
import * as pairingRead from './pairing/read.ts';
import * as pairingSelect from './pairing/select.ts';
import * as peopleMe from './people/me.ts';
import * as people from './people/people.ts';
import * as peopleRename from './people/rename.ts';
import * as recordRead from './record/read.ts';
import * as search from './search/search.ts';
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

export const useCases: UseCases = {
  ...allowance,
  ...approvals,
  ...approvalsCollect,
  ...approvalsDecide,
  ...approvalsRequest,
  ...asksRead,
  ...boardsLifecycle,
  ...boardsRead,
  ...boardsUpdate,
  ...boardsVisibility,
  ...browsersLoginCodes,
  ...browsersSessions,
  ...browsersSignIn,
  ...delegations,
  ...filesApprove,
  ...filesChange,
  ...filesRead,
  ...filesUpload,
  ...inbox,
  ...invitesChange,
  ...invitesConnect,
  ...invitesCreate,
  ...invitesPreview,
  ...invitesRead,
  ...joiningCreateDelegated,
  ...joiningGuestJoin,
  ...joiningJoin,
  ...joiningJoinCodes,
  ...keys,
  ...linesClaims,
  ...lines,
  ...liveOpenStream,
  ...machines,
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
  ...noticesInviteNotices,
  ...notices,
  ...noticesOnboardingInbox,
  ...pairingCreate,
  ...pairingDecide,
  ...pairingProve,
  ...pairingRead,
  ...pairingSelect,
  ...peopleMe,
  ...people,
  ...peopleRename,
  ...recordRead,
  ...search,
  ...seatsBudget,
  ...seatsDelivery,
  ...seatsQueue,
  ...seatsReport,
  ...seatsUsage,
  ...settings,
  ...tasksRead,
  ...tasksTake,
  ...tasksWrite,
  getInfo,
};
