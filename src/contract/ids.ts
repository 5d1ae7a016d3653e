/** Identifiers, secrets and names: their prefixes and patterns, in one place for server, client and page. */

/** The alphabet of ULIDs and short codes: Crockford base32 without I, L, O, U. */
export const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

const idPrefixes = [
  'srv',
  'hum',
  'key',
  'ses',
  'dlg',
  'inv',
  'mrq',
  'req',
  'brd',
  'mem',
  'jc',
  'evt',
  'msg',
  'tsk',
  'fil',
  'prq',
  'apr',
  'alw',
  'ntc',
  'pcr',
] as const;
export type IdPrefix = (typeof idPrefixes)[number];

/** `<prefix>_` and 26 Crockford characters. */
export const idPattern = (prefix: IdPrefix): RegExp => new RegExp(`^${prefix}_[0-9A-HJKMNP-TV-Z]{26}$`);

export const secretPrefixes = {
  key: 'abh_',
  seat: 'aba_',
  session: 'abb_',
  collect: 'abc_',
  delegation: 'abd_',
  invite: 'abi_',
  login: 'abl_',
  proof: 'abp_',
} as const;
export type SecretKind = keyof typeof secretPrefixes;

export const patterns = {
  handle: /^[a-z0-9]+(-[a-z0-9]+)*$/,
  keyName: /^[a-z0-9]+(-[a-z0-9]+)*$/,
  boardName: /^[a-z0-9][a-z0-9-]{0,38}[a-z0-9]$/,
  memberName: /^[a-z0-9][a-z0-9-]{0,39}$/,
  roleName: /^[a-z][a-z0-9-]{0,31}$/,
  session: /^[a-z0-9][a-z0-9-]{0,39}:[A-Za-z0-9._-]{1,200}$/,
  accessKey: /^abh_[A-Za-z0-9_-]{32,}$/,
  agentToken: /^aba_[A-Za-z0-9_-]{32,}$/,
  sessionSecret: /^abb_[A-Za-z0-9_-]{32,}$/,
  delegation: /^abd_[A-Za-z0-9_-]{32,}$/,
  invite: /^abi_[A-Za-z0-9_-]{32,}$/,
  collectSecret: /^abc_[A-Za-z0-9_-]{32,}$/,
  loginCode: /^abl_[A-Za-z0-9_-]{32,}$/,
  proof: /^abp_[A-Za-z0-9_-]{32,}$/,
  /** As the server shows it; what a person types is normalised first. */
  shortCode: /^[0-9A-HJKMNP-TV-Z]{3}-[0-9A-HJKMNP-TV-Z]{3}$/,
  digest: /^sha256:[0-9a-f]{64}$/,
  /** UTC with exactly three decimals. */
  time: /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/,
  taskPrefix: /^[A-Z][A-Z0-9]{1,5}$/,
  /** What names a task: a reference in any letter case, a number, or an id. */
  task: /^([A-Za-z][A-Za-z0-9]{1,5}-[1-9][0-9]{0,8}|[1-9][0-9]{0,8}|tsk_[0-9A-HJKMNP-TV-Z]{26})$/,
  /** Printable ASCII. */
  idempotencyKey: /^[\x20-\x7e]{1,128}$/,
} as const;

/** Which kind of credential a bearer token is, by its form. */
export const tokenKinds = [
  ['PK', patterns.accessKey],
  ['AG', patterns.agentToken],
  ['BR', patterns.sessionSecret],
  ['DG', patterns.delegation],
  ['PC', patterns.proof],
  ['IN', patterns.invite],
] as const;

/** A path on a board: groups of letters, digits and a few marks that begin with a letter or digit, joined by slashes. */
export const filePathPattern = /^[A-Za-z0-9][A-Za-z0-9._-]*(\/[A-Za-z0-9][A-Za-z0-9._-]*)*$/;

/** The last part of a path on a board. */
export const leafOf = (name: string): string => name.slice(name.lastIndexOf('/') + 1);

/** Whether a path is one of the two at which the brief of a board stands, and nothing else. */
export const isBriefPath = (name: string): boolean => name === 'brief.md' || name === 'brief.html';

/** Reserved words that cannot be a handle or a member name, because they already mean something else. */
export const reservedHandles: readonly string[] = ['all', 'everyone', 'here', 'me', 'system', 'service'];
export const reservedMemberNames: readonly string[] = ['all', 'me', 'system'];
