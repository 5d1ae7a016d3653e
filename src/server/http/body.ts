/** Reading a JSON body: bounded in bytes and time. */
import type { IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';
import { Refusal } from '../../contract/errors.ts';
import { MAX_JSON, malformed, tooLarge } from './limits.ts';

/** A body must arrive within this many milliseconds. */
const BODY_MS = 30_000;
const EMPTY = Buffer.alloc(0);

/** The bytes of a body. @throws Refusal `request_too_large`, `request_timeout`, `invalid_request` (cut off). */
export async function readBody(req: IncomingMessage): Promise<Buffer> {
  const length = req.headers['content-length'];
  if (length === '0' || (length === undefined && req.headers['transfer-encoding'] === undefined)) return EMPTY;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(timeout()), BODY_MS);
  });
  try {
    return await Promise.race([getRawBody(req, { length, limit: MAX_JSON }), late]);
  } catch (error) {
    throw translate(error);
  } finally {
    clearTimeout(timer);
  }
}

function timeout(): Refusal {
  return new Refusal('request_timeout', `The body did not arrive within ${BODY_MS / 1000} seconds.`, {
    hint: 'Send it again.',
    headers: { Connection: 'close' },
  });
}

function translate(error: unknown): unknown {
  if (error instanceof Refusal) return error;
  const { type } = error as { type?: string };
  if (type === 'entity.too.large') return tooLarge();
  if (type === 'request.aborted' || type === 'request.size.invalid') return malformed('body', 'was cut off');
  return error;
}
