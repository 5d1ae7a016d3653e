/** Waits for messages or notices longer than one request may last. */
import type { Answer } from '../contract/types.ts';
import type { Reply } from './answer.ts';
import type { CallInput, Client } from './client.ts';
import { ClientError } from './errors.ts';
import { MAX_POLL_SECONDS, MIN_POLL_GAP } from './limits.ts';
import { retryDelay } from './retry.ts';
import { shouldReconnect } from './streams.ts';

type WaitedName = 'listReplies' | 'readInbox' | 'listNotices';

export interface WaitOptions<Name extends WaitedName> {
  /** 0 to 86,400; 0 asks once without waiting. */
  waitSeconds: number;
  /** Whether these messages end the wait (default: any do). Otherwise it continues after them. */
  until?: (answer: Answer<Name>) => boolean;
  /** Of each poll that found nothing. */
  onEmpty?: (answer: Answer<Name>) => void;
  /** After the second poll in a row that failed. */
  onNoAnswer?: (error: ClientError) => void;
}

interface WaitResult<Name extends WaitedName> {
  reply: Reply<Answer<Name>>;
  /** The time was over before anything came. */
  timedOut: boolean;
}

/**
 * Waits for the next replies or inbox messages, in polls of at most 50 s that start at most once a second. A poll that
 * fails for a passing reason costs time but does not end the wait.
 *
 * @throws ClientError at once for 401, 403, 404 and everything else that will not pass, for a `Retry-After` beyond the
 * end of the wait (but where only other waits take all places), and after the wait when no poll at all was answered; the
 * signal's reason when it is aborted.
 */
export async function waitFor<Name extends WaitedName>(
  client: Client,
  name: Name,
  input: CallInput<Name>,
  options: WaitOptions<Name>,
): Promise<WaitResult<Name>> {
  const { now, random, sleep } = client.environment;
  const ends = now() + options.waitSeconds * 1000;
  const first = input.query?.['after'];
  let after = first === undefined ? undefined : Number(first);
  let answered: Reply<Answer<Name>> | undefined;
  let failures = 0;
  // A wait is limited by time; without waiting it is a normal call with its normal number of attempts.
  const maxAttempts = options.waitSeconds > 0 ? 1 : undefined;

  for (;;) {
    const started = now();
    const wait = Math.max(0, Math.min(MAX_POLL_SECONDS, Math.ceil((ends - started) / 1000)));
    let pause = MIN_POLL_GAP;
    try {
      answered = await client.call(name, { ...input, query: { ...input.query, after, wait }, maxAttempts });
      failures = 0;
      const seen = lastSeq(answered.data);
      if (seen === undefined) options.onEmpty?.(answered.data);
      if (seen !== undefined && (options.until?.(answered.data) ?? true)) return { reply: answered, timedOut: false };
      after = seen ?? after;
    } catch (error) {
      failures++;
      pause = pauseAfter(error, { failures, answered: answered !== undefined, left: ends - now() }, random);
      if (now() >= ends && !answered) throw error;
      if (failures === 2) options.onNoAnswer?.(error as ClientError);
    }
    const left = ends - now();
    if (left <= 0 && answered) return { reply: answered, timedOut: true };
    await sleep(Math.min(Math.max(0, started + pause - now()), Math.max(0, left)), input.signal);
    input.signal?.throwIfAborted();
  }
}

/** Milliseconds from the start of the failed poll to the next one; throws what would not pass within the wait. */
function pauseAfter(
  error: unknown,
  { failures, answered, left }: { failures: number; answered: boolean; left: number },
  random: () => number,
): number {
  if (!(error instanceof ClientError) || !shouldReconnect(error, answered)) throw error;
  // A second 500 in a row is a defect of the server, which waiting does not mend.
  if (error.status === 500 && failures > 1) throw error;
  const delay = retryDelay(error, Math.min(failures + 1, 6), random);
  // The poll at the end does not wait, and needs no place among those that do.
  const noPlace = error.details?.['bucket'] === 'open_streams';
  if (error.retryAfter !== undefined && delay > left && !noPlace) throw error;
  return Math.max(MIN_POLL_GAP, delay);
}

/** `seq` of the last message of an answer; undefined for an empty one. */
function lastSeq(answer: Answer<WaitedName>): number | undefined {
  // Notices have no numbers: any that is there ends the wait.
  if ('notices' in answer) return answer.notices.length > 0 ? 0 : undefined;
  const list = 'replies' in answer ? answer.replies : answer.messages;
  return list.at(-1)?.seq;
}
