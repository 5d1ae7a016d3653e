/** Which part of a board a reader asks for. */
import type { Message } from '../../contract/types.ts';
import type { BoardSession } from '../base.ts';

export interface Span {
  after?: number | undefined;
  before?: number | undefined;
  around?: number | undefined;
  unread?: boolean;
}

export interface Page {
  messages: Message[];
  next_after: number | null;
  prev_before: number | null;
}

/** The query of one page: forward from a number, back from a number, from the first unread one, or the newest. */
export async function spanQuery(
  session: BoardSession,
  span: Span,
): Promise<{ after?: number; before?: number; newest?: boolean }> {
  if (span.after !== undefined) return { after: span.after };
  if (span.before !== undefined) return { before: span.before, newest: true };
  if (span.unread) return { after: await readPosition(session) };
  return { newest: true };
}

/** Whether nothing but the newest page was asked for. */
export function newestFirst({ after, before, unread }: Span): boolean {
  return after === undefined && before === undefined && !unread;
}

async function readPosition({ client, board, agent }: BoardSession): Promise<number> {
  if (agent) return (await client.call('readInbox', { query: { limit: 1 } })).data.cursor;
  return (await client.call('getBoard', { params: { board } })).data.read_up_to ?? 0;
}
