/** What the commands about people, keys, machines and invites print with `--json`. */
import { z } from 'zod';
import {
  answer,
  board,
  boardPerson,
  count,
  type Fields,
  failure,
  flag,
  member,
  named,
  object,
  person,
  savedKey,
  stored,
  text,
  whole,
} from './base.ts';

/** What an agent asked its person for. */
export const asked = named('RequestedApproval', whole(answer('requestAdminAction')));

/** What one of several servers said, or why it said nothing. */
export const serverGroup = (fields: Fields) =>
  z.union([
    z.strictObject({ name: text, url: text, ...fields }),
    z.strictObject({ name: text, url: text, error: failure }),
  ]);

const keys = answer('listKeys').shape;
const sessions = answer('listBrowserSessions').shape;
const delegations = answer('listDelegations').shape;
const request = answer('lookUpMachineRequest');
const arrived = {
  server_id: text,
  person: person.loose(),
  key: savedKey.nullable(),
  stored,
  default: flag,
  boards: z.array(z.unknown()).optional(),
  pairing_request_id: text.nullable().optional(),
};
const collected = named('CollectedKey', object(arrived));
const server = z.strictObject({
  name: text,
  url: text,
  local: flag,
  default: flag,
  handle: text.nullable(),
  key: text.nullable(),
  seats: count,
});
const signedOut = {
  server: z.strictObject({ name: text, url: text }),
  revoked: flag,
  ended_sessions: count,
  agents_ended: count,
  forgotten: flag,
};
const invite = answer('getInvite');
const made = answer('createInvite');
const code = answer('createJoinCode');
const listedCode = answer('listJoinCodes').shape.join_codes.element;
const outcome = named('ApprovalOutcome', whole(answer('getApproval')));
const allowance = answer('getAllowance');
const changedAllowance = named('ChangedAllowance', object({ allowance, changed: flag }));
const agreed = {
  charter: text,
  role_charter: text.nullable(),
  mode: member.shape.delivery_mode.unwrap().nullable(),
};
const use = z.strictObject({ as: text, env: text, bound_session: text.nullable() });
const seat = answer('leaveSeat');
const delivery = object({
  agent: text,
  mode: text,
  revision: count,
  changed: flag,
  applied: text.nullable(),
  unconfirmed: z.literal(true).optional(),
});
const agents = answer('listMyAgents').shape.agents;

const pairing = answer('getPairingRequest');
const oneRequest = named('OnePairingRequest', object({ request: pairing }));

export const people = {
  'pairing:list': object({ requests: answer('listPairingRequests').shape.requests }),
  'pairing:show': oneRequest,
  'pairing:request': object({ request: pairing, next: pairing.shape.next.optional() }),
  'pairing:choose': oneRequest,
  'pairing:accept': oneRequest,
  'pairing:select': oneRequest,
  'pairing:decline': oneRequest,
  'pairing:cancel': oneRequest,
  connect: collected,
  'machine:request': z.union([object({ code: text, expires_at: text }), collected]),
  'machine:collect': collected,
  'machine:show': object({ request }),
  'machine:approve': object({ request, approved: flag }),
  'machine:refuse': object({ request, approved: flag }),
  login: object({
    server_id: text,
    person: person.loose(),
    key: savedKey.nullable().optional(),
    stored,
    previous_use: text.nullable().optional(),
    replaced: flag.optional(),
    default: flag.optional(),
  }),
  logout: z.union([
    object(signedOut),
    object({
      ...signedOut,
      server: z.never().optional(),
      servers: z.array(
        z.union([z.strictObject(signedOut), z.strictObject({ server: z.unknown(), error: z.unknown() })]),
      ),
    }),
  ]),
  open: object({ url: text.nullable(), ui_url: text, opened: flag, expires_at: text.nullable() }),
  whoami: object({ me: answer('getMe') }),
  'servers:list': object({ servers: z.array(server), default: text.nullable() }),
  'servers:use': object({ server, previous: text.nullable() }),
  'servers:name': object({ server, previous: text }),
  'servers:forget': object({ server, previous: text.nullable() }),
  'key:list': object({
    person: keys.person,
    keys: keys.keys,
    current_key_id: keys.current_key_id,
    current_key_previous_use: text.nullable().optional(),
  }),
  'key:create': object({ key: answer('createKey') }),
  'key:revoke': z.union([object({ person: keys.person, key: answer('revokeKey'), this_machine: flag }), asked]),
  'key:sessions': object({ person: sessions.person, sessions: sessions.sessions }),
  'key:end-session': object({ session: answer('endBrowserSession') }),
  'key:delegations': object({ person: delegations.person, delegations: delegations.delegations }),
  'key:end-delegation': object({ delegation: answer('endDelegation') }),
  'profile:show': object({ me: answer('getMe') }),
  'profile:set': object({ me: answer('updateMe') }),
  'people:list': object({ people: z.array(answer('setPersonRole').shape.person) }),
  'people:show': object({ person: z.unknown() }),
  'people:role': z.union([object({ person: answer('setPersonRole').shape.person, changed: flag }), asked]),
  'people:rename': object({ person: answer('renamePerson').shape.person, changed: flag }),
  'people:remove': z.union([object({ removal: answer('removePerson') }), asked]),
  'settings:show': object({ settings: answer('getSettings') }),
  'settings:set': object({ settings: answer('getSettings'), changed: flag }),
  'invite:create': z.union([object({ invite: made }), asked]),
  'invite:list': object({ invites: z.array(invite) }),
  'invite:show': object({ invite }),
  'invite:update': object({ invite }),
  'invite:revoke': whole(answer('revokeInvite')),
  'invite:preview': object({ preview: answer('previewInvite') }),
  'invite:notices': object({ notices: answer('listInviteNotices').shape.notices }),
  'code:create': object({ code, prompt: text }),
  'code:guest': object({ code, prompt: text }),
  'code:list': object({ join_codes: z.array(listedCode) }),
  'code:revoke': object({ code: listedCode }),
  pair: object({
    board_record: board,
    linked: flag,
    agent: member,
    use,
    join: z.strictObject({ code: text, line: text, role: text, expires_at: text }),
    ...agreed,
  }),
  join: object({
    ...Object.fromEntries(Object.entries(arrived).map(([name, schema]) => [name, schema.optional()])),
    board_record: board.optional(),
    agent: member.optional(),
    person: z.union([boardPerson, person.loose()]).optional(),
    use: use.optional(),
    charter: text.optional(),
    role_charter: text.nullable().optional(),
    mode: agreed.mode.optional(),
    reused: flag.optional(),
    previous: z.unknown().optional(),
    guest: z.literal(true).optional(),
  }),
  agents: object({ agents, servers: z.array(serverGroup({ agents })).optional() }),
  'agent:create': object({ agent: member, stored: stored.nullable(), token: text.optional() }),
  'agent:show': object({ agent: member }),
  'agent:leave': object({ agent: seat }),
  'agent:remove': object({ agent: seat }),
  'agent:prune': whole(answer('pruneAgents')),
  'agent:delivery': delivery,
  'agent:resume': object({
    agent: member,
    session: text,
    previous: z.unknown().optional(),
    mode: text.nullable(),
  }).loose(),
  'agent:midturn': whole(answer('getMidturnPolicy')),
  'approval:list': object({ approvals: answer('listApprovals').shape.approvals }),
  'approval:show': outcome,
  'approval:allow': asked,
  'approval:decline': object({ state: text, approval: answer('declineApproval') }),
  'approval:collect': outcome,
  'allowance:show': object({ allowance }),
  'allowance:on': changedAllowance,
  'allowance:off': changedAllowance,
  'allowance:set': changedAllowance,
  'allowance:history': object({ revisions: answer('listAllowanceRevisions').shape.revisions }),
};
