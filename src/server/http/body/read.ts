/** Reading a JSON body: bounded in bytes and time. */
import type { IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';
import { Refusal } from '../../../contract/errors.ts';
import type { Clock } from '../../db/clock.ts';
import { MAX_OPEN, malformed, tooLarge } from '../limits.ts';

/** A body must arrive within this many milliseconds. */
export const BODY_MS = 30_000;
/** Up to this many bytes, and this many milliseconds, a body is waited for before its credential is looked up. */
const AT_ONCE = { bytes: MAX_OPEN, ms: 250 };
const EMPTY = Buffer.alloc(0);

/**
 * The bytes of a body. Most come with their head, and their credential is then read once, in the operation's own
 * transaction; a large or slow body is not waited for before it is known that the credential works.
 * @param check fails when the credential does not work. @param limit of bytes.
 * @throws Refusal `request_too_large`, `request_timeout`, `invalid_request` (cut off), and what `check` throws.
 */
export async function readBody(req: IncomingMessage, check: () => Promise<unknown>, clock: Clock, limit: number) {
  const length = req.headers['content-length'];
  if (length === '0' || (length === undefined && req.headers['transfer-encoding'] === undefined)) return EMPTY;
  if (length === undefined || Number(length) > AT_ONCE.bytes) await check();
  // A body that came in one piece with its head is whole once this turn has ended; it needs no listener and no timer.
  await new Promise((resolve) => setImmediate(resolve));
  if (req.complete) {
    const body = (req.read() as Buffer | null) ?? EMPTY;
    if (body.length > limit) throw tooLarge(limit);
    return body;
  }
  return new Promise<Buffer>((resolve, reject) => {
    let cancel = clock.after(AT_ONCE.ms, () => {
      cancel = clock.after(BODY_MS - AT_ONCE.ms, () => reject(timeout()));
      check().catch(reject);
    });
    getRawBody(req, { length, limit }, (error, body) => {
      cancel();
      if (error) reject(translate(error, limit));
      else resolve(body);
    });
  });
}

function timeout(): Refusal {
  return new Refusal('request_timeout', `The body did not arrive within ${BODY_MS / 1000} seconds.`, {
    hint: 'Send it again.',
    headers: { Connection: 'close' },
  });
}

/** Also of a client that had gone before the reading began. */
const CUT_OFF = new Set(['request.aborted', 'request.size.invalid', 'stream.not.readable']);

function translate(error: unknown, limit: number): unknown {
  if (error instanceof Refusal) return error;
  const { type = '' } = error as { type?: string };
  if (type === 'entity.too.large') return tooLarge(limit);
  if (CUT_OFF.has(type)) return malformed('body', 'was cut off');
  return error;
}
