/** One board's record, live and without a gap. */
import type { z } from 'zod';
import type { boardFrames } from '../contract/nouns/record.ts';
import type { BoardEvent, Message } from '../contract/types.ts';
import type { Client } from './client.ts';
import { ClientError, unexpected } from './errors.ts';
import { frameData, type SseFrame } from './sse.ts';
import { credentialEnded, liveFrames, type StreamOptions } from './streams.ts';

type Data<Name extends keyof z.output<typeof boardFrames>> = z.output<typeof boardFrames>[Name];

export type BoardFrame =
  | { event: 'event'; id: number; data: BoardEvent }
  | { event: 'ready'; id?: number; data: Data<'ready'> }
  | { event: 'message'; id?: undefined; data: Message }
  | { event: 'end'; id?: undefined; data: Data<'end'> };

export interface BoardStreamOptions extends StreamOptions {
  /** Name or `brd_` id. */
  board: string;
  /** The last event already handled; left out: from the board's head on. */
  after?: number;
  /** Follow each readable `message.posted` by the message as this caller reads it. */
  include?: 'message';
}

/**
 * Every event after `after`, then each further one as it is committed, over as many connections as it takes: it
 * resumes after the last event it gave out, none skipped and none twice. Unknown frames are left out.
 *
 * @throws ClientError 401, 403 or 404 when access ends, `server_unexpected` when an event is missing or repeated, and
 * what the first connection fails with.
 */
export async function* boardStream(
  client: Client,
  options: BoardStreamOptions,
): AsyncGenerator<BoardFrame, void, void> {
  let last = options.after;
  const request = (reconnect: boolean) => ({
    query: { board: options.board, after: last, include: options.include },
    lastEventId: reconnect && last !== undefined ? String(last) : undefined,
  });

  for await (const raw of liveFrames(client, options, request)) {
    const frame = readFrame(raw);
    if (frame?.event === 'event') last = following(frame, last);
    else if (frame?.event === 'ready') last ??= frame.id;
    if (frame) yield frame;

    const ending = frame?.event === 'end' ? frame.data.reason : raw.event;
    if (ending === 'credential_ended') throw await whyEnded(client, options);
    if (ending === 'board_unavailable') await readAgain(client, options);
  }
}

function readFrame(raw: SseFrame): BoardFrame | null {
  switch (raw.event) {
    case 'event':
      return { event: 'event', id: numberIn(raw), data: frameData(raw) as BoardEvent };
    case 'ready':
      return {
        event: 'ready',
        id: raw.id === undefined ? undefined : numberIn(raw),
        data: frameData(raw) as Data<'ready'>,
      };
    case 'message':
      return { event: 'message', data: frameData(raw) as Data<'message'> };
    case 'end':
      return { event: 'end', data: frameData(raw) as Data<'end'> };
    default:
      return null;
  }
}

function numberIn(raw: SseFrame): number {
  if (raw.id !== undefined && /^\d{1,15}$/.test(raw.id)) return Number(raw.id);
  throw unexpected(`A frame "${raw.event}" of the stream has no number as its id.`);
}

/** The event's number, once it is known to be the next one. */
function following(frame: { id: number; data: BoardEvent }, last: number | undefined): number {
  const { id, data } = frame;
  const details = { last: last ?? null, id, seq: data.seq };
  if (last !== undefined && id !== last + 1) {
    throw unexpected('The stream skipped or repeated events.', { hint: 'Start again after the last one.', details });
  }
  if (data.seq !== id) throw unexpected('An event of the stream has another number than its frame.', { details });
  return id;
}

/** The server's own words for it, which tell a removed agent from a revoked key. */
async function whyEnded(client: Client, options: BoardStreamOptions): Promise<unknown> {
  return (await readAgain(client, options).catch((error: unknown) => error)) ?? credentialEnded();
}

/** Reads the board again and throws if that is refused; if it is readable or the server does not answer, the stream goes on. */
async function readAgain(client: Client, { board, signal }: BoardStreamOptions): Promise<void> {
  try {
    await client.call('getBoard', { params: { board }, signal });
  } catch (error) {
    if (signal?.aborted || (error instanceof ClientError && error.transient)) return;
    throw error;
  }
}
