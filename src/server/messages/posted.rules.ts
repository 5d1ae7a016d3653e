/** What a message's event holds, and whether all that is shown of it can be read. */
import { z } from 'zod';
import { message, messageAnswer, messageAsk } from '../../contract/nouns/messages.ts';
import type { Mention, Message } from '../../contract/types.ts';
import type { AskingData } from '../asks/asks.rules.ts';
import { dataOf } from '../record/event-data.rules.ts';

/** What a `message.posted` event holds. */
export interface PostedData extends AskingData {
  message_id: string;
  to: string[];
  body: string;
  reply_to: string | null;
  urgent: boolean;
  expects_reply: boolean;
  redactions: { kind: string; count: number }[];
  mentions: Mention[];
  recipients?: string[];
  about?: Message['about'];
  files?: Message['files'];
}

const readable = message
  .pick({ to: true, body: true, redactions: true, mentions: true, about: true, files: true })
  .partial({ about: true, files: true })
  .extend({
    recipients: z.array(z.string()).optional(),
    ask: messageAsk.pick({ options: true, blocking: true, going_with: true }).loose().optional(),
    answer: messageAnswer.pick({ ask_id: true, option: true, withdrawn: true }).optional(),
  })
  .loose();

/** Shown of a message whose event was damaged in the database. */
const UNREADABLE = { to: ['(unreadable)'], body: '(unreadable)', redactions: [], mentions: [] };

/** What a message's event says. */
export function postedIn(event: { data: string }): PostedData {
  const data = dataOf<PostedData>(event);
  return (readable.safeParse(data).success ? data : UNREADABLE) as PostedData;
}
