/** The digests of a board: one line per message; if there are too many, one line per sender for the rest. */
import type { Message } from '../../contract/types.ts';
import { attribute, bytesOf, firstCharacters, quoted } from './escape.ts';
import { boardFlags } from './options.ts';
import { attributes } from './render.ts';

const MAX_LISTED_BYTES = 4_096;
const PREVIEW_CHARACTERS = 80;

interface DigestGroup {
  board: string;
  seat: string;
  server?: string;
}

interface DigestOptions {
  seats?: boolean;
  /** Included if nothing else of the bundle precedes the digest. */
  handoff?: string | null;
}

/** Renders the digest of a board's quiet messages. */
export function renderDigest(group: DigestGroup, digest: readonly Message[], options: DigestOptions): string {
  const first = digest[0]?.seq ?? 0;
  const on = boardFlags(group.board, { ...options, server: group.server });
  return [
    listed(group, digest, options, () => []),
    `service: One of them with what is around it: service read --around ${first}${on}; all of them: service read --after ${first - 1}${on}`,
  ].join('\n');
}

/** Renders the digest of a board's messages that are not quiet but too long for the text, with their sender labels. */
export function renderTooLong(group: DigestGroup, digest: readonly Message[], options: DigestOptions): string {
  const on = boardFlags(group.board, { ...options, server: group.server });
  const many = digest.length > 1;
  const what = many ? `${digest.length} messages are` : '1 message is';
  const which = many ? 'each in full by its number' : 'it in full';
  return [
    `service: ${what} too long to show here. Read ${which}: service read --around ${digest[0]?.seq ?? 0} --limit 1${on}`,
    listed(group, digest, options, ({ sender }) => [attributes({ sender })]),
  ].join('\n');
}

/** What a line says of a message's sender besides the name. */
type Label = (message: Message) => string[];

function listed(
  { board, seat }: DigestGroup,
  digest: readonly Message[],
  { seats = false, handoff = null }: DigestOptions,
  label: Label,
): string {
  const lines: string[] = [];
  let bytes = 0;
  let at = 0;
  for (; at < digest.length; at++) {
    const line = digestLine(digest[at]!, label);
    bytes += bytesOf(line) + 1;
    if (bytes > MAX_LISTED_BYTES) break;
    lines.push(line);
  }
  const head = attributes({ handoff, board, seat: seats ? seat : null, count: String(digest.length) });
  return [`<service-digest ${head}>`, ...lines, ...bySender(digest.slice(at), label), '</service-digest>'].join('\n');
}

/** `#17 @codex -> all · asks for a reply: Please look at …` */
function digestLine(message: Message, label: Label): string {
  const marks = [
    ...label(message),
    ...(message.reply_to_seq === null ? [] : [`reply to #${message.reply_to_seq}`]),
    ...(message.urgent ? ['urgent'] : []),
    ...(message.expects_reply ? ['asks for a reply'] : []),
    ...(message.ask ? ['ask'] : []),
    ...(message.answer ? [`answers #${message.answer.ask_seq}`] : []),
  ];
  const to = attribute(message.to.join(' '));
  return `#${message.seq} @${attribute(message.from.name)} -> ${to}${marks.map((mark) => ` · ${mark}`).join('')}: ${firstLine(message.body)}`;
}

function firstLine(body: string): string {
  const line = body.split(/\r\n|[\n\r\u2028\u2029]/).find((each) => /\S/u.test(each)) ?? '';
  return quoted(firstCharacters(line.trim(), PREVIEW_CHARACTERS));
}

/** `@codex: #17 #20-24` */
function bySender(messages: readonly Message[], label: Label): string[] {
  const senders = new Map<string, number[]>();
  for (const message of messages) {
    const who = [`@${attribute(message.from.name)}`, ...label(message)].join(' · ');
    senders.set(who, [...(senders.get(who) ?? []), message.seq]);
  }
  return [...senders].map(([who, seqs]) => `${who}: ${ranges(seqs)}`);
}

function ranges(seqs: readonly number[]): string {
  const found: [number, number][] = [];
  for (const seq of seqs) {
    const last = found.at(-1);
    if (last && seq === last[1] + 1) last[1] = seq;
    else found.push([seq, seq]);
  }
  return found.map(([from, to]) => (from === to ? `#${from}` : `#${from}-${to}`)).join(' ');
}
