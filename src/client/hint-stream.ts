/** Hints about everything that a person can see: what changed, never its content. */
import type { z } from 'zod';
import type { hintFrames } from '../contract/nouns/record.ts';
import { hintFrameNames } from '../contract/values.ts';
import type { Client } from './client.ts';
import { ClientError } from './errors.ts';
import { frameData } from './sse.ts';
import { credentialEnded, liveFrames, type StreamOptions } from './streams.ts';

type HintFrameName = (typeof hintFrameNames)[number];

type HintFrames = z.output<typeof hintFrames>;

type HintData<Name> = Name extends keyof HintFrames ? HintFrames[Name] : Record<string, unknown>;

export type HintFrame = { [Name in HintFrameName]: { event: Name; data: HintData<Name> } }[HintFrameName];

export interface HintStreamOptions extends StreamOptions {
  /** Names or ids, at most 50; left out: all boards of the person. */
  boards?: string[];
  /** Left out: all. `ready`, `board_unavailable` and `end` always come. */
  events?: HintFrameName[];
}

/**
 * The frames of the hint mode over as many connections as it takes. Every connection begins with the whole state, so
 * nothing is resumed: the reader compares each `head` with what it has. Unknown frames are left out.
 *
 * @throws ClientError 401 or 403 when the credential ends, and what the first connection fails with.
 */
export async function* hintStream(
  client: Client,
  options: HintStreamOptions = {},
): AsyncGenerator<HintFrame, void, void> {
  const query = { boards: options.boards?.join(','), events: options.events?.join(',') };
  for await (const raw of liveFrames(client, options, () => ({ query }))) {
    if (!(hintFrameNames as readonly string[]).includes(raw.event)) continue;
    const frame = { event: raw.event, data: frameData(raw) } as HintFrame;
    yield frame;
    if (frame.event === 'end' && frame.data.reason === 'credential_ended') throw await whyEnded(client, options.signal);
  }
}

/** The server's own error, if it still answers. */
async function whyEnded(client: Client, signal: AbortSignal | undefined): Promise<unknown> {
  const refusal = await client.call('getMe', { signal }).catch((error: unknown) => error);
  return refusal instanceof ClientError && !refusal.transient ? refusal : credentialEnded();
}
