/** The answer that `ask --wait` waits for. */
import { z } from 'zod';
import type { BoardSession } from '../../../cli/session/open-session.ts';
import { message, text } from '../../../cli/shapes.ts';
import { indented, onOneLine } from '../../../cli/terminal/fields.ts';
import { waitFor } from '../../../client/wait.ts';
import type { Message } from '../../../contract/types.ts';

/** An answer as `--json` shows it. */
export const givenAnswer = () =>
  z.strictObject({
    option: z.int().nullable(),
    option_text: text.nullable(),
    body: text,
    by: message.shape.from,
    withdrawn: z.literal(true).optional(),
  });
type GivenAnswer = z.infer<ReturnType<typeof givenAnswer>>;

/** The latest reply that answers an ask or takes it back; null: none came in time. */
export async function awaitAnswer(
  session: BoardSession,
  message: Message,
  waitSeconds: number,
): Promise<Message | null> {
  const input = { params: { message: message.id }, query: { after: message.seq } };
  const ends = (reply: Message) => reply.answer?.ask_id === message.id;
  const { reply } = await waitFor(session.client, 'listReplies', input, {
    waitSeconds,
    until: ({ replies }) => replies.some(ends),
  });
  return reply.data.replies.findLast(ends) ?? null;
}

/** What a reply answers. */
export function givenBy({ answer, body, from: by }: Message): GivenAnswer | null {
  if (!answer) return null;
  const { option, option_text, withdrawn } = answer;
  return { option, option_text, body, by, ...(withdrawn ? { withdrawn } : {}) };
}

/** An answer as it is told at a terminal; further lines of it stand further in, so that none is taken for ours. */
export function answerText(answer: GivenAnswer): string {
  const picked =
    answer.option === null ? '' : ` with option ${answer.option}, "${onOneLine(answer.option_text ?? '')}"`;
  const words = answer.withdrawn ? 'withdrew it' : `answered${picked}`;
  const same = answer.body === answer.option_text;
  return `@${answer.by.name} ${words}${same ? '' : `: ${indented(answer.body).trimStart()}`}`;
}
