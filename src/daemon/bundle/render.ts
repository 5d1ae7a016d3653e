/**
 * Renders a message for an agent's session. Lines outside `<service-message>` are ours and start with `service: `; text
 * between the tags is the sender's. The same input always gives the same text.
 */
import type { Message } from '../../contract/types.ts';
import { attribute, body, bytesOf, firstBytes } from './escape.ts';
import { followUpLines, optionLines } from './follow-up.ts';
import { boardFlags, type RenderOptions } from './options.ts';

/** A longer message is truncated, followed by the command that shows its full text. */
export const MAX_MESSAGE_BYTES = 32_768;
export const TRUNCATED_BYTES = 4_096;
/** CPU time for escaping a text. A slower text is left out, with the command that shows it. */
const MAX_CPU_MS = 20;

/** One message with its follow-up lines. */
export function renderMessage(message: Message, seat: string, options: RenderOptions = {}): string {
  const { text, bytes, truncated } = truncate(message.body, options.cutBytes);
  const shown = escapeBody(message, text, options);
  const head = attributes({
    board: message.board,
    ...(options.seats ? { seat } : {}),
    from: `@${message.from.name}`,
    owner: message.show_owner ? message.from.owner : null,
    role: message.from.role,
    harness: message.from.harness,
    sender: message.sender,
    seq: String(message.seq),
    urgent: message.urgent ? 'true' : null,
    'expects-reply': message.expects_reply ? 'true' : null,
    'reply-to': message.reply_to_seq === null ? null : String(message.reply_to_seq),
    about: message.about.map((task) => task.ref).join(' ') || null,
    ask: message.ask ? (message.ask.blocking ? 'blocking' : 'going-with') : null,
    answers: message.answer && !message.answer.withdrawn ? String(message.answer.ask_seq) : null,
    option: message.answer?.option ? String(message.answer.option) : null,
    'agent-run': message.agent_run === undefined ? null : String(message.agent_run),
    held: message.held ? 'true' : null,
    files: message.files.map((file) => `${file.name}@${file.version}`).join(' ') || null,
    truncated: truncated || shown === null ? 'true' : null,
  });
  const what = shown === null ? 'The text takes too long to prepare, so it is left out' : 'Full text';
  const full = `service: ${what} (${bytes} bytes): service read --around ${message.seq}${boardFlags(message.board, options)}`;
  return [
    `<service-message ${head}>`,
    ...(shown === null ? [] : [shown]),
    ...optionLines(message),
    '</service-message>',
    ...(truncated || shown === null ? [full] : []),
    ...followUpLines(message, seat, options),
  ].join('\n');
}

/** Messages whose text took too long. They stay left out, so that the size computed for them stays right. */
const slow = new WeakSet<Message>();

/** Null if it takes too long, so that one message does not delay others. */
function escapeBody(message: Message, text: string, { reserved, cpuMs: spent = processCpuMs }: RenderOptions) {
  if (slow.has(message)) return null;
  const begun = spent();
  const shown = body(text, reserved, () => spent() - begun <= MAX_CPU_MS);
  if (shown === null) slow.add(message);
  return shown;
}

/** CPU time instead of wall time, because a busy machine gives this process little of it. */
function processCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Attributes in the order given; null ones are left out. */
export const attributes = (values: Record<string, string | null>): string =>
  Object.entries(values)
    .flatMap(([name, value]) => (value === null ? [] : [`${name}="${attribute(value)}"`]))
    .join(' ');

/** The text, truncated if it does not fit into a bundle. */
function truncate(text: string, cut?: number): { text: string; bytes: number; truncated: boolean } {
  const bytes = bytesOf(text);
  if (cut === undefined && bytes <= MAX_MESSAGE_BYTES) return { text, bytes, truncated: false };
  return { text: firstBytes(text, Math.min(cut ?? TRUNCATED_BYTES, TRUNCATED_BYTES)), bytes, truncated: true };
}
