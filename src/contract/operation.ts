/** The fields of a row in the table of operations, and what can be derived from them without the schemas. */
import type { z } from 'zod';
import { type ErrorCode, errors } from './errors.ts';

/**
 * PK own access key, BR browser session, AG agent token, DG machine delegation, PC pairing endpoint credential, IN a server
 * invite shown as bearer.
 */
export type CredentialKind = 'PK' | 'BR' | 'AG' | 'DG' | 'PC' | 'IN';

/**
 * K kept 24 hours for replay; S secret, never kept; R kept sealed for the same credential only;
 * N the header is accepted without effect; '-' not a write.
 */
type IdempotencyClass = 'K' | 'S' | 'R' | 'N' | '-';
/**
 * How an operation is run. `info` reads nothing, `open` asks nobody to sign in, `read` and `wait` (for something new) only
 * read, `write` changes something, `stream` stays open for events; the body of an `upload` and the answer of a `download`
 * are bytes instead of JSON.
 */
export type OperationKind = 'info' | 'open' | 'read' | 'wait' | 'write' | 'stream' | 'upload' | 'download';

export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Left out: a GET is a `read`, anything else is a `write`. */
  kind?: OperationKind;
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
  /** The operation recognises repeats from its own data; the store of kept answers is not used. */
  ownReceipt?: true;
  /** Largest body in bytes, where it is smaller than the general limit. */
  maxBody?: number;
  /** Success statuses, the usual one first. */
  ok: readonly number[];
  /** A page of this server must have sent it, whatever credential it brings. */
  origin?: true;
  /** On an archived board: refused, or refused in part; left out: it works there. */
  archived?: 'refused' | 'partly';
  /**
   * What guests and their agents are refused, and whom to ask instead where it is not any member. `onBoard`: only once the
   * board is found, as wherever the path names one.
   */
  guests?: { readonly cannot: string; readonly hint?: string; readonly onBoard?: true };
  /** What only server admins may do. */
  admins?: { readonly may: string };
  /** Nothing new should call it. */
  deprecated?: true;
  /** The rate limits (server/rates/table.ts) that its requests count against, besides `writes` for everything except GET. */
  rates?: readonly string[];
  /** Error codes of its own, beside those that follow from the rest of the row and those of any request. */
  errors?: readonly ErrorCode[];
  /** The statuses of an error code, where they are not its usual one alone. */
  statuses?: Partial<Record<ErrorCode, readonly number[]>>;
  /** One line for the API description. */
  summary: string;
  /** Further explanation for the API description. */
  description?: string;
}

/** The shapes of an operation's request and answer. */
export interface Shapes {
  /** Patterns of the path parameters that answer 400 on a mismatch. `{board}` and `{member}` are not here: they answer 404. */
  params?: z.ZodObject;
  query?: z.ZodObject;
  body?: z.ZodType;
  answer: z.ZodType;
}

export interface OperationRow extends Route, Shapes {}

/** Makes rows of one method, answered with 200; a row states where it differs. */
const rowsOf =
  <const Method extends Route['method']>(method: Method, idempotency: IdempotencyClass) =>
  <const Path extends string>(
    path: Path,
    credentials: readonly CredentialKind[],
    summary: string,
  ): Route & { method: Method; path: Path } => ({
    method,
    path,
    credentials,
    idempotency,
    ok: [200],
    summary,
  });

export const get = rowsOf('GET', '-');
export const post = rowsOf('POST', 'K');
export const put = rowsOf('PUT', 'K');
export const patch = rowsOf('PATCH', 'K');
export const del = rowsOf('DELETE', 'K');

export const kindOf = ({ kind, method }: Pick<Route, 'kind' | 'method'>): OperationKind =>
  kind ?? (method === 'GET' ? 'read' : 'write');

/** People and agents. */
export const byMember = ['PK', 'BR', 'AG'] as const;
/** People, with a key or in a browser. */
export const byPerson = ['PK', 'BR'] as const;

/** The idempotency class of a request with this kind of credential; `S` (never repeated) where the row names none. */
export function idempotencyOf(
  { idempotency }: Pick<Route, 'idempotency'>,
  kind: CredentialKind | undefined,
): IdempotencyClass {
  if (typeof idempotency === 'string') return idempotency;
  return (kind && idempotency[kind]) ?? 'S';
}

/** Whether the answer to some kind of credential is kept under the request's Idempotency-Key. */
export const keepsAnswers = ({ idempotency }: Pick<Route, 'idempotency'>): boolean =>
  Object.values(idempotency).some((byKind) => byKind === 'K' || byKind === 'R');

/** Names of the path parameters of an operation, in order. */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{([a-z_]+)\}/g)].map((match) => match[1] as string);
}

/** Of operations that also refuse a request which fits its shape and contradicts itself. */
export const orContradicts = { invalid_request: [400, 422] } as const;

/** The statuses that an operation's error code comes with. */
export const statusesOf = ({ statuses }: Pick<Route, 'statuses'>, code: ErrorCode): readonly number[] =>
  statuses?.[code] ?? [errors[code].status];

/** The error codes that any request may get; `not_found` where its path is none of this server. */
export const anyRequest: readonly ErrorCode[] = [
  'not_found',
  'request_timeout',
  'host_not_allowed',
  'rate_limited',
  'internal',
  'unavailable',
  'storage_full',
];

/** The error codes of an operation, besides those of any request: derived from its row first, then its own. */
export function errorCodesOf(row: OperationRow): ErrorCode[] {
  const { credentials } = row;
  const writes = row.method !== 'GET';
  const only = (kind: CredentialKind): boolean => credentials.length === 1 && credentials[0] === kind;
  // A browser's write is proven to come from a page of this server before it is looked at who may do it. Where nobody
  // signs in, attempts are counted, and those that a page of another site makes are refused instead.
  const signedIn = credentials.some((kind) => kind !== 'IN');
  const given: [boolean, ErrorCode[]][] = [
    [true, ['invalid_request']],
    [credentials.length > 0, ['unauthorized', 'forbidden', 'delegation_revoked', 'agent_removed', 'board_not_found']],
    [(credentials.length > 0 && !credentials.includes('AG')) || row.agentsNeed !== undefined, ['human_token_required']],
    [only('AG'), ['agent_token_required']],
    [only('BR'), ['browser_session_required']],
    [writes, ['origin_not_allowed']],
    [writes && signedIn, ['csrf_token_invalid']],
    [row.guests !== undefined, ['guest_not_allowed']],
    [row.admins !== undefined, ['server_admin_required']],
    [row.archived !== undefined, ['board_archived']],
    [writes && keepsAnswers(row), ['idempotency_conflict', 'idempotency_in_progress']],
    [writes, ['request_too_large', 'unsupported_media_type']],
  ];
  return given.flatMap(([applies, codes]) => (applies ? codes : [])).concat(row.errors ?? []);
}
