/** The lines below a message that tell the agent how to respond: each a command or a fact. */
import type { Message } from '../../contract/types.ts';
import { quoted, quotedLong, shellWord } from './escape.ts';
import { boardFlags, type RenderOptions, type TaskOutcome } from './options.ts';

/** The lines that apply, in a fixed order. @param seat the name of the receiving agent */
export function followUpLines(message: Message, seat: string, options: RenderOptions): string[] {
  const on = boardFlags(message.board, options);
  return [
    ...(message.notice === undefined ? [] : [`service: ${quotedLong(message.notice)}${on}`]),
    ...replyLine(message, on),
    ...askLines(message, on),
    ...answerLine(message, seat, options.outcomes?.get(message.id)),
    // By its id: another file may have the name by the time it is fetched.
    ...message.files.map(
      ({ id, name, version }) =>
        `service: Attached ${quoted(name)} v${version}: service file get ${shellWord(`${id}@${version}`)}${on}`,
    ),
  ];
}

/** Whether the ask is open and the receiving agent may answer it. */
const canAnswer = ({ ask }: Message): boolean =>
  ask?.can_answer === true && (ask.state === 'open' || ask.state === 'went_with');

/** The numbered options of an ask. They are the sender's text, so they go inside the sender's tags. */
export const optionLines = (message: Message): string[] =>
  canAnswer(message) ? (message.ask?.options ?? []).map((option, n) => `${n + 1}. ${quoted(option)}`) : [];

function replyLine(message: Message, on: string): string[] {
  // The options of an ask have a line of their own.
  if (!message.expects_reply || (message.ask && (!canAnswer(message) || message.ask.options.length > 0))) return [];
  return [`service: Reply requested: service say --reply ${message.seq}${on} "…"`];
}

function askLines(message: Message, on: string): string[] {
  const { ask, seq } = message;
  if (!ask || !canAnswer(message)) return [];
  const { options, going_with: text, going_at: at } = ask;
  return [
    ...(options.length === 0 ? [] : [`service: Answer with: service say --reply ${seq} --option <n>${on}`]),
    ...(text === null
      ? []
      : [`service: Going with "${quoted(text)}" at ${withoutMilliseconds(at ?? message.at)} unless you say.`]),
  ];
}

/** `2026-01-31T12:00:00Z` */
const withoutMilliseconds = (at: string): string => at.replace(/\.\d+Z$/, 'Z');

function answerLine(message: Message, seat: string, outcome: TaskOutcome | undefined): string[] {
  const { answer, from, reply_to_from: asker } = message;
  if (!answer) return [];
  const whose = asker === seat ? 'your ask' : 'the ask';
  const of = asker === null || asker === seat || asker === from.name ? '' : ` of @${quoted(asker)}`;
  const picked = answer.option === null ? '' : ` with option ${answer.option}`;
  const words = answer.option_text === null ? '' : `, "${quoted(answer.option_text)}"`;
  const what = answer.withdrawn
    ? `withdrew ${asker === from.name ? 'ask' : whose} #${answer.ask_seq}${of}`
    : `answered ${whose} #${answer.ask_seq}${of}${picked}${words}`;
  const task = outcome ? ` ${quoted(outcome.ref)} is ${outcome.blocked ? 'still' : 'no longer'} Blocked.` : '';
  return [`service: @${quoted(from.name)} ${what}.${task}`];
}
