/** Reads a seat's inbox page by page. */
import type { Inbox, Message } from '../../contract/types.ts';
import { isTooLarge } from './http.ts';
import type { InboxRead } from './link.ts';

const PAGE_SIZE = 200;
/** Most messages per read; later ones wait for the next read. */
const MAX_MESSAGES = 1_000;
/** Number of characters after which no further page is read. */
const MAX_CHARACTERS = 8 * 1024 * 1024;

/**
 * Up to 1,000 unread messages, oldest first, followed by later urgent ones. The other fields are those of the last page.
 * @param page reads one page. @throws errors of `page`
 */
export async function readAllPages(
  page: (query: { limit: number; after?: number; urgent?: true }) => Promise<Inbox>,
): Promise<Pick<InboxRead, 'inbox' | 'completeUpTo'>> {
  const messages: Message[] = [];
  let limit = PAGE_SIZE;
  let inbox: Inbox | null = null;
  let characters = 0;
  do {
    const after = messages.at(-1)?.seq;
    try {
      inbox = await page({ limit, after });
    } catch (error) {
      // The page is too large: tries again with fewer messages.
      if (!isTooLarge(error) || limit === 1) throw error;
      limit = Math.max(1, Math.floor(limit / 8));
      continue;
    }
    messages.push(...inbox.messages);
    for (const { body } of inbox.messages) characters += body.length;
    if (inbox.messages.length === 0) break;
  } while (inbox === null || (inbox.more && messages.length < MAX_MESSAGES && characters < MAX_CHARACTERS));

  const completeUpTo = inbox.more ? (messages.at(-1)?.seq ?? inbox.cursor) : null;
  const urgent = messages.filter((message) => message.urgent).length;
  if (inbox.more && inbox.unread_urgent > urgent) {
    const urgentPage = await page({ limit, after: messages.at(-1)?.seq ?? 0, urgent: true });
    inbox = { ...urgentPage, more: true };
    messages.push(...urgentPage.messages);
  }
  // Messages acknowledged while the pages were read are left out.
  const { cursor } = inbox;
  return { inbox: { ...inbox, messages: messages.filter(({ seq }) => seq > cursor) }, completeUpTo };
}
