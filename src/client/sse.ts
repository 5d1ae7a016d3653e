/** Server-sent events out of an open exchange. */
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { tooLarge, unexpected } from './errors.ts';
import type { Exchange } from './exchange.ts';
import { MAX_ANSWER, STREAM_SILENCE } from './limits.ts';

export interface SseFrame {
  /** `message` when the server named none. */
  event: string;
  id?: string;
  data: string;
}

/**
 * Yields the frames of one connection until the server closes it; a frame that is cut off is dropped.
 *
 * @param onRetry gets the milliseconds of a `retry:` line.
 * @throws ClientError `request_timeout` after 60 s without a byte (comments count), `server_unreachable` when the
 * connection breaks, `response_too_large` for a frame over 16 Mi characters.
 */
export async function* sseFrames(
  exchange: Exchange,
  onRetry: (ms: number) => void,
): AsyncGenerator<SseFrame, void, void> {
  const frames: SseFrame[] = [];
  let overflow = false;
  const parser = createParser({
    maxBufferSize: MAX_ANSWER,
    onEvent: ({ event, id, data }: EventSourceMessage) => frames.push({ event: event ?? 'message', id, data }),
    onRetry,
    onError: (error) => {
      overflow ||= error.type === 'max-buffer-size-exceeded';
    },
  });
  const decoder = new TextDecoder();

  for await (const chunk of exchange.chunks(STREAM_SILENCE, 'silence')) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* frames.splice(0);
    if (overflow) throw tooLarge(MAX_ANSWER);
  }
}

/** @throws ClientError `server_unexpected` for data that is not a JSON object. */
export function frameData(frame: SseFrame): Record<string, unknown> {
  try {
    const data: unknown = JSON.parse(frame.data);
    if (typeof data === 'object' && data !== null && !Array.isArray(data)) return data as Record<string, unknown>;
  } catch {
    // Reported below, without the text.
  }
  throw unexpected(`The data of a frame "${frame.event}" is not a JSON object.`);
}
