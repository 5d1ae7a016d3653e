/** The one error type of the client, and the errors it makes itself. */
import type { NextStep } from '../contract/errors.ts';

/**
 * What is known about the request when it failed: it never left (`not_sent`), nobody can say whether it took effect
 * (`unclear`), or the server answered it (`answered`).
 */
export type Delivery = 'not_sent' | 'unclear' | 'answered';

export interface ClientErrorOptions {
  hint?: string;
  details?: Record<string, unknown>;
  next?: NextStep;
  status?: number;
  retryAfter?: number;
  requestId?: string;
  attempts?: number;
  delivery?: Delivery;
  transient?: boolean;
  replayed?: boolean;
  cause?: unknown;
}

/** A call that did not succeed: a refusal of the server under its own code, or one of the client's codes. */
export class ClientError extends Error {
  readonly code: string;
  /** One sentence about what to do next; may be empty. */
  readonly hint: string;
  readonly details: Record<string, unknown> | undefined;
  readonly next: NextStep | undefined;
  /** HTTP status; absent when there was no answer. */
  readonly status: number | undefined;
  /** Whole seconds the server asked to wait. */
  readonly retryAfter: number | undefined;
  readonly requestId: string | undefined;
  /** Requests made for this call; 0 when it was refused before the first. */
  attempts: number;
  /** Of the whole call: unclear as soon as one of its requests is. */
  delivery: Delivery;
  /** Whether it may have been done, and would be done twice by another call. */
  mayBeDone = false;
  /** Whether the same call may well succeed later without anything being changed. */
  readonly transient: boolean;
  /** The server refused this before, under the same idempotency key, and repeats its first answer. */
  readonly replayed: boolean;

  constructor(code: string, message: string, options: ClientErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ClientError';
    this.code = code;
    this.hint = options.hint ?? '';
    this.details = options.details;
    this.next = options.next;
    this.status = options.status;
    this.retryAfter = options.retryAfter;
    this.requestId = options.requestId;
    this.attempts = options.attempts ?? 0;
    this.delivery = options.delivery ?? (options.status === undefined ? 'not_sent' : 'answered');
    this.transient = options.transient ?? false;
    this.replayed = options.replayed ?? false;
  }
}

/** A limit on time ran out: `headers`, `body`, `silence` (of a stream) or `total` (of the whole call). */
export function timedOut(phase: string): ClientError {
  const message =
    phase === 'total' ? 'The call took longer than its time limit.' : 'The server did not answer in time.';
  return new ClientError('request_timeout', message, {
    hint: 'Try again; if it happens often, look at the server and the network between.',
    details: { phase },
    delivery: 'unclear',
    transient: true,
  });
}

/** The calls before this one took all the time that they had together, so it was not sent. */
export const noTimeLeft = (): ClientError =>
  new ClientError('request_timeout', 'The requests before this one took all of the time limit; it was not sent.', {
    hint: 'Try again with a longer --timeout, in seconds; 0 for none.',
    details: { phase: 'total' },
    transient: true,
  });

/** A class S request whose answer is lost: repeating it could do it twice, so it is not repeated. */
export function outcomeUnknown(lost: ClientError): ClientError {
  return new ClientError('outcome_unknown', 'The answer was lost: the request may or may not have taken effect.', {
    hint: 'Check what exists before trying again.',
    details: { ...lost.details, reason: lost.code, ...(lost.status === undefined ? {} : { status: lost.status }) },
    attempts: lost.attempts,
    delivery: 'unclear',
    cause: lost,
    status: lost.status,
    requestId: lost.requestId,
  });
}

/** The answer does not conform to the API. The error never contains the answer's text. */
export function unexpected(message: string, options: ClientErrorOptions = {}): ClientError {
  return new ClientError('server_unexpected', message, {
    hint: 'Check that the address is that of a board service and that nothing in between answers for it.',
    ...options,
  });
}

export function tooLarge(limit: number): ClientError {
  return new ClientError('response_too_large', 'The answer is larger than this client reads.', {
    hint: 'Ask for fewer records at a time.',
    details: { limit },
    delivery: 'answered',
  });
}

/** An input of the caller cannot be sent. */
export function invalidInput(message: string, details: Record<string, unknown>): ClientError {
  return new ClientError('invalid_request', message, { details });
}
