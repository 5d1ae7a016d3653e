/** A stream that a test writes by hand, and a reader that collects what the client gives out. */
import type { ServerResponse } from 'node:http';
import { type BoardStreamOptions, boardStream } from '../../src/client/board-stream.ts';
import type { ClientError } from '../../src/client/errors.ts';
import type { ReconnectInfo } from '../../src/client/streams.ts';
import {
  clientOf,
  countingFetch,
  FakeClock,
  refusal,
  type Seen,
  sendJson,
  serve,
  until,
  untilTestEnds,
} from './support.ts';

export const B = 'brd_01K5A0000000000000000000B1';

export const eventText = (seq: number, id = seq) =>
  `event: event\nid: ${id}\ndata: ${JSON.stringify({ id: `evt_${seq}`, board_id: B, seq, type: 'x', hash: 'h' })}\n\n`;
export const readyText = (seq: number) =>
  `event: ready\nid: ${seq}\ndata: {"board":"demo","board_id":"${B}","head_seq":${seq}}\n\n`;
export const endText = (reason: string) => `event: end\ndata: {"reason":"${reason}"}\n\n`;

/** Only what guards a connection is held: 15 s for its headers, 60 s of silence. */
export const streamClock = () => new FakeClock((ms) => ms === 15_000 || ms === 60_000);

export type Connection = (response: ServerResponse, seen: Seen) => void;

/** Connection n of the stream is handled by the nth function; `read` answers every other request. */
export async function serveStream(
  connections: Connection[],
  read: Connection = (response) => sendJson(response, 200, { id: B }),
) {
  const streams: Seen[] = [];
  const reads: Seen[] = [];
  const server = await serve((seen, response) => {
    if (!seen.url.startsWith('/v1/stream')) {
      reads.push(seen);
      return read(response, seen);
    }
    streams.push(seen);
    const handle = connections[streams.length - 1];
    // A test that expects an end must not hang because the client connects once more than planned.
    if (!handle) return sendJson(response, 403, refusal('one_connection_too_many'));
    handle(response, seen);
  });
  return { origin: server.origin, streams, reads, connected: (n: number) => until(() => streams.length >= n) };
}

/** Opens the stream and writes; `then` says how it goes on after that. */
export const writing =
  (text: string, then: 'stay' | 'close' | 'break' = 'stay'): Connection =>
  (response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' });
    response.write(text, () => {
      if (then === 'close') response.end();
      if (then === 'break') setImmediate(() => response.destroy());
    });
    response.flushHeaders();
  };

export const refusing =
  (status: number, code: string, headers: Record<string, string> = {}): Connection =>
  (response) =>
    sendJson(response, status, refusal(code), headers);

/** Reads a stream to its end in the background. */
export function collect<Frame>(stream: AsyncGenerator<Frame>) {
  const frames: Frame[] = [];
  let outcome: 'open' | 'ended' | ClientError = 'open';
  const done = (async () => {
    try {
      for await (const frame of stream) frames.push(frame);
      outcome = 'ended';
    } catch (error) {
      outcome = error as ClientError;
    }
  })();
  return {
    frames,
    got: (n: number) => until(() => frames.length >= n || outcome !== 'open'),
    /** How it ended: `ended`, or the error. */
    async end() {
      await done;
      return outcome;
    },
  };
}

/** Reads the stream of board `demo` and notes how it connects. */
export function watchBoard(origin: string, options: Partial<BoardStreamOptions> = {}) {
  const clock = streamClock();
  const counting = countingFetch();
  const { client } = clientOf(origin, { clock, fetch: counting.fetch });
  const reconnects: ReconnectInfo[] = [];
  const connects: boolean[] = [];
  const stream = boardStream(client, {
    board: 'demo',
    signal: untilTestEnds(),
    onReconnect: (info) => reconnects.push(info),
    onConnected: (info) => connects.push(info.reconnected),
    ...options,
  });
  return { ...collect(stream), stream, clock, counting, reconnects, connects };
}
