import { WriteCommand } from '../../cli/base.ts';
import { EXIT, Exit } from '../../cli/errors.ts';
import { booleanFlag, integerFlag, listFlag, stringFlag, waitFlag, waitFlags, words } from '../../cli/flags.ts';
import { momentOf } from '../../cli/repeats.ts';
import { type BoardSession, staying } from '../../cli/session/open-session.ts';
import { flag, message, object, postRecipients } from '../../cli/shapes.ts';
import { onOneLine } from '../../cli/terminal/fields.ts';
import { moment, showEnd } from '../../cli/terminal/time.ts';
import { requireFeature } from '../../client/features.ts';
import { DAY } from '../../contract/durations.ts';
import type { Message } from '../../contract/types.ts';
import { missingArgument, usage } from '../../local/failure.ts';
import { failedAfterPost, waitingOn } from '../board/lib/post/await-reply.ts';
import { checkLength, readBody } from '../board/lib/post/body.ts';
import { warnOfSecrets } from '../board/lib/post/warn-of-secrets.ts';
import { fileToAttach } from '../file/lib/scope.ts';
import { remind } from '../inbox/lib/reminders.ts';
import { taskRef } from '../task/lib/tasks.ts';
import { answerText, awaitAnswer, givenAnswer, givenBy } from './lib/given-answer.ts';
import { partsOf, refuseBareName } from './lib/parts.ts';

export const json = () =>
  object({ message, recipients: postRecipients, answer: givenAnswer().optional(), timed_out: flag.optional() });

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
    // A mistake is told before anything is asked.
    if (flags.at !== undefined && this.key === undefined) moment(flags.at, '--at');
    const about = flags['no-task'] ? [] : flags.task === undefined ? undefined : [taskRef(flags.task)];
    const session = await this.onBoard('A');
    await requireFeature(session.client, 'asks');
    if (to === undefined) await refuseBareName(session, this.args.words ?? []);
    if (to === undefined && !session.agent)
      throw missingArgument('Say whom you ask. Only an agent may leave it out, and then asks its person.');
    const files = flags.file && (await Promise.all(flags.file.map((text) => fileToAttach(session, text))));
    const request = {
      ...(options.length > 0 ? { options } : {}),
      ...(flags['going-with'] === undefined ? {} : { going_with: flags['going-with'] }),
      ...(flags.at === undefined ? {} : { going_at: await momentOf(session, this.key, '--at', flags.at) }),
      ...(flags.file ? { approval: true } : {}),
    };
    const reply = await session.client.call('postMessage', {
      params: { board: session.board },
      body: { body, to: to === undefined ? undefined : [to], about, files, ask: request },
      idempotencyKey: this.key,
    });
    warnOfSecrets(reply.data, out);
    await this.tell(session, reply.data, this.again(reply));
  }

  private async tell(session: BoardSession, message: Message, again: string): Promise<void> {
    const { wait, at, 'expect-option': wanted, 'fail-timeout': fails } = this.flags;
    const { readNotes } = await import('../board/lib/post/post-notes.ts');
    const { notes, inbox } = this.out.quiet ? { notes: null, inbox: null } : await readNotes(session, message);
    if (inbox?.work.nudges && message.ask?.options.length === 0) {
      const text = `Options are quicker to answer: service ask "Which one?" "This" "That"${staying(session)}`;
      await remind(this.out, inbox.member_id, { code: 'ask_options', text, every: DAY });
    }
    const record = { message, recipients: notes?.recipients ?? null };
    const asked = askText(message, again).join('\n');
    if (wait === undefined) return this.print<typeof json>(record, () => asked);
    const { showReplies } = await import('../inbox/lib/hold-deliveries.ts');
    // After the time at which it is done without an answer nothing depends on one.
    const seconds = Math.min(wait, at === undefined ? wait : secondsToGo(message));
    const show = async () => {
      this.out.begin(asked);
      const reply = await awaitAnswer(session, message, seconds).catch(failedAfterPost(message));
      const given = reply && givenBy(reply);
      const outcome = given ? { answer: given } : { timed_out: true };
      this.print<typeof json>({ ...record, ...outcome }, () =>
        given ? answerText(given) : `No answer within ${seconds} s. ${waitingOn(message, session)}`,
      );
      return reply;
    };
    const shown = (reply: Message | null) => (reply && this.out.shows({ answer: givenBy(reply) }) ? [reply] : []);
    const answer = (await showReplies(session.seat, message.id, show, shown))?.answer;
    if ((wanted !== undefined && answer?.option !== wanted) || (!answer && fails)) throw new Exit(EXIT.checkFailed);
  }
}

/** Until what is done without an answer is done, by the clock of who asks. */
const secondsToGo = ({ at, ask }: Message): number =>
  Math.max(0, Math.ceil((Date.parse(ask?.going_at ?? at) - Date.now()) / 1000));

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
  const goingWith = `"${onOneLine(asked.going_with ?? '')}"`;
  return [
    `${at === 'now' ? `Going with ${goingWith} now` : `At ${clock}, ${at}: ${goingWith}`}, unless @${asked.to.name} objects.`,
  ];
}
