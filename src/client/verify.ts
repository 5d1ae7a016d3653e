/** Verifies a board's record from what the server's API returns, and nothing else. */
import { type ChainPoint, ChainVerifier, type Problem, type Sha256 } from '../contract/chain.ts';
import type { BoardEvent } from '../contract/types.ts';
import type { CallInput, Client } from './client.ts';
import { unexpected } from './errors.ts';
import { pages, type Repeat } from './pages.ts';

const PAGE = 200;

interface VerifyOptions {
  /** Where the last successful check of this board ended. */
  pinned?: ChainPoint;
  /** Start after this event; only a pinned one may stand here. */
  from?: ChainPoint;
  /** Default: WebCrypto, which a page has only on https and localhost. */
  sha256?: Sha256;
  /** Sends the request for a page of events, and may do so again where it failed. */
  request?: Repeat | undefined;
  /** Called with each event that passed. */
  onEvent?: ((event: BoardEvent) => void) | undefined;
  /** Called after each page. @param total as many as there were at the first one */
  onPage?: ((done: number, total: number) => void) | undefined;
}

export interface VerifyResult {
  events: number;
  payloadsChecked: number;
  payloadsWithheld: number;
  /** The last event that passed: what to pin when there is no problem. Null when there was none. */
  head: ChainPoint | null;
  /** The first thing that is wrong; null for a sound record. */
  problem: Problem | null;
}

/** SHA-256 of a text's UTF-8 bytes as 64 hex digits. */
export async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Reads all events of a board in pages of 200 and checks the chain; events appended meanwhile are checked as they
 * come. A problem is a result, not an error.
 *
 * @param board its name, and the id its events must carry.
 * @throws ClientError when the record cannot be read to its end.
 */
export async function verifyBoard(
  client: Client,
  board: { id: string; name: string },
  options: VerifyOptions = {},
): Promise<VerifyResult> {
  const { pinned, from, request, onEvent, onPage } = options;
  const hashing = { sha256: options.sha256 ?? sha256 };
  const verifier = new ChainVerifier(board.id, { ...hashing, pinned, from });
  let head: number | undefined;

  for await (const page of eventPages(client, board.name, { after: from?.seq ?? 0, limit: PAGE }, request)) {
    head ??= page.head_seq;
    for (const event of page.events) {
      if (await verifier.add(event)) break;
      onEvent?.(event);
    }
    if (verifier.problem) break;
    onPage?.(verifier.events, head - (from?.seq ?? 0));
  }

  const problem = verifier.finish(head ?? 0);
  const { events, payloadsChecked, payloadsWithheld } = verifier;
  const found = { events, payloadsChecked, payloadsWithheld, head: verifier.head, problem };
  if (!from || events > 0 || problem) return found;
  // No event continues the end that was known, so it is looked at itself.
  const page = await eventPages(client, board.name, { after: from.seq - 1, limit: 1 }).next();
  const [event] = page.value?.events ?? [];
  if (!event) return { ...found, problem: { seq: from.seq, reason: 'history_lost' } };
  const before = { seq: from.seq - 1, hash: event.prev_hash };
  const alone = new ChainVerifier(board.id, { ...hashing, from: before, pinned: from });
  return { ...found, problem: await alone.add(event) };
}

/** The events of a board, page by page. @throws ClientError `server_unexpected` for what is no page of events. */
export async function* eventPages(
  client: Client,
  board: string,
  query: NonNullable<CallInput<'listEvents'>['query']>,
  request?: Repeat,
) {
  for await (const page of pages(client, 'listEvents', { params: { board }, query }, request)) {
    const events: unknown = page.events;
    const whole = Array.isArray(events) && events.every((event) => typeof event === 'object' && event !== null);
    if (!whole || !Number.isSafeInteger(page.head_seq)) throw unexpected('The answer is not a page of events.');
    yield page;
  }
}
