/** The contract's records as types, inferred from the schemas; importing this file loads nothing at run time. */
import type { z } from 'zod';
import type * as paths from './line-files.ts';
import type * as allowances from './nouns/allowances.ts';
import type * as approvals from './nouns/approvals.ts';
import type * as boards from './nouns/boards.ts';
import type * as browsers from './nouns/browsers.ts';
import type * as delegations from './nouns/delegations.ts';
import type * as files from './nouns/files.ts';
import type * as inbox from './nouns/inbox.ts';
import type * as invites from './nouns/invites.ts';
import type * as joining from './nouns/joining.ts';
import type * as keys from './nouns/keys.ts';
import type * as lines from './nouns/lines.ts';
import type * as members from './nouns/members.ts';
import type * as messages from './nouns/messages.ts';
import type * as needs from './nouns/needs.ts';
import type * as pairing from './nouns/pairing.ts';
import type * as people from './nouns/people.ts';
import type * as record from './nouns/record.ts';
import type * as search from './nouns/search.ts';
import type * as seats from './nouns/seats.ts';
import type * as server from './nouns/server.ts';
import type * as tasks from './nouns/tasks.ts';
import type { OperationKind } from './operation.ts';
import type { OperationName, operations } from './operations.ts';
import type * as common from './schemas.ts';

type Schemas = typeof operations;
type SchemaOf<Name extends OperationName, Part extends string> = Schemas[Name] extends { [P in Part]: infer S }
  ? S
  : never;
type In<S> = S extends z.ZodType ? z.input<S> : undefined;
type Out<S> = S extends z.ZodType ? z.output<S> : undefined;

/** How an operation is run. */
export type KindOf<Name extends OperationName> = Schemas[Name] extends { kind: infer Kind extends OperationKind }
  ? Kind
  : Schemas[Name] extends { method: 'GET' }
    ? 'read'
    : 'write';

/** What an operation answers. */
export type Answer<Name extends OperationName> = z.output<Schemas[Name]['answer']>;
/** The body as a client writes it (defaults may be left out). */
export type BodyIn<Name extends OperationName> = [SchemaOf<Name, 'body'>] extends [never]
  ? undefined
  : In<SchemaOf<Name, 'body'>>;
/** The body, query and path parameters as the server reads them. */
export type Body<Name extends OperationName> = [SchemaOf<Name, 'body'>] extends [never]
  ? undefined
  : Out<SchemaOf<Name, 'body'>>;
export type Query<Name extends OperationName> = [SchemaOf<Name, 'query'>] extends [never]
  ? Record<string, never>
  : Out<SchemaOf<Name, 'query'>>;
export type Params<Name extends OperationName> = Readonly<Record<NamesIn<Schemas[Name]['path']>, string>>;
/** The names in the braces of a path. */
type NamesIn<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

export type Actor = z.output<typeof common.actor>;
export type EventActor = z.output<typeof common.eventActor>;
export type DeliveryMode = z.output<typeof common.deliveryMode>;
export type ServerRole = z.output<typeof common.serverRole>;
export type MidturnPolicy = z.output<typeof common.midturnPolicy>;
export type Settings = z.output<typeof server.settings>;
export type Person = z.output<typeof common.person>;
export type BrowserSession = z.output<typeof browsers.browserSession>;
export type CurrentBrowserSession = z.output<typeof browsers.currentBrowserSession>;
export type AccessKey = z.output<typeof keys.accessKey>;
export type Delegation = z.output<typeof delegations.delegationRecord>;
export type ServerInfo = z.output<typeof server.serverInfo>;
export type Board = z.output<typeof boards.board>;
export type BoardPerson = z.output<typeof members.boardPerson>;
export type HiddenBoard = z.output<typeof boards.hiddenBoard>;
export type Member = z.output<typeof members.memberRecord>;
export type AgentSeat = z.output<typeof members.agentSeat>;
export type PrunedAgent = z.output<typeof members.prunedAgent>;
export type PersonRemoval = z.output<typeof people.personRemoval>;
export type AgentLocation = z.output<typeof seats.agentLocation>;
export type AgentUsage = z.output<typeof seats.agentUsage>;
export type AgentWaiting = z.output<typeof seats.agentWaiting>;
export type Policy = z.output<typeof boards.policy>;
export type PolicyChange = z.output<typeof boards.policyChange>;
export type PolicyKey = z.output<typeof boards.policyKey>;
export type Preset = z.output<typeof boards.preset>;
export type Role = z.output<typeof boards.role>;
export type Permission = z.output<typeof boards.permission>;
export type JoinCode = z.output<typeof joining.joinCode>;
export type JoinResult = z.output<typeof joining.joinResult>;
export type Message = z.output<typeof messages.message>;
export type Mention = z.output<typeof messages.mention>;
export type Budget = z.output<typeof seats.budget>;
export type Need = z.output<typeof needs.need>;
export type Inbox = z.output<typeof inbox.inbox>;
export type TaskRef = z.output<typeof tasks.taskRef>;
export type AgentLine = z.output<typeof seats.agentLine>;
export type LineOverlap = z.output<typeof paths.lineOverlap>;
export type Claim = z.output<typeof lines.claimList>['claims'][number];
export type AgentWork = z.output<typeof inbox.agentWork>;
export type Task = z.output<typeof tasks.task>;
export type SearchResult = z.output<typeof search.searchResult>;
export type BoardFile = z.output<typeof files.boardFile>;
export type FileDetail = z.output<typeof files.fileDetail>;
export type FileVersion = z.output<typeof files.fileVersion>;
export type FileApproval = z.output<typeof files.fileApproval>;
export type FileRef = z.output<typeof files.fileRef>;
export type FileToAttach = z.output<typeof files.fileToAttach>;
export type Freshness = z.output<typeof files.freshness>;
export type Brief = z.output<typeof files.brief>;
export type BoardEvent = z.output<typeof record.event>;
export type AdminAction = z.output<typeof approvals.adminAction>;
export type Approval = z.output<typeof approvals.approval>;
export type Authorization = z.output<typeof approvals.authorization>;
export type BoardLabel = z.output<typeof approvals.boardLabel>;
export type Category = z.output<typeof allowances.category>;
export type PairingRequest = z.output<typeof pairing.pairingRequest>;
export type PairingState = z.output<typeof pairing.pairingState>;
export type PairingSide = z.output<typeof pairing.pairingSide>;
export type PairingDirection = z.output<typeof pairing.pairingDirection>;
export type ServerInvite = z.output<typeof invites.serverInvite>;
