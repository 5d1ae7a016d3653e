/** Reads a JSON answer without trusting its size, its type or its completeness. */
import { type ClientError, tooLarge, unexpected } from './errors.ts';
import type { Exchange } from './exchange.ts';
import { BODY_IDLE_TIMEOUT, MAX_ANSWER } from './limits.ts';

const JSON_TYPE = /^application\/(json|[a-z0-9.+-]+\+json)\s*(;|$)/i;

export function isJson(response: Response): boolean {
  return JSON_TYPE.test(response.headers.get('content-type') ?? '');
}

/** Describes an unexpected answer without quoting any of its text. */
export function describe(response: Response): Record<string, unknown> {
  const type = response.headers.get('content-type');
  return { status: response.status, content_type: type === null ? null : type.slice(0, 100) };
}

/** The error of a whole answer that is not one of this API. */
export const unexpectedAnswer = (response: Response, message: string): ClientError =>
  unexpected(message, { status: response.status, details: describe(response) });

/**
 * @param most bytes after decompression
 * @throws ClientError `response_too_large` as soon as the limit is passed, `server_unexpected` for anything but JSON,
 * `server_unreachable` or `request_timeout` for an answer that does not end.
 */
export async function readJson(exchange: Exchange, most = MAX_ANSWER): Promise<unknown> {
  const { response } = exchange;
  if (!isJson(response)) {
    exchange.close();
    throw notJson(response);
  }
  if (Number(response.headers.get('content-length') ?? 0) > most) {
    exchange.close();
    throw tooLarge(most);
  }
  const text = await readText(exchange, most);
  try {
    return JSON.parse(text);
  } catch {
    throw notJson(response);
  }
}

async function readText(exchange: Exchange, most: number): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let size = 0;
  let text = '';
  for await (const chunk of exchange.chunks(BODY_IDLE_TIMEOUT, 'body')) {
    size += chunk.byteLength;
    if (size > most) throw tooLarge(most);
    text += decode(decoder, exchange.response, chunk);
  }
  return text + decode(decoder, exchange.response);
}

function decode(decoder: TextDecoder, response: Response, chunk?: Uint8Array): string {
  try {
    return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode();
  } catch {
    throw notJson(response);
  }
}

const notJson = (response: Response): ClientError =>
  unexpectedAnswer(response, 'The answer is not the JSON that is due.');
