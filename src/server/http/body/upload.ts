/** A body of raw bytes: what its headers say of it, and its bytes as they come, bounded in time and never all in memory. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Refusal } from '../../../contract/errors.ts';
import type { Clock } from '../../db/clock.ts';
import type { Incoming } from '../../operation/call.ts';
import type { Context } from '../context.ts';
import { requestHash } from '../keyed.ts';
import { malformed } from '../limits.ts';
import { one } from '../request-head.ts';

/** No byte for this long, or not all within that: it is given up. Milliseconds. */
const IDLE_MS = 30_000;
const TOTAL_MS = 900_000;

/** @param key the Idempotency-Key. @throws Refusal `unsupported_media_type`, `invalid_request`. */
export function incomingBytes({ req, res, state }: Context, key: string | null, clock: Clock): Incoming {
  const contentType = one(state.head.contentType);
  // Bytes have no charset, nor anything else that a parameter could say of them.
  if (contentType.trim().toLowerCase() !== 'application/octet-stream') {
    throw new Refusal('unsupported_media_type', 'The body must be application/octet-stream.', {
      hint: 'Send "Content-Type: application/octet-stream"; what the file holds is said by media_type.',
    });
  }
  const length = req.headers['content-length'];
  return {
    key,
    headHash: requestHash(req, contentType, Buffer.alloc(0)),
    length: length === undefined ? null : Number(length),
    digest: contentDigest(req.headers['content-digest']),
    bytes: () => bytesOf(req, res, clock),
  };
}

/** The SHA-256 of a `Content-Digest`, if it has one. */
function contentDigest(header: string | string[] | undefined): Buffer | null {
  if (header === undefined) return null;
  const fields = String(header).split(',');
  const field = fields.map((each) => each.trim()).find((each) => /^sha-256\s*=/.test(each));
  if (field === undefined) return null;
  const encoded = /^sha-256=:([A-Za-z0-9+/]{43}=):$/.exec(field)?.[1];
  if (encoded === undefined) throw malformed('Content-Digest', 'has no SHA-256 of the form sha-256=:base64:');
  return Buffer.from(encoded, 'base64');
}

/** Reads only as fast as its reader asks; stopping early leaves the connection for the answer. */
async function* bytesOf(req: IncomingMessage, res: ServerResponse, clock: Clock): AsyncGenerator<Buffer> {
  if (expecting.delete(req)) res.writeContinue();
  let wake = (): void => {};
  let late = false;
  const woken = (): void => wake();
  const tooLate = (): void => {
    late = true;
    wake();
  };
  for (const event of EVENTS) req.on(event, woken);
  const cancelTotal = clock.after(TOTAL_MS, tooLate);
  try {
    for (;;) {
      const chunk = req.read() as Buffer | null;
      if (chunk !== null) yield chunk;
      else if (req.readableEnded) return;
      else if (late) throw timeout();
      else if (req.destroyed) throw malformed('body', 'was cut off');
      else {
        const cancel = clock.after(IDLE_MS, tooLate);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        cancel();
        if (late) throw timeout();
      }
    }
  } finally {
    cancelTotal();
    for (const event of EVENTS) req.off(event, woken);
  }
}

const EVENTS = ['readable', 'end', 'close', 'error', 'aborted'] as const;

const timeout = (): Refusal =>
  new Refusal('request_timeout', 'The bytes did not arrive in time.', {
    hint: `Upload again: never more than ${IDLE_MS / 1000} seconds without a byte, ${TOTAL_MS / 60_000} minutes in all.`,
    headers: { Connection: 'close' },
  });

/** Requests whose client waits to be asked for the body. */
const expecting = new WeakSet<IncomingMessage>();

/** Lets an upload be refused before its client sends the body. */
export const askLater = (req: IncomingMessage): void => void expecting.add(req);
