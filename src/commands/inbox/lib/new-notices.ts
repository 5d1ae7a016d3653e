/** Waits for what the server has to tell an agent, beside a wait for messages. */
import type { Client } from '../../../client/client.ts';
import { waitFor } from '../../../client/wait.ts';
import type { Answer } from '../../../contract/types.ts';

type Notice = Answer<'listNotices'>['notices'][number];

/** From one look to the next while only those wait that the agent was told of: each wait for notices would end on them at once. */
const LOOK_MS = 10_000;

interface Beside {
  /** The wait for messages, with which this one ends. */
  messages: Promise<unknown>;
  /** Seconds. */
  wait: number;
  signal: AbortSignal;
  /** Whether the agent was not told yet that the newest notice waits. @param newest its id */
  isNews(newest: string): Promise<boolean>;
}

/** How many notices wait, and the id of the newest. */
export interface Waiting {
  count: number;
  newest: string;
}

/** Undefined where none wait. */
export const waitingOf = (notices: Notice[]): Waiting | undefined => {
  const newest = notices.at(-1);
  return newest && { count: notices.length, newest: newest.id };
};

/** Those that wait now; none where the server does not tell. */
export const noticesNow = async (client: Client): Promise<Notice[]> =>
  (await client.call('listNotices', { query: { limit: 100 }, maxAttempts: 1 }).catch(() => null))?.data.notices ?? [];

/** All that wait, as soon as the agent was not told of the newest; none where the wait for messages ended first. */
export async function newNotices(client: Client, { messages, wait, signal, isNews }: Beside): Promise<Notice[]> {
  const ended = messages.then((): Notice[] => []);
  for (;;) {
    const notices = await Promise.race([ended, firstNotices(client, wait, signal)]);
    const newest = notices.at(-1);
    if (newest === undefined || (await isNews(newest.id))) return notices;
    const pause = client.environment.sleep(LOOK_MS, signal).then(() => null);
    if (await Promise.race([ended, pause])) return [];
  }
}

/** Those that wait, as soon as there is one; never where the server tells nobody anything. */
async function firstNotices(client: Client, wait: number, signal: AbortSignal): Promise<Notice[]> {
  const answer = waitFor(client, 'listNotices', { query: { limit: 100 }, signal }, { waitSeconds: wait });
  const notices = await answer.then(({ reply }) => reply.data.notices).catch((): Notice[] => []);
  return notices.length > 0 ? notices : new Promise<never>(() => {});
}
