import { z } from 'zod';
import { BaseCommand, booleanFlag, limitFlag, waitFlag, waitFlags } from '../../cli/base.ts';
import { EXIT, Exit } from '../../cli/errors.ts';
import type { Output } from '../../cli/output.ts';
import { askFor } from '../../cli/session/ask-daemon.ts';
import { type Given, sessionHere } from '../../cli/session/here.ts';
import { stayingAt } from '../../cli/session/open-session.ts';
import { message, object, seq, text } from '../../cli/shapes.ts';
import { plural } from '../../cli/terminal/fields.ts';
import { MINUTE } from '../../contract/durations.ts';
import type { Answers } from '../../daemon/protocol.ts';
import { Failure, usage } from '../../local/failure.ts';
import { acknowledge, followInbox, inboxText, leaveUnshown, noteTold, readInbox, remindOfTasks } from './lib/inbox.ts';
import { personInboxText, readPersonInbox } from './lib/person.ts';
import { inboxOfSeats, ofInbox, seatsHere } from './lib/seats.ts';
import { inboxesOfSeats, inboxOfPerson, shownInbox, waitingNotices } from './lib/shapes.ts';

export const json = () => {
  /** In the program's own queue, until its turn ends. */
  const queued = z.strictObject({
    server: text,
    board_id: text,
    member_id: text,
    board: text.optional(),
    message_id: text,
    seq,
    boundary: z.literal('turn_end'),
  });
  const waiting = object({ queued: z.array(queued) });
  return z.union([shownInbox, inboxesOfSeats, inboxOfPerson, message, waitingNotices, waiting]);
};

export default class InboxCommand extends BaseCommand<typeof InboxCommand> {
  static override readOnly = ({ flags }: Given) => flags.peek === true;
  static override stream = 'follow' as const;
  static override summary = 'Read what is waiting: for an agent its messages, for a person what needs them';
  static override description =
    'An agent gets its unread messages, and they are acknowledged once they were printed; --peek leaves them unread, as do\n--quiet, --json=FIELD,… and --jq where they leave out the texts, except with --follow.\nIt says how many notices wait; --wait ends on a new one too, and --follow tells of it, each once.\nA session with several seats gets those of all of them, unless --board names one.\nA person sees where something is unread or a reply is owed; nothing is acknowledged.';
  static override examples = [
    'service inbox --as codex',
    'service inbox --as codex --wait 600',
    'service inbox --as codex --follow --json',
    'service inbox',
  ];
  static override seeAlso = ['inbox wait', 'inbox ack', 'board read'];
  static override flags = {
    wait: waitFlag('Wait for a message, or for a notice'),
    peek: booleanFlag('Leave the messages unread'),
    queued: booleanFlag('What waits in this session’s program', { exclusive: ['peek', 'wait', 'follow'] }),
    limit: limitFlag(),
    follow: booleanFlag('Go on with new messages and notices', { char: 'f', exclusive: ['peek', 'wait'] }),
    ...waitFlags,
  };

  override async run(): Promise<void> {
    if (this.flags.queued) return showQueued(this.out);
    if (this.flags.follow)
      this.out.requireShown('--follow has nothing to acknowledge', 'To wait for a message: service inbox wait -q');
    const seats = await seatsHere(this.globals);
    if (seats.length > 1) return inboxOfSeats(seats, (seat) => this.session('G', { seat }), this.reading, this.out);
    const session = await ofInbox(await this.session('A'));
    if (session.agent) return this.ofAgent(session);
    const { wait, peek, follow } = this.flags;
    if (wait !== undefined || peek || follow)
      throw usage('--wait, --peek and --follow are for an agent, and none is selected.', 'Name one with --as');
    const record = await readPersonInbox(session);
    this.print<typeof json>(record, () => personInboxText(record, stayingAt(session), this.times));
  }

  /** What is not shown is not acknowledged either. */
  private get reading() {
    return { ...this.flags, peek: this.flags.peek || this.out.quiet, notices: true };
  }

  private async ofAgent(session: Awaited<ReturnType<typeof this.session>>): Promise<void> {
    this.out.tagged = true;
    if (this.flags.follow) return followInbox(session, this.flags, this.out);
    const shown = await readInbox(session, this.reading);
    const { inbox, record, flags } = shown;
    this.out.base.board = inbox.board;
    await remindOfTasks(this.out, inbox, 30 * MINUTE, flags);
    leaveUnshown(record, [record], this.out);
    this.print<typeof json>(record, () => inboxText(shown, this.out.saidReminders()));
    await noteTold(shown, this.out);
    await acknowledge(session, record, this.out);
    if (record.timed_out && this.flags['fail-timeout']) throw new Exit(EXIT.checkFailed);
  }
}

type Queued = NonNullable<Answers['queued']['queued']>;

/** Asks the daemon; acknowledges nothing. @throws Failure `session_unknown` outside the session of an agent's program. */
async function showQueued(out: Output): Promise<void> {
  const session = sessionHere();
  if (!session)
    throw new Failure(
      'session_unknown',
      'Only the session of an agent has a queue, and this is not an agent’s session.',
      {
        hint: 'Run it in that session: service inbox --queued',
      },
    );
  const may = { start: false };
  // Not every program tells its commands the boot, without which the daemon shows no queue.
  const boot = session.boot ?? (await askFor(session, 'agents', {}, may)).boot ?? null;
  const { queued = [] } = await askFor({ ...session, boot }, 'queued', {}, may);
  out.print({ queued }, () => queuedText(queued));
}

const queuedText = (queued: Queued): string =>
  [
    `${plural(queued.length, 'message waits', 'messages wait')} for the end of the turn.`,
    ...queued.map(({ board, board_id, seq }) => `  ${board ?? board_id} #${seq}`),
  ].join('\n');
