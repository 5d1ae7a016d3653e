/** What the server tells an agent outside of any board's record, from the command line. */
import { pages } from '../client/pages.ts';
import { waitFor } from '../client/wait.ts';
import type { Answer } from '../contract/types.ts';
import { flushed } from './output.ts';
import { called } from './runtime.ts';
import type { Session } from './session.ts';

export type Notice = Answer<'listNotices'>['notices'][number];

/** All that the agent was not told yet; waits for the first one where that was asked for. @param wait seconds */
export async function readNotices({ client }: Session, wait: number): Promise<Notice[]> {
  if (wait > 0) await waitFor(client, 'listNotices', {}, { waitSeconds: wait });
  const notices: Notice[] = [];
  for await (const page of pages(client, 'listNotices', { query: { limit: 100 } })) notices.push(...page.notices);
  return notices;
}

/** Notes that these were told, once the reader has them. */
export async function ackAll({ client }: Session, notices: Notice[]): Promise<void> {
  if (notices.length === 0) return;
  await flushed();
  for (let from = 0; from < notices.length; from += 50) {
    const ids = notices.slice(from, from + 50).map(({ id }) => id);
    await client.call('ackNotices', { body: { ids } });
  }
}

export const noticesText = (notices: Notice[]): string =>
  notices.length === 0
    ? 'There is no notice.'
    : called(notices.map(({ text, next }) => `${text} ${next.command}`).join('\n'));
