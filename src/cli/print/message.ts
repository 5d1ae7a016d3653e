/** A message as text: who to whom, what marks it, when; then the body, in which nothing acts on the terminal. */
import { escapeUntrusted } from '../../contract/text.ts';
import type { Message } from '../../contract/types.ts';
import type { Paint } from '../color.ts';
import { showEnd, showTime, type TimeStyle } from '../time.ts';

export interface MessageStyle {
  paint: Paint;
  times: TimeStyle;
  /** As a document: a heading for each message, and its body as it was written. */
  markdown?: boolean | undefined;
}

/** The lines of one message. */
export function messageText(message: Message, style: MessageStyle): string {
  if (style.markdown) return messageMarkdown(message, style);
  const { paint, times } = style;
  const { seq, from, to, at, body } = message;
  const head = [`@${from.name} → ${to.join(', ')}`, ...markers(message, times)].join(' · ');
  const lines = [`${paint.bold(`#${seq}`)}  ${escapeUntrusted(head)}        ${paint.dim(showTime(at, times))}`];
  lines.push(`    ${paint.dim(escapeUntrusted(whose(message)))}`);
  lines.push(
    ...escapeUntrusted(body)
      .split('\n')
      .map((line) => `    ${line}`.trimEnd()),
  );
  lines.push(...(message.ask?.options ?? []).map((option, i) => `    ${i + 1}  ${escapeUntrusted(option)}`));
  return lines.join('\n');
}

function messageMarkdown(message: Message, { times }: MessageStyle): string {
  const { seq, from, to, at, body, ask } = message;
  const head = [`#${seq} @${from.name} → ${to.join(', ')}`, ...markers(message, times), showTime(at, times)];
  const options = (ask?.options ?? []).map((option, i) => `${i + 1}. ${option}`);
  const rest = options.length > 0 ? `\n\n${options.join('\n')}` : '';
  return escapeUntrusted(`\n### ${head.join(' · ')}\n\n${body.trim()}${rest}`);
}

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
    secrets > 0 ? `${secrets} ${secrets === 1 ? 'secret' : 'secrets'} removed` : '',
  ].filter(Boolean);
}

function askMark(ask: NonNullable<Message['ask']>, times: TimeStyle): string {
  const { to, blocking, going_with: goingWith, going_at: at, state } = ask;
  const when = at === null ? '' : times === 'relative' ? showEnd(at, times) : `at ${showTime(at, times)}`;
  const how = blocking ? 'blocking' : `going with "${goingWith}" ${when}`;
  return `ask → @${to.name} (${how})${state === 'open' ? '' : `, ${words[state]}`}`;
}

const words = { open: '', answered: 'answered', withdrawn: 'withdrawn', went_with: 'went with it' };

function answerMark({ ask_seq: seq, option, withdrawn }: NonNullable<Message['answer']>): string {
  if (withdrawn) return `withdraws #${seq}`;
  return option === null ? `answers #${seq}` : `answers #${seq}: option ${option}`;
}

/** Role, harness, owner where it matters, and what the sender is to the reader. */
function whose({ from, show_owner: showOwner, sender }: Message): string {
  const owner = showOwner && from.owner ? `owner ${from.owner}` : null;
  return [from.role, from.harness, owner, sender].filter(Boolean).join(' · ');
}
