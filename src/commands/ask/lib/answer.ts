/** Answers or withdraws an ask. */
import type { Output } from '../../../cli/output.ts';
import { type BoardSession, type Session, staying } from '../../../cli/session/open-session.ts';
import { onOneLine } from '../../../cli/terminal/fields.ts';
import { requireFeature } from '../../../client/features.ts';
import { shellArgument } from '../../../contract/text.ts';
import type { Message } from '../../../contract/types.ts';
import { withdrawnText } from '../../../contract/values.ts';
import { Failure } from '../../../local/failure.ts';
import { failedAfterPost } from '../../board/lib/post/await-reply.ts';
import { checkLength, readBody } from '../../board/lib/post/body.ts';
import { warnOfSecrets } from '../../board/lib/post/warn-of-secrets.ts';
import { boardNamed, findMessage } from '../../board/lib/read/references.ts';

interface AnswerOptions {
  message: string;
  text: string | undefined;
  option?: number | undefined;
  withdrawn?: true;
  key: string | undefined;
}

/** Posts the answer, and tells what became of the ask and its task. */
export async function answer(
  open: (named: string | undefined) => Promise<BoardSession>,
  request: AnswerOptions,
  out: Output,
): Promise<void> {
  const given = await givenText(request, out);
  const session = await open(boardNamed(request.message));
  const { client } = session;
  await requireFeature(client, 'asks');
  const asked = await findMessage(session, request.message);
  // A reference may name another board than the one in use.
  out.base.board = asked.board;
  const reply = await client.call('postMessage', {
    params: { board: asked.board },
    body: {
      body: given ?? optionText(asked, request.option ?? 0, { session, reference: request.message }),
      reply_to: asked.id,
      answer: { option: request.option, ...(request.withdrawn ? { withdrawn: true } : {}) },
    },
    idempotencyKey: request.key,
  });
  if (reply.replayed) out.base.replayed = true;
  warnOfSecrets(reply.data, out);
  warnOfNumber(request, given, { asked, session, out });
  const looked = client.call('getMessage', { params: { message: asked.id } });
  const { data } = await looked.catch(failedAfterPost(reply.data));
  // What replaces an answer, or repeats it, sets nothing going.
  const tail = asked.ask?.state === 'open' ? await taskTail({ client, board: asked.board }, data.message) : '';
  const former = asked.ask?.answer_seq ?? null;
  const place = former === null || reply.replayed ? '' : `, in place of #${former}`;
  const what = request.withdrawn ? 'withdrawn' : `answered${picked(reply.data)}${place}`;
  const again = reply.replayed ? ' (already done)' : '';
  out.print(
    { message: reply.data, ask: data.message },
    () => `Ask #${asked.seq} on ${asked.board} ${what}${tail}${again}`,
  );
}

/** The options are shown with their numbers, so a number in the place of the words was probably meant as one. */
function warnOfNumber(
  { message, option, withdrawn }: AnswerOptions,
  given: string | undefined,
  { asked, session, out }: { asked: Message; session: Session; out: Output },
): void {
  const options = asked.ask?.options ?? [];
  const text = given?.trim() ?? '';
  if (option !== undefined || withdrawn || options.includes(text)) return;
  if (!/^[1-4]$/.test(text) || Number(text) > options.length) return;
  const pick = `service answer ${shellArgument(message)} --option ${text}${staying(session)}`;
  out.warn('no_option_picked', `The answer is the text "${text}"; no option was picked.`, pick);
}

/** What was typed or piped in; undefined: the option says it, beside which a pipe is read only for `-`. */
async function givenText({ text, option, withdrawn }: AnswerOptions, out: Output): Promise<string | undefined> {
  if (withdrawn && text === undefined) return withdrawnText;
  if (option !== undefined && text === undefined) return undefined;
  const taken = await readBody({ argument: text, file: undefined, keep: 'head', out });
  return checkLength(taken.text, taken.more);
}

/** The words of an option. @param reference the ask as it was named @throws Failure where there is none */
export function optionText(
  { seq, ask }: Message,
  option: number,
  { session, reference }: { session: Session; reference: string },
): string {
  const text = ask?.options[option - 1];
  if (text !== undefined) return text;
  const count = ask?.options.length ?? 0;
  throw new Failure('ask_invalid', ask ? `Ask #${seq} has ${count} options.` : `#${seq} is not an ask.`, {
    hint: ask
      ? `Pick one of them, or answer in words: service answer ${shellArgument(reference)} "…"${staying(session)}`
      : `service asks --can-answer${staying(session)}`,
  });
}

const picked = ({ answer: given }: Message): string =>
  given?.option ? ` with option ${given.option}, "${onOneLine(given.option_text ?? '')}"` : '';

/** Whether the task that waited for it goes on; what cannot be read is not told. */
async function taskTail({ client, board }: Pick<BoardSession, 'client' | 'board'>, { ask }: Message): Promise<string> {
  if (!ask?.blocking || !ask.task) return '';
  const reply = await client.call('getTask', { params: { board, task: ask.task.id } }).catch(() => null);
  if (!reply || reply.data.closed_at !== null) return '';
  return reply.data.blocked ? `; ${ask.task.ref} is still Blocked` : `; ${ask.task.ref} goes on`;
}
