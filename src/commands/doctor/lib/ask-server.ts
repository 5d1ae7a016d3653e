/** Reads a server's description before a credential is sent to it. */
import { Client } from '../../../client/client.ts';
import type { ServerInfo } from '../../../contract/types.ts';
import type { ServerEntry } from '../../../local/keys/credentials.ts';
import { localFetch } from '../../../local/node-fetch.ts';
import { ownFetch } from '../../../local/own-server/own-agent.ts';
import { currentServer } from '../../../local/own-server/running.ts';
import type { Around } from './check.ts';

export interface Asked {
  origin: string;
  entry: ServerEntry;
  info: ServerInfo;
  /** How far its clock is from ours, in milliseconds; null: it did not say. */
  skewMs: number | null;
}

/** Where a known server is now: this machine's own may have moved; null: it does not run. */
export async function addressOf(origin: string, entry: ServerEntry, { folders, env }: Around): Promise<string | null> {
  if (entry.mode !== 'local') return origin;
  return (await currentServer(folders, env))?.url ?? null;
}

/** @throws ClientError where nothing answers, or something else than a server of ours. */
export async function askWhatItIs(origin: string, entry: ServerEntry, around: Around): Promise<Asked> {
  let skewMs: number | null = null;
  const dated: typeof fetch = async (input, init) => {
    const before = around.now();
    const response = await fetchFor(entry, around)(input, init);
    const said = Date.parse(response.headers.get('date') ?? '');
    // The answer may have been dated at any moment between, and to the second.
    const middle = (before + around.now()) / 2;
    if (!Number.isNaN(said)) skewMs = said - middle;
    return response;
  };
  const { data: info } = await clientAt(origin, entry, around, { fetch: dated }).call('getInfo', { maxAttempts: 1 });
  return { origin, entry, info, skewMs };
}

/** This machine's own server has to prove that it is, before it gets anything. */
const fetchFor = ({ mode }: ServerEntry, { folders }: Around): typeof fetch =>
  mode === 'local' ? ownFetch(folders) : localFetch;

/** A client with half of the time that a check has. */
export const clientAt = (
  origin: string,
  entry: ServerEntry,
  around: Around,
  more: { token?: string; fetch?: typeof fetch } = {},
): Client =>
  new Client({
    origin,
    userAgent: `service/${around.version}`,
    timeoutMs: around.limitMs / 2,
    fetch: fetchFor(entry, around),
    ...more,
  });
