/** Composes what a session is given at a point. A pure function: the same input gives the same text. */
import { bytesOf } from '../bundle/escape.ts';
import { attributes } from '../bundle/render.ts';
import type { HandoffClass } from '../protocol.ts';
import { atBoundary } from './boundary.ts';
import { type Chosen, candidates } from './choose.ts';
import { fitting, forced } from './fitting.ts';
import { type Lines, linesFor, noLines } from './lines.ts';
import { wakes } from './modes.ts';
import { noteFor } from './note.ts';
import { textOf } from './text.ts';
import type { Composed, ComposeInput } from './types.ts';

const nothing = (): Composed => ({
  class: 'mixed',
  messages: [],
  notices: [],
  nudges: [],
  modes: [],
  announced: [],
  peers: 0,
});

export const compose = { wakes, compose: composed, note: noteFor };

function composed(input: ComposeInput): Composed {
  const { point, seats } = input;
  // Nothing that only rides along starts or continues a turn.
  if ((point === 'wake' || point === 'turn_end') && !seats.some(wakes)) return nothing();
  return point === 'boundary' ? boundary(input) : bundle(input);
}

function bundle(input: ComposeInput): Composed {
  const most = input.point === 'turn_start' ? input.limits.context_bytes : input.limits.bundle_bytes;
  const all = candidates(input);
  // Lines displace no messages: these have three quarters of the room to themselves.
  let lines = input.ownerOnly ? noLines() : linesFor(input, all.length === 0 ? most - 200 : Math.floor(most / 4));
  let chosen = fitting(all, input, { room: most - bytesAhead(lines), most });
  if (all.length > 0 && chosen.length === 0) {
    // A message that needs all the room; the lines come with the next.
    lines = noLines();
    chosen = fitting(all, input, { room: most, most });
    if (chosen.length === 0) chosen = forced(all[0]!);
  }
  const ahead = textAhead(lines);
  if (chosen.length === 0 && lines.notices.length > 0) return alone(lines, input);
  return {
    ...nothing(),
    ...(ahead === '' ? {} : { nudge: ahead }),
    ...(chosen.length === 0 ? {} : { bundle: textOf(chosen, input) }),
    class: classOf(chosen, 0),
    messages: chosen.map(asMessage),
    ...told(lines),
  };
}

const textAhead = ({ nudge, noticeLines }: Lines): string => [...nudge, ...noticeLines].join('\n');

function bytesAhead(lines: Lines): number {
  const text = textAhead(lines);
  return text === '' ? 0 : bytesOf(text) + 1;
}

/** Notices without a message: in an element of their own, because a program may give the text back to say what it was. */
function alone(lines: Lines, input: ComposeInput): Composed {
  const head = attributes({ handoff: input.handoffId, count: String(lines.noticeLines.length) });
  const text = [`<service-notices ${head}>`, ...lines.noticeLines, '</service-notices>'].join('\n');
  return {
    ...nothing(),
    ...(lines.nudge.length === 0 ? {} : { nudge: lines.nudge.join('\n') }),
    bundle: text,
    ...told(lines),
  };
}

function boundary(input: ComposeInput): Composed {
  const most = input.limits.context_bytes;
  const lines = linesFor(input, most);
  const nudge = lines.nudge.join('\n');
  const { chosen, peers, notice, announced } = atBoundary(input, most - (nudge === '' ? 0 : bytesOf(nudge) + 1));
  return {
    ...nothing(),
    ...(nudge === '' ? {} : { nudge }),
    ...(chosen.length === 0 ? {} : { bundle: textOf(chosen, input) }),
    ...(notice === '' ? {} : { notice }),
    class: classOf(chosen, peers),
    messages: chosen.map(asMessage),
    nudges: lines.nudges,
    announced,
    peers,
  };
}

const told = ({ notices, nudges, modes }: Lines) => ({ notices, nudges, modes });

function classOf(chosen: readonly Chosen[], peers: number): HandoffClass {
  if (peers > 0) return 'midturn_peer';
  return chosen.length > 0 && chosen.every(({ message }) => message.sender === 'owner') ? 'owner_only' : 'mixed';
}

const asMessage = ({ seat: { seat }, message, form }: Chosen): Composed['messages'][number] => ({
  origin: seat.origin,
  member_id: seat.member_id,
  message_id: message.id,
  seq: message.seq,
  form,
});
