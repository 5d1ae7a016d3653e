import { z } from 'zod';
import { WriteCommand } from '../../cli/base.ts';
import { EXIT, Exit } from '../../cli/errors.ts';
import { booleanFlag, integerFlag, listFlag, stringFlag, waitFlag, waitFlags, words } from '../../cli/flags.ts';
import { type BoardSession, staying } from '../../cli/session/open-session.ts';
import { flag, message, object, postRecipients, text } from '../../cli/shapes.ts';
import { moment, showEnd } from '../../cli/terminal/time.ts';
import { requireFeature } from '../../client/features.ts';
import { waitFor } from '../../client/wait.ts';
import { DAY } from '../../contract/durations.ts';
import { escapeUntrusted } from '../../contract/text.ts';
import type { Message } from '../../contract/types.ts';
import { missingArgument, usage } from '../../local/failure.ts';
import { failedWait } from '../board/lib/post/await-reply.ts';
import { checkLength, readBody } from '../board/lib/post/body.ts';
import { fileNamed } from '../file/lib/names.ts';
import { remind } from '../inbox/lib/reminders.ts';
import { taskRef } from '../task/lib/tasks.ts';

export const json = () => {
  const given = z.strictObject({
    option: z.int().nullable(),
    option_text: text.nullable(),
    body: text,
    by: message.shape.from,
    withdrawn: z.literal(true).optional(),
  });
  return object({ message, recipients: postRecipients, answer: given.optional(), timed_out: flag.optional() });
};

export default class Ask extends WriteCommand<typeof Ask> {
  static override summary = 'Ask somebody, with options to pick from';
  static override description =
    'An agent that names nobody asks its person. The task it is about counts as Blocked until there is an answer; with\n--going-with it does not wait: at that time the agent goes on, unless somebody objects. With --file the one asked, a person,\napproves those versions by picking the first option.';
  static override usage = '[@NAME] QUESTION [OPTION…]';
  static override examples = [
    'service ask @maya "Which region?" "eu-west" "us-east"',
    'service ask "Cap at a minute or at ten?" "A minute" "Ten" --as codex',
    'service ask @maya "Delete the old table?" "Yes" "No" --wait 1800 --expect-option 1',
    'service ask @maya "Which region?" --going-with "eu-west" --at 2h --as codex',
    'service ask @maya "Good to publish?" "Approve" "Not yet" --file notes/api.md@4',
  ];
  static override seeAlso = ['asks', 'answer', 'withdraw'];
  static override mayBeEmpty = ['words'];
  static override args = { words: words('[@NAME] QUESTION [OPTION…]: - reads the question from standard input') };
  static override flags = {
    'going-with': stringFlag('TEXT', 'What is done without an answer; nothing waits'),
    at: stringFlag('TIME', 'When that is done: 14:20, 2h, or a date (default now)', { dependsOn: ['going-with'] }),
    task: stringFlag('T', 'The task it is about (default the current one)', { char: 'T' }),
    'no-task': booleanFlag('About no task', { exclusive: ['task'] }),
    file: listFlag({ char: 'F', helpValue: 'NAME[@V]', description: 'Ask for approval of this file, a path or fil_…' }),
    wait: waitFlag('Wait for the answer'),
    'expect-option': integerFlag('K', 'Exit with 3 unless this option is picked', {
      min: 1,
      max: 4,
      dependsOn: ['wait'],
    }),
    ...waitFlags,
  };

  /** The text is read before anything is asked of a server. */
  override async run(): Promise<void> {
    const { flags, out } = this;
    const { to, question, options } = partsOf(this.args.words ?? []);
    const text = await readBody({ argument: question, file: undefined, keep: 'head', out });
    const body = checkLength(text.text, text.more);
    const { 'expect-option': expected } = flags;
    if (expected !== undefined && expected > options.length)
      throw usage(`--expect-option ${expected}: there are ${options.length} options.`);
    const request = {
      ...(options.length > 0 ? { options } : {}),
      ...(flags['going-with'] === undefined ? {} : { going_with: flags['going-with'] }),
      ...(flags.at === undefined ? {} : { going_at: moment(flags.at, '--at') }),
      ...(flags.file ? { approval: true } : {}),
    };
    const about = flags['no-task'] ? [] : flags.task === undefined ? undefined : [taskRef(flags.task)];
    const session = await this.onBoard('A');
    await requireFeature(session.client, 'asks');
    if (to === undefined && !session.agent)
      throw missingArgument('Say whom you ask. Only an agent may leave it out, and then asks its person.');
    const reply = await session.client.call('postMessage', {
      params: { board: session.board },
      body: { body, to: to === undefined ? undefined : [to], about, files: flags.file?.map(fileNamed), ask: request },
      idempotencyKey: this.key,
    });
    await this.tell(session, reply.data, this.again(reply));
  }

  private async tell(session: BoardSession, message: Message, again: string): Promise<void> {
    const { wait, 'expect-option': wanted, 'fail-timeout': fails } = this.flags;
    const { readNotes } = await import('../board/lib/post/post-notes.ts');
    const { notes, inbox } = this.out.quiet ? { notes: null, inbox: null } : await readNotes(session, message);
    if (inbox?.work.nudges && message.ask?.options.length === 0) {
      const text = `Options are quicker to answer: service ask "Which one?" "This" "That"${staying(session)}`;
      await remind(this.out, inbox.member_id, { code: 'ask_options', text, every: DAY });
    }
    const record = { message, recipients: notes?.recipients ?? null };
    const asked = askText(message, again).join('\n');
    if (wait === undefined) return this.print<typeof json>(record, () => asked);
    this.out.begin(asked);
    const answer = await awaitAnswer(session, message, wait).catch(failedWait(message));
    const outcome = answer ? { answer } : { timed_out: true };
    this.print<typeof json>({ ...record, ...outcome }, () => answerText(answer, wait));
    if ((wanted !== undefined && answer?.option !== wanted) || (!answer && fails)) throw new Exit(EXIT.checkFailed);
  }
}

type GivenAnswer = NonNullable<z.infer<ReturnType<typeof json>>['answer']>;

/** `[@NAME] QUESTION [OPTION…]`; without a question it is what is piped in. */
function partsOf(words: readonly string[]) {
  const named = words[0]?.startsWith('@') === true && /^@[a-z0-9][a-z0-9-]*$/.test(words[0]);
  const [question, ...options] = named ? words.slice(1) : words;
  if (options.length > 4) throw usage('An ask has at most 4 options.');
  return { to: named ? words[0] : undefined, question, options };
}

function askText(message: Message, again: string): string[] {
  const { seq, board, about, ask: asked, files } = message;
  const refs = about.map((task) => task.ref).join(', ');
  const cited = files.map((file) => `${file.name} v${file.version}`).join(', ');
  const first = [
    `Ask #${seq} sent to @${asked?.to.name ?? ''} on ${board}`,
    refs ? `about ${refs}` : '',
    asked?.approval ? `for approval: ${cited}` : '',
  ];
  return [first.filter(Boolean).join(' · ') + again, ...consequence(asked)];
}

/** What follows from it as long as nobody answers. */
function consequence(asked: Message['ask']): string[] {
  if (!asked) return [];
  if (asked.blocking) return asked.task ? [`${asked.task.ref} counts as Blocked until then.`] : [];
  const at = asked.going_at === null ? 'now' : showEnd(asked.going_at, 'relative');
  const clock = new Date(asked.going_at ?? 0).toLocaleTimeString('sv-SE', { hour: '2-digit', minute: '2-digit' });
  return [
    `${at === 'now' ? 'Now' : `At ${clock}, ${at}`}: "${escapeUntrusted(asked.going_with ?? '')}", unless @${asked.to.name} objects.`,
  ];
}

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
