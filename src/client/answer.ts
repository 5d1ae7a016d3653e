/** Parses an answer into a reply or an error. */
import type { ErrorBody } from '../contract/errors.ts';
import type { ClientRoute } from '../contract/routes.ts';
import { describe, isJson, readJson, unexpectedAnswer } from './body.ts';
import { ClientError, type ClientErrorOptions, type Delivery, unexpected } from './errors.ts';
import type { Exchange } from './exchange.ts';
import { MAX_REFUSAL } from './limits.ts';
import { cut, nextStep } from './next-command.ts';
import { isTransientAnswer, parseRetryAfter, saysUnknown } from './retry.ts';

export interface Reply<T> {
  status: number;
  data: T;
  /** The server did this before, under the same idempotency key, and repeats its first answer. */
  replayed: boolean;
}

/** Where an answer comes from, and when: milliseconds since the epoch, for a `Retry-After` that is a date. */
interface Source {
  origin: string;
  now: number;
}

/** @throws ClientError for every answer that is not a success of this operation. */
export async function readReply(row: ClientRoute, exchange: Exchange, source: Source): Promise<Reply<unknown>> {
  const { response } = exchange;
  if (!response.ok) throw await readRefusal(row, exchange, source);
  const data = await readJson(exchange);
  if (!row.ok.includes(response.status))
    throw unexpectedAnswer(response, `The operation does not answer with status ${response.status}.`);
  if (!isRecord(data)) throw unexpectedAnswer(response, 'The answer is not the JSON that is due.');
  // A record, what an answer holds beside it, and each row may name the step that comes next; `roles` has names that people chose.
  const { roles: _named, ...parts } = data;
  for (const record of [data, ...Object.values(parts).flat()])
    if (isRecord(record) && record['next']) keepKnownStep(record, source.origin);
  return {
    status: response.status,
    data,
    replayed: isReplayed(response),
  };
}

const isReplayed = ({ headers }: Response): boolean => headers.get('idempotent-replayed') === 'true';

function keepKnownStep(record: Record<string, unknown>, origin: string): void {
  const next = nextStep(record['next'], origin);
  if (next) record['next'] = next;
  else delete record['next'];
}

/** The error that a status outside 200 to 299 stands for. Network trouble while reading it is thrown instead. */
export async function readRefusal(row: ClientRoute, exchange: Exchange, { origin, now }: Source): Promise<ClientError> {
  const { response } = exchange;
  const { status } = response;
  const retryAfter = parseRetryAfter(response.headers, now);
  const requestId = response.headers.get('x-request-id') ?? undefined;
  const refusal = isJson(response) ? refusalIn(await readJson(exchange, MAX_REFUSAL), origin) : null;
  exchange.close();

  const code = refusal?.code ?? 'server_unexpected';
  const common: ClientErrorOptions = {
    status,
    retryAfter,
    requestId,
    delivery: deliveryOf(status, refusal),
    transient: isTransientAnswer(status, code),
    replayed: isReplayed(response),
  };
  const wait = retryAfter === undefined ? {} : { retry_after: retryAfter };
  if (status === 501 || (status === 404 && code === 'not_found')) return outdated(row, common);
  const { field, problem } = refusal?.details ?? {};
  // What this program sends is known to a server of its version.
  if (code === 'invalid_request' && NOT_KNOWN.test(cut(problem))) return outdated(row, common, cut(field));
  if (!refusal) {
    const details = { ...describe(response), ...wait };
    if (GATEWAY.has(status)) {
      const message = `The server cannot be reached: a proxy in front of it answered with status ${status}.`;
      return unexpected(message, { ...common, hint: BEHIND_GATEWAY, details });
    }
    if (status === 413)
      return unexpected('A proxy in front of the server takes no body of this size.', {
        ...common,
        hint: 'Ask the operator of the server to let bodies of 64 MB through the proxy.',
        details,
      });
    const message = `The server answered with status ${status} and not in the form of this API.`;
    return unexpected(message, { ...common, details });
  }
  const details = refusal.details || retryAfter !== undefined ? { ...refusal.details, ...wait } : undefined;
  return new ClientError(code, refusal.message, { ...common, hint: refusal.hint, next: refusal.next, details });
}

/** Statuses of a proxy or load balancer that cannot reach the server. */
const GATEWAY = new Set([502, 503, 504]);
const BEHIND_GATEWAY = 'Try again in a moment; if it goes on, ask the operator of the server whether it is up.';

/**
 * A gateway that got no answer from behind it cannot say whether the request was carried out, nor can a server whose
 * database went away at the commit; 501 says that it was not.
 *
 * @param refusal null where the answer is not in the form of this API
 */
function deliveryOf(status: number, refusal: ErrorBody['error'] | null): Delivery {
  const unsaid = refusal === null && status >= 500 && status !== 501;
  const unclear = unsaid || status === 502 || status === 504 || saysUnknown(refusal?.details);
  return unclear ? 'unclear' : 'answered';
}

/** How a server says that it has no field of this name. */
const NOT_KNOWN = /^is not known here/;

/** @param field of the operation, where only that is missing. */
function outdated(row: ClientRoute, common: ClientErrorOptions, field?: string): ClientError {
  return new ClientError('server_outdated', `This server does not know ${field ?? 'that operation'} yet.`, {
    ...common,
    transient: false,
    hint: 'Update the server, or use a client of its version.',
    details: { operation: `${row.method} ${row.path}`, ...(field === undefined ? {} : { field }) },
  });
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The contract's error body, or null for any other JSON. */
function refusalIn(body: unknown, origin: string): ErrorBody['error'] | null {
  const error = isRecord(body) ? body['error'] : undefined;
  if (!isRecord(error) || typeof error['code'] !== 'string' || error['code'] === '') return null;
  const { code, message, hint, details } = error;
  const next = nextStep(error['next'], origin);
  return {
    code: cut(code, 60),
    message: cut(message),
    hint: cut(hint),
    ...(isRecord(details) ? { details } : {}),
    ...(next ? { next } : {}),
  };
}
