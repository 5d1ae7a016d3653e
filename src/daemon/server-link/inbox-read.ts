/** A seat's whole inbox, page by page. */
import type { Inbox, Message } from '../../contract/types.ts';
import { isTooLarge } from './http.ts';

const PAGE_SIZE = 200;
/** Most messages one read brings; what is behind them waits for the next. */
const MAX_MESSAGES = 1_000;
/** Characters of text after which no further page is asked for. */
const MAX_CHARACTERS = 8 * 1024 * 1024;

/** An inbox as far as one read brings it. */
interface InboxPages {
  inbox: Inbox;
  /** The list has every unread message up to this number, and behind it only some. Null: it has all. */
  completeUpTo: number | null;
}

interface InboxQuery {
  limit: number;
  after?: number;
  urgent?: true;
}

/**
 * Up to 1,000 unread messages, oldest first, and behind them the urgent ones that are further away. The other fields are
 * those of the latest page. @param page asks for one page. @throws what `page` throws.
 */
export async function readAllPages(page: (query: InboxQuery) => Promise<Inbox>): Promise<InboxPages> {
  const messages: Message[] = [];
  let limit = PAGE_SIZE;
  let inbox: Inbox | null = null;
  let characters = 0;
  do {
    const after = messages.at(-1)?.seq;
    try {
      inbox = await page(after === undefined ? { limit } : { limit, after });
    } catch (error) {
      // A page of giants: the same with fewer.
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
    const urgentPage = await page({
      limit: Math.min(limit, PAGE_SIZE),
      after: messages.at(-1)?.seq ?? 0,
      urgent: true,
    });
    inbox = { ...urgentPage, more: true };
    messages.push(...urgentPage.messages);
  }
  // What was acknowledged while the pages were read is no longer waiting.
  const { cursor } = inbox;
  return { inbox: { ...inbox, messages: messages.filter(({ seq }) => seq > cursor) }, completeUpTo };
}
