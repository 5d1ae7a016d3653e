/** Reads a seat's inbox page by page. */
import type { Inbox, Message } from '../../contract/types.ts';
import { wakesAgent } from '../../contract/waking.ts';
import { isTooLarge } from './http.ts';
import type { InboxRead } from './link.ts';

const PAGE_SIZE = 200;
/** Most messages per read; of later ones only those that wake the agent are read. */
const MAX_MESSAGES = 1_000;
/** Most of those, which may be long; of later ones only a page of those that are urgent is read. */
const MAX_AHEAD = 200;
/** Number of characters after which no further page is read. */
const MAX_CHARACTERS = 8 * 1024 * 1024;

type ReadPage = (query: { limit: number; after?: number; urgent?: true }) => Promise<Inbox>;

/** What wakes the agent behind the first 1,000 unread messages. Those in between are looked through once. */
export class Ahead {
  #upTo = 0;
  #messages: Message[] = [];
  /** The mode and the brake that it was looked for with. */
  #with = '';

  /** @param messages those that were read @param inbox the last page of them @param page reads one page */
  async read(
    page: (after: number, urgent?: true) => Promise<Inbox>,
    messages: readonly Message[],
    inbox: Inbox,
  ): Promise<Message[]> {
    const after = messages.at(-1)?.seq ?? inbox.cursor;
    const { member_id: id, agent: name, delivery_mode: mode } = inbox;
    const braked = inbox.braked !== undefined;
    if (this.#with !== `${mode} ${braked}`) {
      this.#with = `${mode} ${braked}`;
      this.#upTo = 0;
    }
    this.#messages = this.#messages.filter(({ seq }) => seq > after && seq <= this.#upTo);
    this.#upTo = Math.max(this.#upTo, after);
    for (let more = true; more && this.#messages.length < MAX_AHEAD; ) {
      const next = await page(this.#upTo);
      const waking = next.messages.filter((one) => one.urgent || wakesAgent(one, { id, name, mode, braked }));
      this.#messages.push(...waking);
      this.#upTo = next.messages.at(-1)?.seq ?? this.#upTo;
      more = next.more && next.messages.length > 0;
    }
    const urgent = [...messages, ...this.#messages].filter((message) => message.urgent).length;
    if (inbox.unread_urgent <= urgent) return this.#messages;
    return [...this.#messages, ...(await page(this.#upTo, true)).messages];
  }
}

/**
 * Up to 1,000 unread messages, oldest first, followed by later ones that wake the agent or are urgent. The other fields are
 * those of the last page.
 * @param page reads one page. @throws errors of `page`
 */
export async function readAllPages(page: ReadPage, ahead: Ahead): Promise<Pick<InboxRead, 'inbox' | 'completeUpTo'>> {
  const messages: Message[] = [];
  let limit = PAGE_SIZE;
  let characters = 0;
  const read = async (after?: number, urgent?: true): Promise<Inbox> => {
    for (;;) {
      try {
        return await page({ limit, after, urgent });
      } catch (error) {
        // The page is too large: tries again with fewer messages.
        if (!isTooLarge(error) || limit === 1) throw error;
        limit = Math.max(1, Math.floor(limit / 8));
      }
    }
  };
  let inbox: Inbox;
  do {
    inbox = await read(messages.at(-1)?.seq);
    messages.push(...inbox.messages);
    for (const { body } of inbox.messages) characters += body.length;
    if (inbox.messages.length === 0) break;
  } while (inbox.more && messages.length < MAX_MESSAGES && characters < MAX_CHARACTERS);

  const completeUpTo = inbox.more ? (messages.at(-1)?.seq ?? inbox.cursor) : null;
  if (completeUpTo !== null) messages.push(...(await ahead.read(read, messages, inbox)));
  // Messages acknowledged while the pages were read are left out.
  const { cursor } = inbox;
  return { inbox: { ...inbox, messages: messages.filter(({ seq }) => seq > cursor) }, completeUpTo };
}
