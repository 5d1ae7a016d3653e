/**
 * What is read from a request's raw headers, in one pass: whether a header came once, which Node's own record does
 * not tell, and the size of all of them.
 */
import type { Once, RequestHead, Step } from './context.ts';

const REPEATED = Symbol('repeated');

export const readHeaders: Step = ({ req: { rawHeaders }, state }, next) => {
  const head: RequestHead = { host: null, authorization: null, idempotencyKey: null, contentType: null, size: 0 };
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    const value = rawHeaders[index + 1] as string;
    head.size += name.length + value.length + 4;
    switch (name.toLowerCase()) {
      case 'host':
        head.host = once(head.host, value);
        break;
      case 'authorization':
        head.authorization = once(head.authorization, value);
        break;
      case 'idempotency-key':
        head.idempotencyKey = once(head.idempotencyKey, value);
        break;
      case 'content-type':
        head.contentType = once(head.contentType, value);
        break;
    }
  }
  state.head = head;
  return next();
};

const once = (before: Once, value: string): Once => (before === null ? value : REPEATED);

/** The value of a header; empty if it is missing or repeated. */
export const one = (given: Once): string => (typeof given === 'string' ? given : '');
