/**
 * Writes that may be sent again. The server does a write with the same idempotency key once, but it knows a key only for a
 * day, and only in the browser session that it was sent in.
 */
import type { CallInput } from '../../client/client.ts';
import { ClientError } from '../../client/errors.ts';
import { newIdempotencyKey } from '../../client/idempotency.ts';
import type { OperationName } from '../../contract/operations.ts';
import type { Answer } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { hasCode, isOutcomeUnknown } from '../api/errors.ts';
import { session } from '../api/session.ts';

export interface Attempt {
  key: string;
  /** When the first attempt was made. */
  at: string;
  /** The id of the browser session that the last one was made in. */
  session?: string | undefined;
}

/** The server remembers keys for 24 hours; an hour less is safe. */
const MAX_KEY_AGE_MS = 23 * 3_600_000;
/** Whether that time has passed since. */
export const isOld = ({ at }: { at: string }): boolean => Date.now() - Date.parse(at) > MAX_KEY_AGE_MS;
/** Whether the server may have forgotten the key of a write that may be done, so that a retry could do it twice. */
export const isForgotten = (attempt: Omit<Attempt, 'key'>): boolean =>
  attempt.session !== session.peek()?.id || isOld(attempt);

/**
 * Whether a write may be done although it failed. What became of a request before is told by no other refusal than those
 * that the server keeps under the key; a browser may send a request twice by itself.
 *
 * @param unclear whether it may have been done before this error
 */
export function mayBeDone(error: unknown, unclear: boolean): boolean {
  if (!(error instanceof ClientError)) return true;
  if (error.delivery === 'not_sent') return unclear;
  if (isOutcomeUnknown(error)) return true;
  // A 429 may answer the browser's own repeat.
  if (!unclear && error.attempts <= 1 && error.status !== 429) return false;
  return ![409, 422].includes(error.status!) || hasCode(error, 'board_archived');
}

interface SentWrite extends Attempt {
  subject: string;
  name: string;
  /** It was sent for the first time, and has no answer yet. */
  sending?: boolean;
}

/** Where this tab keeps them over a reload. */
const STORED = 'attempts';

/** The writes that may be done. */
let writes: readonly SentWrite[] = load();

/** What was being sent when the page was loaded again may be done too. */
function load(): SentWrite[] {
  try {
    const stored = JSON.parse(sessionStorage.getItem(STORED) ?? '[]') as SentWrite[];
    return stored.map((sent) => ({ ...sent, sending: false }));
  } catch {
    return [];
  }
}

function keep(next: readonly SentWrite[]): void {
  writes = next;
  try {
    sessionStorage.setItem(STORED, JSON.stringify(next));
  } catch {
    // A reload forgets them.
  }
}

/**
 * Sends a write: with the key of the attempt before if that may have been done.
 *
 * @param subject what it is about: once a write about it succeeds, attempts before are of no more concern
 * @param name identifies the write among those about the same, with all that is sent: another text needs another key
 * @throws ClientError `outcome_unknown`, once, instead of sending what could be done twice
 */
export async function attempt<T>(subject: string, name: string, send: (key: string) => Promise<T>): Promise<T> {
  const before = writes.find((sent) => sent.subject === subject && sent.name === name && !sent.sending);
  const others = writes.filter((sent) => sent !== before);
  if (before && isForgotten(before)) {
    keep(others);
    throw new ClientError('outcome_unknown', 'It is not known whether this was done the last time.', {
      hint: 'Look whether it was. If not, do it again.',
    });
  }
  const { key, at } = before ?? { key: newIdempotencyKey(), at: new Date().toISOString() };
  const sent = { subject, name, key, at, session: session.peek()?.id, sending: !before };
  keep([...others, sent]);
  try {
    const done = await send(key);
    keep(writes.filter((other) => other.subject !== subject));
    return done;
  } catch (error) {
    const rest = writes.filter((other) => other !== sent);
    keep(mayBeDone(error, before !== undefined) ? [...rest, { ...sent, sending: false }] : rest);
    throw error;
  }
}

/** Operations after which what was created before is there as well. All others change what they are about. */
const creations: ReadonlySet<OperationName> = new Set(['createBoard', 'createTask', 'postMessage']);

/**
 * Calls an operation that writes: with the key of the same request before if that may have been done.
 *
 * @param about what is changed, where the path does not name it
 * @throws ClientError as `attempt` does
 */
export function write<Name extends OperationName>(
  name: Name,
  input: Omit<CallInput<Name>, 'idempotencyKey'>,
  about: unknown = input.params,
): Promise<Answer<Name>> {
  const request = JSON.stringify([name, input]);
  const subject = creations.has(name) ? request : JSON.stringify(about);
  return attempt(subject, request, (idempotencyKey) => call(name, { ...input, idempotencyKey }));
}
