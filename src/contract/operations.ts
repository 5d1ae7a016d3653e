/**
 * The table of operations: the HTTP API as data. Router, client, OpenAPI description and the tests that walk
 * every operation all start here. Request and answer shapes stand under the same names in `schemas/`.
 */

/** PK own access key, BR browser session, AG agent token, DG machine delegation, IN a server invite shown as bearer. */
export type CredentialKind = 'PK' | 'BR' | 'AG' | 'DG' | 'IN';

/**
 * K kept 24 hours for replay; S secret, never kept; R kept sealed for the same credential only;
 * N the header is accepted without effect; '-' not a write.
 */
export type IdempotencyClass = 'K' | 'S' | 'R' | 'N' | '-';

export interface OperationRow {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path with `{name}` parameters. */
  path: string;
  /** Empty: no credential is asked for, and one sent along is ignored. */
  credentials: readonly CredentialKind[];
  /** The query parameter without which this is for people only. */
  agentsNeed?: string;
  /** One class, or one for each kind of credential where they differ. */
  idempotency: IdempotencyClass | Readonly<Partial<Record<CredentialKind, IdempotencyClass>>>;
  /** A request without an Idempotency-Key is refused. */
  keyRequired?: true;
  /** Repeats are told by what the operation itself keeps; the store of kept answers is never used. */
  ownReceipt?: true;
  /** The most bytes its body may have, where that is less than for any other. */
  maxBody?: number;
  /** Success statuses, the usual one first. */
  ok: readonly number[];
  /** A page of this server must have sent it, whatever credential it brings. */
  origin?: true;
  /** On an archived board: refused, or refused in part; left out: it works there. */
  archived?: 'refused' | 'partly';
  /** What travels as bytes instead of JSON: the body of the request, or that of the answer. */
  bytes?: 'request' | 'answer';
  /** Nothing new should call it. */
  deprecated?: true;
  /** One line for the API description. */
  summary: string;
}

const get = (path: string, credentials: readonly CredentialKind[], summary: string): OperationRow => ({
  method: 'GET',
  path,
  credentials,
  idempotency: '-',
  ok: [200],
  summary,
});

const member = ['PK', 'BR', 'AG'] as const;
const person = ['PK', 'BR'] as const;

export const operations = {
  getInfo: get('/v1/info', [], 'Server identity, build version and features'),
  getMe: get('/v1/me', member, 'Who the credential belongs to'),
  updateMe: {
    method: 'PATCH',
    path: '/v1/me',
    credentials: person,
    idempotency: 'K',
    ok: [200],
    summary: "Set or remove a person's display name",
  },
  getMidturnPolicy: get('/v1/me/midturn', member, "Whose messages may reach a person's agents in the middle of a turn"),
  setMidturnPolicy: {
    method: 'PUT',
    path: '/v1/me/midturn',
    credentials: person,
    idempotency: 'K',
    ok: [200],
    summary: "Set a person's mid-turn policy, or the exception of one of their agents",
  },
  getSettings: get('/v1/settings', person, "Read the server's settings"),
  updateSettings: {
    method: 'PATCH',
    path: '/v1/settings',
    credentials: ['PK'],
    idempotency: 'K',
    ok: [200],
    summary: "Change the server's settings, as an admin",
  },

  listPeople: {
    ...get('/v1/people', member, 'List the people of the server, or find one by handle'),
    agentsNeed: 'handle',
  },
  setPersonRole: {
    method: 'PATCH',
    path: '/v1/people/{handle}',
    credentials: ['PK'],
    idempotency: 'K',
    ok: [200],
    summary: 'Make a person an admin or a member, as an admin',
  },
  renamePerson: {
    method: 'POST',
    path: '/v1/people/{handle}/rename',
    credentials: ['PK'],
    idempotency: 'K',
    ok: [200],
    summary: "Change a person's handle: one's own, or as an admin anybody's",
  },

  listKeys: get('/v1/keys', ['PK'], "List a person's access keys"),
  createKey: {
    method: 'POST',
    path: '/v1/keys',
    credentials: ['PK'],
    idempotency: 'S',
    ok: [201],
    summary: 'Make an access key; its token is shown once',
  },
  revokeKey: {
    method: 'DELETE',
    path: '/v1/keys/{key}',
    credentials: ['PK'],
    idempotency: 'K',
    ok: [200],
    summary: 'Revoke an access key, and with it all that works because of it',
  },

  createDelegation: {
    method: 'POST',
    path: '/v1/delegations',
    credentials: ['PK'],
    idempotency: 'S',
    ok: [201],
    summary: 'Let a machine list, join and create boards for its person',
  },
  listDelegations: get('/v1/delegations', ['PK'], "List a person's machine delegations"),
  endDelegation: {
    method: 'DELETE',
    path: '/v1/delegations/{delegation}',
    credentials: ['PK'],
    idempotency: 'K',
    ok: [200],
    summary: 'End a machine delegation',
  },
  createLoginCode: {
    method: 'POST',
    path: '/v1/login-codes',
    credentials: ['PK'],
    idempotency: 'S',
    ok: [201],
    summary: 'Make a one-time code that signs a browser in',
  },
  previewLoginCode: {
    method: 'POST',
    path: '/v1/login-codes/preview',
    credentials: [],
    idempotency: 'N',
    ok: [200],
    origin: true,
    summary: 'Show whom a login code signs in, without using it up',
  },
  createBrowserSession: {
    method: 'POST',
    path: '/v1/browser-sessions',
    credentials: [],
    idempotency: 'S',
    ok: [201],
    origin: true,
    summary: 'Sign a browser in with a login code, an access key or a browser token',
  },
  listBrowserSessions: get('/v1/browser-sessions', ['PK'], "List the person's live browser sessions"),
  endBrowserSession: {
    method: 'DELETE',
    path: '/v1/browser-sessions/{session}',
    credentials: ['PK'],
    idempotency: 'K',
    ok: [200],
    summary: "End one of the person's browser sessions",
  },
  getMyBrowserSession: get(
    '/v1/me/browser-session',
    ['BR'],
    'The browser session of this request, with its CSRF token',
  ),
  endMyBrowserSession: {
    method: 'DELETE',
    path: '/v1/me/browser-session',
    credentials: ['BR'],
    idempotency: 'N',
    ok: [200],
    summary: 'Sign this browser out',
  },
  createBrowserToken: {
    method: 'POST',
    path: '/v1/browser-tokens',
    credentials: [],
    idempotency: 'S',
    ok: [201],
    deprecated: true,
    summary: 'A browser session as bearer token',
  },
  endAllBrowserSessions: {
    method: 'DELETE',
    path: '/v1/browser-tokens',
    credentials: ['PK'],
    idempotency: 'K',
    ok: [200],
    summary: "End all of the person's browser sessions",
  },

  createInvite: {
    method: 'POST',
    path: '/v1/invites',
    credentials: ['PK'],
    idempotency: 'S',
    ok: [201],
    summary: 'Invite one person to this server, and onto boards',
  },
  listInvites: get('/v1/invites', ['PK'], "List a person's server invites and those of their agents"),
  getInvite: get('/v1/invites/{invite}', ['PK'], 'Read one server invite, without its secret'),
  updateInvite: {
    method: 'PATCH',
    path: '/v1/invites/{invite}',
    credentials: ['PK', 'BR', 'AG'],
    idempotency: 'K',
    ok: [200],
    summary: 'Change the handle that an invite suggests',
  },
  revokeInvite: {
    method: 'DELETE',
    path: '/v1/invites/{invite}',
    credentials: ['PK'],
    idempotency: 'K',
    ok: [200],
    summary: 'Revoke a server invite',
  },
  previewInvite: {
    method: 'POST',
    path: '/v1/invites/preview',
    credentials: ['IN'],
    idempotency: 'N',
    ok: [200],
    summary: 'Look at the invite that is sent as bearer, without using it up',
  },
  connectPerson: {
    method: 'POST',
    path: '/v1/connect',
    credentials: [],
    idempotency: 'S',
    ok: [201, 200],
    summary: 'Redeem a server invite, once: makes a member and their first key',
  },
  getOnboardingReceipt: get('/v1/me/onboarding', ['PK'], 'What became of the connect that made this key'),
  createMachineRequest: {
    method: 'POST',
    path: '/v1/machine-requests',
    credentials: [],
    idempotency: 'S',
    ok: [201],
    summary: 'Ask for a key for this machine; the person it is for approves the short code',
  },
  lookUpMachineRequest: {
    method: 'POST',
    path: '/v1/machine-requests/lookup',
    credentials: ['PK'],
    idempotency: 'N',
    ok: [200],
    summary: 'Read which machine a short code stands for',
  },
  approveMachineRequest: {
    method: 'POST',
    path: '/v1/machine-requests/approve',
    credentials: ['PK'],
    idempotency: 'K',
    ok: [200],
    summary: 'Let the machine behind a short code collect a key of your own',
  },
  refuseMachineRequest: {
    method: 'POST',
    path: '/v1/machine-requests/refuse',
    credentials: ['PK'],
    idempotency: 'K',
    ok: [200],
    summary: 'Refuse the machine behind a short code',
  },
  collectMachineKey: {
    method: 'POST',
    path: '/v1/machine-requests/collect',
    credentials: [],
    idempotency: 'S',
    ok: [201, 202],
    summary: "Collect the approved machine's key, once, or wait for the decision",
  },
  removePerson: {
    method: 'DELETE',
    path: '/v1/people/{handle}',
    credentials: ['PK'],
    idempotency: 'K',
    ok: [200],
    summary: 'Remove a person from the server, as an admin',
  },

  createBoard: {
    method: 'POST',
    path: '/v1/boards',
    credentials: person,
    idempotency: 'K',
    ok: [201],
    summary: 'Create a board; its creator becomes the first owner',
  },
  listBoards: get('/v1/boards', [...member, 'DG'], 'List boards with read position and unread count'),
  getBoard: get('/v1/boards/{board}', member, 'Read one board'),
  updateBoard: {
    method: 'PATCH',
    path: '/v1/boards/{board}',
    credentials: member,
    idempotency: 'K',
    ok: [200],
    archived: 'partly',
    summary: "Change a board's title, charter, roles, policy or task prefix",
  },
  archiveBoard: {
    method: 'POST',
    path: '/v1/boards/{board}/archive',
    credentials: member,
    idempotency: 'K',
    ok: [200],
    summary: 'Archive a board: it stays readable',
  },
  restoreBoard: {
    method: 'POST',
    path: '/v1/boards/{board}/restore',
    credentials: member,
    idempotency: 'K',
    ok: [200],
    summary: 'Make an archived board active again',
  },
  deleteBoard: {
    method: 'POST',
    path: '/v1/boards/{board}/delete',
    credentials: person,
    idempotency: 'K',
    ok: [200],
    summary: 'End an archived board for good',
  },
  setBoardVisibility: {
    method: 'POST',
    path: '/v1/boards/{board}/visibility',
    credentials: person,
    idempotency: 'K',
    ok: [200],
    archived: 'partly',
    summary: 'Turn a board open or private, or look at what that would do',
  },
  listTemplates: get('/v1/templates', member, 'List the built-in board templates'),
  leaveBoard: {
    method: 'POST',
    path: '/v1/boards/{board}/leave',
    credentials: person,
    idempotency: 'K',
    ok: [200],
    summary: "Leave a board; the caller's agents there end with it",
  },
  listBoardPeople: get('/v1/boards/{board}/people', member, 'List the people on a board'),
  addBoardPerson: {
    method: 'POST',
    path: '/v1/boards/{board}/people',
    credentials: member,
    idempotency: 'K',
    ok: [201],
    archived: 'refused',
    summary: 'Add a person to a board, or join an open one',
  },
  makeBoardOwner: {
    method: 'POST',
    path: '/v1/boards/{board}/owners',
    credentials: person,
    idempotency: 'K',
    ok: [200],
    archived: 'refused',
    summary: 'Make a person on a board an owner',
  },
  unmakeBoardOwner: {
    method: 'DELETE',
    path: '/v1/boards/{board}/owners/{handle}',
    credentials: person,
    idempotency: 'K',
    ok: [200],
    summary: 'Make an owner of a board a member',
  },
  removeBoardPerson: {
    method: 'DELETE',
    path: '/v1/boards/{board}/people/{handle}',
    credentials: person,
    idempotency: 'K',
    ok: [200],
    summary: 'Take a person off a board, as its owner, or leave it oneself',
  },
  listMembers: get('/v1/boards/{board}/members', member, 'List people and agents on a board'),
  getMember: get('/v1/boards/{board}/members/{member}', member, 'Read one member of a board'),
  removeMember: {
    method: 'DELETE',
    path: '/v1/boards/{board}/members/{member}',
    credentials: person,
    idempotency: 'K',
    ok: [200],
    summary: 'End an agent on a board, or take a person off it',
  },
  leaveSeat: {
    method: 'POST',
    path: '/v1/me/leave',
    credentials: ['AG'],
    idempotency: 'K',
    ok: [200],
    summary: "Leave the agent's own seat for good",
  },
  pruneAgents: {
    method: 'POST',
    path: '/v1/agents/prune',
    credentials: person,
    idempotency: 'K',
    ok: [200],
    summary: 'End agents that no session has been connected to for long',
  },
  createJoinCode: {
    method: 'POST',
    path: '/v1/boards/{board}/join-codes',
    credentials: member,
    idempotency: 'S',
    ok: [201],
    archived: 'refused',
    summary: 'Make a code that brings sessions or one guest onto a board',
  },
  listJoinCodes: get('/v1/boards/{board}/join-codes', member, 'List join codes'),
  revokeJoinCode: {
    method: 'DELETE',
    path: '/v1/boards/{board}/join-codes/{code_id}',
    credentials: member,
    idempotency: 'K',
    ok: [200],
    summary: 'Revoke a join code',
  },
  setDeliveryMode: {
    method: 'PUT',
    path: '/v1/boards/{board}/members/{member}/delivery',
    credentials: person,
    idempotency: 'K',
    ok: [200],
    summary: 'Set how messages reach an agent',
  },
  setPresence: {
    method: 'PUT',
    path: '/v1/me/presence',
    credentials: ['AG'],
    idempotency: 'N',
    ok: [200],
    summary: 'Report whether somebody is behind a seat',
  },
  setMyLine: {
    method: 'PUT',
    path: '/v1/me/line',
    credentials: ['AG'],
    idempotency: 'K',
    ok: [200],
    summary: 'Say what the agent is on now',
  },
  clearMyLine: {
    method: 'DELETE',
    path: '/v1/me/line',
    credentials: ['AG'],
    idempotency: 'K',
    ok: [200],
    summary: 'Say no longer what the agent is on',
  },
  setAgentLine: {
    method: 'PUT',
    path: '/v1/boards/{board}/members/{member}/line',
    credentials: person,
    idempotency: 'K',
    ok: [200],
    summary: 'Say what an own agent is on now',
  },
  clearAgentLine: {
    method: 'DELETE',
    path: '/v1/boards/{board}/members/{member}/line',
    credentials: person,
    idempotency: 'K',
    ok: [200],
    summary: 'Say no longer what an own agent is on',
  },
  setLocation: {
    method: 'PUT',
    path: '/v1/me/location',
    credentials: ['AG'],
    idempotency: 'N',
    ok: [200],
    summary: "Report where a seat's session runs",
  },
  listMyAgents: get('/v1/me/agents', member, "List the agents of the caller's person"),
  createDelegatedBoard: {
    method: 'POST',
    path: '/v1/delegations/boards',
    credentials: ['DG'],
    idempotency: 'R',
    keyRequired: true,
    ok: [201],
    summary: 'Create a board with a seat for a session',
  },
  joinBoard: {
    method: 'POST',
    path: '/v1/join',
    credentials: ['PK', 'DG'],
    idempotency: { PK: 'R', DG: 'S' },
    ok: [201, 200],
    archived: 'refused',
    summary: 'Put an agent seat onto a board',
  },
  joinAsGuest: {
    method: 'POST',
    path: '/v1/guest-join',
    credentials: [],
    idempotency: 'S',
    ok: [201, 200],
    archived: 'refused',
    summary: 'Come onto one board as a guest, by a code',
  },

  postMessage: {
    method: 'POST',
    path: '/v1/boards/{board}/messages',
    credentials: member,
    idempotency: 'K',
    ok: [201],
    archived: 'refused',
    summary: 'Post a message',
  },
  listMessages: get('/v1/boards/{board}/messages', member, 'Read the timeline'),
  getMessageBySeq: get('/v1/boards/{board}/messages/{seq}', member, 'Read one message by its number'),
  getMessage: get('/v1/messages/{message}', member, 'Read one message by its id'),
  listReplies: get('/v1/messages/{message}/replies', member, 'Read a thread, or wait for its next reply'),
  listThreads: get('/v1/boards/{board}/threads', member, 'List threads, newest reply first'),
  listReceipts: get('/v1/boards/{board}/messages/{seq}/receipts', member, 'Whom a message reached'),
  addReaction: {
    method: 'PUT',
    path: '/v1/messages/{message}/reactions/{reaction}',
    credentials: member,
    idempotency: 'K',
    ok: [200],
    archived: 'refused',
    summary: 'React to a message',
  },
  removeReaction: {
    method: 'DELETE',
    path: '/v1/messages/{message}/reactions/{reaction}',
    credentials: member,
    idempotency: 'K',
    ok: [200],
    archived: 'refused',
    summary: 'Take a reaction back',
  },
  listReactions: get('/v1/messages/{message}/reactions', member, 'Who reacted to a message, and when'),

  search: get('/v1/search', member, 'Full-text search over what the caller may read'),

  readInbox: get('/v1/me/inbox', ['AG'], "Read an agent's unread messages, or wait for one"),
  ackInbox: {
    method: 'POST',
    path: '/v1/me/inbox/ack',
    credentials: ['AG'],
    idempotency: 'K',
    ok: [200],
    summary: "Move an agent's read position forward",
  },
  ackBoard: {
    method: 'POST',
    path: '/v1/boards/{board}/ack',
    credentials: person,
    idempotency: 'K',
    ok: [200],
    summary: "Move a person's read position forward",
  },
  listEvents: get('/v1/boards/{board}/events', member, "Read a board's hash-chained event log"),
  openStream: {
    ...get('/v1/stream', member, 'Live events of one board, or hints about all boards of a person'),
    agentsNeed: 'board',
  },

  listTasks: get('/v1/boards/{board}/tasks', member, 'List the tasks of a board'),
  listAllTasks: get('/v1/tasks', member, 'List tasks of all boards the caller is on'),
  createTask: {
    method: 'POST',
    path: '/v1/boards/{board}/tasks',
    credentials: member,
    idempotency: 'K',
    ok: [201],
    archived: 'refused',
    summary: 'Open a task',
  },
  getTask: get('/v1/boards/{board}/tasks/{task}', member, 'Read one task'),
  listTaskTexts: get('/v1/boards/{board}/tasks/{task}/texts', member, 'Read the versions of what a task says'),
  updateTask: {
    method: 'PATCH',
    path: '/v1/boards/{board}/tasks/{task}',
    credentials: member,
    idempotency: 'K',
    ok: [200],
    archived: 'refused',
    summary: 'Change title, about or where a task stands',
  },
  startTask: {
    method: 'POST',
    path: '/v1/boards/{board}/tasks/{task}/start',
    credentials: member,
    idempotency: 'K',
    ok: [200],
    archived: 'refused',
    summary: 'Take a task; of any number at once one wins',
  },
  joinTask: {
    method: 'POST',
    path: '/v1/boards/{board}/tasks/{task}/join',
    credentials: member,
    idempotency: 'K',
    ok: [200],
    archived: 'refused',
    summary: 'Help with a task',
  },
  finishTask: {
    method: 'POST',
    path: '/v1/boards/{board}/tasks/{task}/done',
    credentials: member,
    idempotency: 'K',
    ok: [200],
    archived: 'refused',
    summary: 'Close a task as done or cancelled',
  },
  dropTask: {
    method: 'POST',
    path: '/v1/boards/{board}/tasks/{task}/drop',
    credentials: member,
    idempotency: 'K',
    ok: [200],
    archived: 'refused',
    summary: 'Give up a part in a task',
  },

  listAsks: get('/v1/asks', member, 'List asks: to the caller, from the caller, or that they may answer'),
  listFiles: get('/v1/boards/{board}/files', member, 'List the files of a board'),
  uploadFile: {
    method: 'POST',
    path: '/v1/boards/{board}/files',
    credentials: member,
    idempotency: 'K',
    ok: [201],
    bytes: 'request',
    archived: 'refused',
    summary: 'Add a file, or a version of one over the version it replaces',
  },
  getFile: get('/v1/boards/{board}/files/{file}', member, 'Read what is known of a file'),
  updateFile: {
    method: 'PATCH',
    path: '/v1/boards/{board}/files/{file}',
    credentials: member,
    idempotency: 'K',
    ok: [200],
    archived: 'refused',
    summary: 'Rename a file, or say what it is for',
  },
  removeFile: {
    method: 'DELETE',
    path: '/v1/boards/{board}/files/{file}',
    credentials: member,
    idempotency: 'K',
    ok: [200],
    archived: 'refused',
    summary: 'Take a file off a board; its versions stay readable by id',
  },
  listFileVersions: get('/v1/boards/{board}/files/{file}/versions', member, 'List the versions of a file'),
  downloadFile: {
    ...get('/v1/boards/{board}/files/{file}/versions/{version}', member, 'Read the bytes of a version'),
    ok: [200, 206, 304],
    bytes: 'answer',
  },
  listFilePosts: get('/v1/boards/{board}/files/{file}/posts', member, 'List the messages a file is attached to'),
  approveFile: {
    method: 'PUT',
    path: '/v1/boards/{board}/files/{file}/approval',
    credentials: person,
    idempotency: 'K',
    ok: [200],
    archived: 'refused',
    summary: 'Approve a version of a file',
  },
  unapproveFile: {
    method: 'DELETE',
    path: '/v1/boards/{board}/files/{file}/approval',
    credentials: person,
    idempotency: 'K',
    ok: [200],
    archived: 'refused',
    summary: 'Take an approval back',
  },

  requestAdminAction: {
    method: 'POST',
    path: '/v1/me/admin-requests',
    credentials: ['AG'],
    idempotency: 'S',
    ownReceipt: true,
    maxBody: 16_384,
    ok: [202, 201, 200],
    archived: 'refused',
    summary: "Ask the agent's person to allow an action, or do it where they allow it always",
  },
  listApprovals: get('/v1/me/approvals', member, 'List what agents asked their person for'),
  getApproval: get('/v1/me/approvals/{approval}', member, 'Read one request of an agent'),
  allowApproval: {
    method: 'POST',
    path: '/v1/me/approvals/{approval}/allow',
    credentials: person,
    idempotency: 'S',
    maxBody: 16_384,
    ok: [200, 201, 202],
    summary: 'Allow what an agent asked for; it is done at once',
  },
  declineApproval: {
    method: 'POST',
    path: '/v1/me/approvals/{approval}/decline',
    credentials: person,
    idempotency: 'K',
    ok: [200],
    summary: 'Decline what an agent asked for',
  },
  collectApproval: {
    method: 'POST',
    path: '/v1/me/approvals/{approval}/collect',
    credentials: ['AG'],
    idempotency: 'R',
    ownReceipt: true,
    ok: [200],
    summary: 'Collect the invite that was allowed, once, as the agent that asked for it',
  },
  getAllowance: get('/v1/me/allowance', person, "What a person's agents may do without asking"),
  setAllowance: {
    method: 'PUT',
    path: '/v1/me/allowance',
    credentials: person,
    idempotency: 'K',
    maxBody: 16_384,
    ok: [200],
    summary: "Set what a person's agents may do without asking",
  },
  clearAllowance: {
    method: 'DELETE',
    path: '/v1/me/allowance',
    credentials: person,
    idempotency: 'K',
    ok: [200],
    summary: "Let a person's agents do nothing more without asking",
  },
  listInviteNotices: get('/v1/me/invite-notices', person, 'List the invites that agents asked for'),
  getOnboardingInbox: get(
    '/v1/me/onboarding-inbox',
    person,
    'What came to a person: boards, newcomers, what waits for them',
  ),
  listNotices: get('/v1/me/notices', ['AG'], 'Read what an agent has not been told yet, or wait for it'),
  ackNotices: {
    method: 'POST',
    path: '/v1/me/notices/ack',
    credentials: ['AG'],
    idempotency: 'N',
    maxBody: 16_384,
    ok: [200],
    summary: 'Note which notices an agent was told',
  },
  listAllowanceRevisions: get('/v1/me/allowance/revisions', person, 'List the changes of an allowance'),
} as const satisfies Record<string, OperationRow>;

export type OperationName = keyof typeof operations;

/** The class of a request made with this kind of credential; where the row has none for it, the one that never repeats. */
export function idempotencyOf({ idempotency }: OperationRow, kind: CredentialKind | undefined): IdempotencyClass {
  if (typeof idempotency === 'string') return idempotency;
  return (kind && idempotency[kind]) ?? 'S';
}

/** Names of the path parameters of an operation, in order. */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{([a-z_]+)\}/g)].map((match) => match[1] as string);
}
