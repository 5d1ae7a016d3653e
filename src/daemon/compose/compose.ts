/** Composes the text for a session. A pure function: the same input gives the same text. */
import { bytesOf } from '../bundle/escape.ts';
import { attributes } from '../bundle/render.ts';
import type { HandoffClass } from '../protocol.ts';
import { composeBoundary } from './boundary.ts';
import { type Chosen, candidates } from './choose.ts';
import { firstTruncated, fitMessages } from './fitting.ts';
import { emptyLines, type Lines, linesFor } from './lines.ts';
import { wakes } from './modes.ts';
import { noteFor } from './note.ts';
import { textOf } from './text.ts';
import type { Composed, ComposeInput } from './types.ts';

const emptyResult = (): Composed => ({
  class: 'mixed',
  messages: [],
  notices: [],
  nudges: [],
  modes: [],
  announced: [],
  peers: 0,
});

export const compose = { wakes, compose: composeText, note: noteFor };

function composeText(input: ComposeInput): Composed {
  const { point, seats } = input;
  // Reminders and quiet messages alone must not start or continue a turn.
  if ((point === 'wake' || point === 'turn_end') && !seats.some(wakes)) return emptyResult();
  return point === 'boundary' ? boundary(input) : bundle(input);
}

function bundle(input: ComposeInput): Composed {
  const limit = input.point === 'turn_start' ? input.limits.context_bytes : input.limits.bundle_bytes;
  const all = candidates(input);
  // Three quarters of the room are reserved for messages.
  let lines = input.ownerOnly ? emptyLines() : linesFor(input, all.length === 0 ? limit - 200 : Math.floor(limit / 4));
  let chosen = fitMessages(all, input, { room: limit - leadBytes(lines), maxBytes: limit });
  if (all.length > 0 && chosen.length === 0) {
    // The message needs all the room; the lines follow in the next bundle.
    lines = emptyLines();
    chosen = fitMessages(all, input, { room: limit, maxBytes: limit });
    if (chosen.length === 0) chosen = firstTruncated(all[0]!);
  }
  const ahead = leadText(lines);
  if (chosen.length === 0 && lines.notices.length > 0) return noticesOnly(lines, input);
  return {
    ...emptyResult(),
    ...(ahead === '' ? {} : { nudge: ahead }),
    ...(chosen.length === 0 ? {} : { bundle: textOf(chosen, input) }),
    class: classOf(chosen, 0),
    messages: chosen.map(messageRef),
    ...effectsOf(lines),
  };
}

const leadText = ({ nudge, noticeLines }: Lines): string => [...nudge, ...noticeLines].join('\n');

function leadBytes(lines: Lines): number {
  const text = leadText(lines);
  return text === '' ? 0 : bytesOf(text) + 1;
}

/** Notices without messages: in a tag with the handoff's id, so that an echo of the text can be recognised. */
function noticesOnly(lines: Lines, input: ComposeInput): Composed {
  const head = attributes({ handoff: input.handoffId, count: String(lines.noticeLines.length) });
  const text = [`<service-notices ${head}>`, ...lines.noticeLines, '</service-notices>'].join('\n');
  return {
    ...emptyResult(),
    ...(lines.nudge.length === 0 ? {} : { nudge: lines.nudge.join('\n') }),
    bundle: text,
    ...effectsOf(lines),
  };
}

function boundary(input: ComposeInput): Composed {
  const limit = input.limits.context_bytes;
  const lines = linesFor(input, limit);
  const nudge = lines.nudge.join('\n');
  const { chosen, peers, notice, announced } = composeBoundary(input, limit - (nudge === '' ? 0 : bytesOf(nudge) + 1));
  return {
    ...emptyResult(),
    ...(nudge === '' ? {} : { nudge }),
    ...(chosen.length === 0 ? {} : { bundle: textOf(chosen, input) }),
    ...(notice === '' ? {} : { notice }),
    class: classOf(chosen, peers),
    messages: chosen.map(messageRef),
    nudges: lines.nudges,
    announced,
    peers,
  };
}

const effectsOf = ({ notices, nudges, modes }: Lines) => ({ notices, nudges, modes });

function classOf(chosen: readonly Chosen[], peers: number): HandoffClass {
  if (peers > 0) return 'midturn_peer';
  return chosen.length > 0 && chosen.every(({ message }) => message.sender === 'owner') ? 'owner_only' : 'mixed';
}

const messageRef = ({ seat: { seat }, message, form, tooLong }: Chosen): Composed['messages'][number] => ({
  origin: seat.origin,
  member_id: seat.member_id,
  message_id: message.id,
  seq: message.seq,
  form: tooLong ? 'truncated' : form,
});
