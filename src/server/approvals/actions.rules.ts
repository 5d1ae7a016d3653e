/** What an agent may ask its person for: the exact text of it, its hash, and what each kind is. */
import { canonicalJson } from '../../contract/canonical.ts';
import type { Route } from '../../contract/operation.ts';
import { type OperationName, operations } from '../../contract/operations.ts';
import type { AdminAction, Authorization, Category } from '../../contract/types.ts';
import { invalidField } from '../operation/refusals.rules.ts';
import { sha256 } from '../text/hash.ts';
import { findSecrets } from '../text/redaction.ts';

export type ActionKind = AdminAction['kind'];
export type ActionOf<Kind extends ActionKind> = Extract<AdminAction, { kind: Kind }>;

interface KindRow {
  /** What a person may allow once and for all; null: never this. */
  category: Category | null;
  /** A browser session may allow it; else only the person's own key. */
  browser: boolean;
  authorization: Authorization['kind'];
  /** The person's own operation, on whose terms it is done. */
  operation: OperationName;
}

export const kinds: Readonly<Record<ActionKind, KindRow>> = {
  invite_people: { category: 'invite_people', browser: true, authorization: 'invited', operation: 'createInvite' },
  add_people: { category: 'add_people', browser: true, authorization: 'added', operation: 'addBoardPerson' },
  set_server_role: { category: null, browser: false, authorization: 'role_changed', operation: 'setPersonRole' },
  set_board_role: { category: null, browser: true, authorization: 'role_changed', operation: 'makeBoardOwner' },
  remove_person: { category: null, browser: true, authorization: undefined, operation: 'removeBoardPerson' },
  revoke_key: { category: null, browser: false, authorization: undefined, operation: 'revokeKey' },
  set_board_policy: { category: null, browser: true, authorization: undefined, operation: 'updateBoard' },
};

/** Whether a browser session may allow this; a person leaves the server only by a key. */
export const browserMayAllow = (action: AdminAction): boolean => kinds[action.kind].browser && !leavesServer(action);

/** The person's own operation that this does, whose terms hold for it too. */
export const ownOperation = (action: AdminAction): Route =>
  operations[leavesServer(action) ? 'removePerson' : kinds[action.kind].operation];

const leavesServer = (action: AdminAction): boolean => action.kind === 'remove_person' && action.board_id === undefined;

export interface CanonicalAction {
  action: AdminAction;
  /** Canonical JSON: what is stored, hashed and executed. */
  text: string;
  hash: string;
}

/** The one text of an action; boards are a set, nothing else is touched. */
export function canonicalAction(action: AdminAction): CanonicalAction {
  const sorted =
    action.kind === 'invite_people'
      ? { ...action, invite: { ...action.invite, boards: [...action.invite.boards].sort() } }
      : action;
  const text = canonicalJson(plain(sorted));
  return { action: JSON.parse(text) as AdminAction, text, hash: hashOf(text) };
}

export const hashOf = (text: string): string => `sha256:${sha256(text)}`;

/** Without what was left out: canonical JSON holds no undefined. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Boards that an action names, in the order of their ids. */
export function boardsNamed(action: AdminAction): string[] {
  if (action.kind === 'invite_people') return [...action.invite.boards].sort();
  return 'board_id' in action && action.board_id !== undefined ? [action.board_id] : [];
}

/** The person an action is about. */
export const personNamed = (action: AdminAction): string | null => ('person_id' in action ? action.person_id : null);

/** @throws Refusal `invalid_request` when what the work says holds a secret of this service. */
export function refuseSecrets(work: string): void {
  if (!findSecrets(work).some(({ kind }) => kind === 'service_token')) return;
  throw invalidField('work', 'holds a secret of this service', 'Say what the work is without any key, token or link.');
}
