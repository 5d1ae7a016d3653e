/** Formats a message: sender, targets, marks and time, then the body with control characters escaped. */
import type { Paint } from '../../../../cli/terminal/color.ts';
import { indented, onOneLine } from '../../../../cli/terminal/fields.ts';
import { fits, hanging, readable } from '../../../../cli/terminal/table.ts';
import { showEnd, showTime, type TimeStyle } from '../../../../cli/terminal/time.ts';
import { escapeUntrusted } from '../../../../contract/text.ts';
import type { Message } from '../../../../contract/types.ts';

export interface MessageStyle {
  paint: Paint;
  times: TimeStyle;
  /** For an agent, which is told what the sender is to it: it does not take everybody's word. */
  agent: boolean;
  /** As a document: a heading for each message, and its body quoted. */
  markdown?: boolean | undefined;
}

const INDENT = '    ';

/** The lines of one message. */
export function messageText(message: Message, style: MessageStyle): string {
  if (style.markdown) return messageMarkdown(message, style);
  const { paint, times } = style;
  const { seq, from, to, at, body } = message;
  const name = `@${from.name}`;
  const head = [`#${seq}  ${name}${ownerOf(message, style)} → ${to.join(', ')}`, ...markers(message, times)].join(
    ' · ',
  );
  const lines = headLines(head, showTime(at, times), paint);
  const named = escapeUntrusted(`#${seq}  ${name}`);
  lines[0] = lines[0]!.replace(named, () => `${paint.bold(`#${seq}`)}  ${paint.cyan(escapeUntrusted(name))}`);
  if (style.agent) lines.push(`    ${paint.dim(escapeUntrusted(whose(message)))}`);
  lines.push(indented(body));
  const options = message.ask?.options ?? [];
  lines.push(
    ...options.flatMap((option, i) =>
      readable(onOneLine(option), INDENT.length + 3).map(
        (line, l) => `${INDENT}${l === 0 ? `${i + 1}  ` : '   '}${line}`,
      ),
    ),
  );
  return lines.join('\n');
}

/** A first line with its time, which stands below where there is no room beside it. */
export function headLines(head: string, time: string, paint: Paint): string[] {
  const lines = hanging(escapeUntrusted(head));
  const beside = `${lines.at(-1)}        `;
  const timed = fits(beside + time) ? [beside + paint.dim(time)] : [lines.at(-1)!, INDENT + paint.dim(time)];
  return [...lines.slice(0, -1), ...timed];
}

/** What somebody wrote is quoted, line by line, so that none of it reads as a heading of ours, and so as another message. */
function messageMarkdown(message: Message, style: MessageStyle): string {
  const { times, agent } = style;
  const { seq, from, to, at, body, ask } = message;
  const head = [
    `#${seq} @${from.name}${ownerOf(message, style)} → ${to.join(', ')}`,
    ...markers(message, times),
    showTime(at, times),
  ];
  const options = (ask?.options ?? []).map((option, i) => `${i + 1}. ${onOneLine(option)}`);
  const parts = [
    `### ${onOneLine(head.join(' · '))}`,
    agent ? onOneLine(whose(message)) : '',
    quoted(body.trim()),
    options.join('\n'),
  ];
  return `\n${parts.filter(Boolean).join('\n\n')}`;
}

const quoted = (text: string): string =>
  escapeUntrusted(text)
    .split(/[\n\u2028\u2029]/)
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n');

/** A list of messages under its header. */
export function messageList(board: string, messages: Message[], style: MessageStyle): string {
  const count = `${messages.length} ${messages.length === 1 ? 'message' : 'messages'}`;
  const header = style.markdown ? `## ${board} · ${count}` : `${style.paint.bold(board)} · ${count}`;
  return [header, ...messages.map((message) => messageText(message, style))].join('\n');
}

/** What marks a message, in a fixed order. */
function markers(message: Message, times: TimeStyle): string[] {
  const {
    reply_to_seq: replyTo,
    urgent,
    expects_reply: expects,
    reply_count: replies,
    ask,
    answer,
    about,
    files,
    reactions,
    agent_run: agentRun,
    held,
    thread,
  } = message;
  const secrets = message.redactions.reduce((sum, { count }) => sum + count, 0);
  return [
    replyTo === null ? '' : `reply to #${replyTo}`,
    urgent ? 'urgent' : '',
    expects ? 'asks for a reply' : '',
    ask ? askMark(ask, times) : '',
    answer ? answerMark(answer) : '',
    replies ? `${replies} ${replies === 1 ? 'reply' : 'replies'}` : '',
    ...about.map((task) => task.ref),
    ...files.map((file) => `${file.name} v${file.version}`),
    ...reactions.map((reaction) => `${reaction.emoji} ${reaction.count}`),
    agentRun ? `${agentRun} by agents in a row` : '',
    held ? 'held: wakes nobody' : '',
    thread === 'stopped' ? 'closed for agents' : thread === 'held' ? 'agents held' : '',
    secrets > 0 ? `${secrets} ${secrets === 1 ? 'secret' : 'secrets'} removed` : '',
  ].filter(Boolean);
}

type Ask = NonNullable<Message['ask']>;

function askMark(ask: Ask, times: TimeStyle): string {
  const { to, state } = ask;
  const how = defaultOf(ask, times) ?? 'blocking';
  return `ask → @${to.name} (${how})${state === 'open' ? '' : `, ${words[state]}`}`;
}

/** What an ask goes with unless somebody answers, and when: `going with "Redis" in 2h`. Null for one that waits. */
export function defaultOf({ going_with: option, going_at: at }: Ask, times: TimeStyle): string | null {
  if (option === null || at === null) return null;
  return `going with "${onOneLine(option)}" ${times === 'relative' ? showEnd(at, times) : `at ${showTime(at, times)}`}`;
}

const words = { open: '', answered: 'answered', withdrawn: 'withdrawn', went_with: 'went with it' };

function answerMark({ ask_seq: seq, option, withdrawn }: NonNullable<Message['answer']>): string {
  if (withdrawn) return `withdraws #${seq}`;
  return option === null ? `answers #${seq}` : `answers #${seq}: option ${option}`;
}

/** Whose agent it is, for a person on a board with agents of several people. */
function ownerOf({ from, show_owner: shows, sender }: Message, { agent }: MessageStyle): string {
  if (agent || !shows || !from.owner) return '';
  return sender === 'owner_agent' ? ' (yours)' : ` (of ${from.owner})`;
}

/** Role, harness, owner where it matters, and what the sender is to the reader. */
function whose({ from, show_owner: showOwner, sender }: Message): string {
  const owner = showOwner && from.owner ? `owner ${from.owner}` : null;
  return [from.role, from.harness, owner, sender].filter(Boolean).join(' · ');
}
