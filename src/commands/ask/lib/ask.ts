/** Posts an ask and waits for its answer. */
import { EXIT, Exit } from '../../../cli/errors.ts';
import type { Output } from '../../../cli/output.ts';
import type { BoardSession } from '../../../cli/session/open-session.ts';
import { moment, showEnd } from '../../../cli/terminal/time.ts';
import { requireFeature } from '../../../client/features.ts';
import { waitFor } from '../../../client/wait.ts';
import { DAY } from '../../../contract/durations.ts';
import { escapeUntrusted } from '../../../contract/text.ts';
import type { Actor, Message } from '../../../contract/types.ts';
import { missingArgument, usage } from '../../../local/failure.ts';
import { checkLength, readBody } from '../../board/lib/post/body.ts';
import { fileNamed } from '../../file/lib/names.ts';
import { remind } from '../../inbox/lib/reminders.ts';
import { taskRef } from '../../task/lib/tasks.ts';

interface AskOptions {
  words: readonly string[];
  'going-with'?: string | undefined;
  at?: string | undefined;
  task?: string | undefined;
  'no-task'?: boolean;
  file?: string[] | undefined;
  wait?: number | undefined;
  'expect-option'?: number | undefined;
  'fail-timeout'?: boolean | undefined;
  'idempotency-key'?: string | undefined;
}

interface GivenAnswer {
  option: number | null;
  option_text: string | null;
  body: string;
  by: Actor;
  /** The ask was taken back instead. */
  withdrawn?: true;
}

/** `[@NAME] QUESTION [OPTION…]`; without a question it is what is piped in. */
function partsOf(words: readonly string[]): {
  to: string | undefined;
  question: string | undefined;
  options: string[];
} {
  const named = words[0]?.startsWith('@') === true && /^@[a-z0-9][a-z0-9-]*$/.test(words[0]);
  const [question, ...options] = named ? words.slice(1) : words;
  if (options.length > 4) throw usage('An ask has at most 4 options.');
  return { to: named ? words[0] : undefined, question, options };
}

/** The text is read before anything is asked of a server. */
export async function ask(open: () => Promise<BoardSession>, flags: AskOptions, out: Output): Promise<void> {
  const { to, question, options } = partsOf(flags.words);
  const text = await readBody({ argument: question, file: undefined, keep: 'head', out });
  const body = checkLength(text.text, text.more);
  if (flags['expect-option'] !== undefined && flags['expect-option'] > options.length)
    throw usage(`--expect-option ${flags['expect-option']}: there are ${options.length} options.`);
  const request = {
    ...(options.length > 0 ? { options } : {}),
    ...(flags['going-with'] === undefined ? {} : { going_with: flags['going-with'] }),
    ...(flags.at === undefined ? {} : { going_at: moment(flags.at, '--at') }),
    ...(flags.file ? { approval: true } : {}),
  };
  const about = flags['no-task'] ? [] : flags.task === undefined ? undefined : [taskRef(flags.task)];
  const session = await open();
  await requireFeature(session.client, 'asks');
  if (to === undefined && !session.agent)
    throw missingArgument('Say whom you ask. Only an agent may leave it out, and then asks its person.');
  const reply = await session.client.call('postMessage', {
    params: { board: session.board },
    body: { body, to: to === undefined ? undefined : [to], about, files: flags.file?.map(fileNamed), ask: request },
    idempotencyKey: flags['idempotency-key'],
  });
  if (reply.replayed) out.base.replayed = true;
  await tell(session, reply.data, flags, out);
}

async function tell(session: BoardSession, message: Message, flags: AskOptions, out: Output): Promise<void> {
  const { readNotes } = await import('../../board/lib/post/post-notes.ts');
  const { notes, inbox } = out.quiet ? { notes: null, inbox: null } : await readNotes(session, message);
  if (inbox?.work.nudges && message.ask?.options.length === 0) {
    const text = 'Options are quicker to answer: service ask "Which one?" "This" "That"';
    await remind(out, inbox.member_id, { code: 'ask_options', text, every: DAY });
  }
  const record = { message, recipients: notes?.recipients ?? null };
  if (flags.wait === undefined) return out.print(record, () => askText(message).join('\n'));
  const answer = await awaitAnswer(session, message, flags.wait);
  out.print({ ...record, ...(answer ? { answer } : { timed_out: true }) }, () =>
    [...askText(message), answerText(answer, flags.wait ?? 0)].join('\n'),
  );
  const wanted = flags['expect-option'];
  if (wanted !== undefined && answer?.option !== wanted) throw new Exit(EXIT.checkFailed);
  if (!answer && flags['fail-timeout']) throw new Exit(EXIT.checkFailed);
}

function askText(message: Message): string[] {
  const { seq, board, about, ask: asked, files } = message;
  const refs = about.map((task) => task.ref).join(', ');
  const cited = files.map((file) => `${file.name} v${file.version}`).join(', ');
  const first = [
    `Ask #${seq} sent to @${asked?.to.name ?? ''} on ${board}`,
    refs ? `about ${refs}` : '',
    asked?.approval ? `for approval: ${cited}` : '',
  ];
  return [first.filter(Boolean).join(' · '), ...consequence(asked)];
}

/** What follows from it as long as nobody answers. */
function consequence(asked: Message['ask']): string[] {
  if (!asked) return [];
  if (asked.blocking) return asked.task ? [`${asked.task.ref} counts as Blocked until then.`] : [];
  const at = asked.going_at === null ? 'now' : showEnd(asked.going_at, 'relative');
  return [
    `${at === 'now' ? 'Now' : `At ${clock(asked.going_at ?? '')}, ${at}`}: "${escapeUntrusted(asked.going_with ?? '')}", unless @${asked.to.name} objects.`,
  ];
}

const clock = (at: string): string => new Date(at).toLocaleTimeString('sv-SE', { hour: '2-digit', minute: '2-digit' });

async function awaitAnswer(session: BoardSession, message: Message, waitSeconds: number): Promise<GivenAnswer | null> {
  const input = { params: { message: message.id }, query: { after: message.seq } };
  const ends = (reply: Message) => reply.answer?.ask_id === message.id;
  const { reply } = await waitFor(session.client, 'listReplies', input, {
    waitSeconds,
    until: ({ replies }) => replies.some(ends),
  });
  const found = reply.data.replies.find(ends);
  if (!found?.answer) return null;
  const { option, option_text, withdrawn } = found.answer;
  return { option, option_text, body: found.body, by: found.from, ...(withdrawn ? { withdrawn } : {}) };
}

function answerText(answer: GivenAnswer | null, seconds: number): string {
  if (!answer) return `No answer within ${seconds} s.`;
  const picked = answer.option === null ? '' : ` with option ${answer.option}, "${answer.option_text ?? ''}"`;
  const words = answer.withdrawn ? 'withdrew it' : `answered${picked}`;
  const same = answer.body === answer.option_text;
  return escapeUntrusted(`@${answer.by.name} ${words}${same ? '' : `: ${answer.body}`}`);
}
