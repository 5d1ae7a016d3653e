/** The digest of a board: one line per message; if there are too many, one line per sender for the rest. */
import type { Message } from '../../contract/types.ts';
import { attribute, bytesOf, quoted } from './escape.ts';
import { boardFlags } from './options.ts';
import { attributes } from './render.ts';

const MAX_LISTED_BYTES = 4_096;
const PREVIEW_CHARACTERS = 80;

interface DigestGroup {
  board: string;
  seat: string;
  server?: string;
  digest?: readonly Message[];
}

/** Renders one board's digest. @param options.handoff included if no group of whole messages precedes it */
export function renderDigest(
  { board, seat, server, digest = [] }: DigestGroup,
  { seats = false, handoff = null }: { seats?: boolean; handoff?: string | null },
): string {
  const lines: string[] = [];
  let bytes = 0;
  let at = 0;
  for (; at < digest.length; at++) {
    const line = digestLine(digest[at]!);
    bytes += bytesOf(line) + 1;
    if (bytes > MAX_LISTED_BYTES) break;
    lines.push(line);
  }
  const on = boardFlags(board, { seats, server });
  const head = attributes({ handoff, board, seat: seats ? seat : null, count: String(digest.length) });
  const first = digest[0]?.seq ?? 0;
  return [
    `<service-digest ${head}>`,
    ...lines,
    ...bySender(digest.slice(at)),
    '</service-digest>',
    `service: One of them with what is around it: service read --around ${first}${on}; all of them: service read --after ${first - 1}${on}`,
  ].join('\n');
}

/** `#17 @codex -> all · asks for a reply: Please look at …` */
function digestLine(message: Message): string {
  const marks = [
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
  return quoted([...line.trim()].slice(0, PREVIEW_CHARACTERS).join(''));
}

/** `@codex: #17 #20-24` */
function bySender(messages: readonly Message[]): string[] {
  const senders = new Map<string, number[]>();
  for (const { from, seq } of messages) senders.set(from.name, [...(senders.get(from.name) ?? []), seq]);
  return [...senders].map(([name, seqs]) => `@${attribute(name)}: ${ranges(seqs)}`);
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
