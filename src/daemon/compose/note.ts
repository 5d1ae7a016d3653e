/** The note for a session that starts, takes seats or was compacted: its name, delivery mode and current work. */
import type { Inbox } from '../../contract/types.ts';
import { modeTexts } from '../../contract/waking.ts';
import { firstBytes, quoted } from '../bundle/escape.ts';
import { boardFlags } from '../bundle/options.ts';
import type { ComposeSeat } from './types.ts';

const MAX_NOTE_BYTES = 600;

interface NoteSeat extends Pick<ComposeSeat, 'seat' | 'mode'> {
  /** Null if its server could not be reached. */
  inbox: Inbox | null;
}

/** Renders the note: at most 600 bytes per seat, without message text. */
export function noteFor(seats: readonly NoteSeat[]): string {
  const servers = new Set(seats.map(({ seat }) => seat.origin)).size;
  return seats
    .map((each) => {
      const server = servers > 1 ? each.seat.origin : undefined;
      return noteOf(each, boardFlags(each.seat.board, { seats: seats.length > 1, server }));
    })
    .join('\n');
}

/** @param on the flags that select this seat */
function noteOf({ seat, mode, inbox }: NoteSeat, on: string): string {
  const who = `service: You are ${quoted(seat.name)} on ${quoted(seat.board)}; delivery is ${mode}. ${modeTexts[mode]}`;
  return firstBytes([who, ...(inbox ? workLines(inbox, on) : [])].join(' '), MAX_NOTE_BYTES);
}

function workLines({ work, unread }: Inbox, on: string): string[] {
  const { current_task: task, line, asks_to_it: toIt, asks_waiting: waiting } = work;
  return [
    ...(task
      ? [
          `On ${quoted(task.ref)} "${excerpt(task.title)}"${task.stands ? `, which stands: "${excerpt(task.stands.text)}"` : ''}.`,
        ]
      : []),
    ...(line ? [`Your line: ${quoted(line.kind)} "${excerpt(line.text)}".`] : []),
    ...(toIt > 0 ? [`${count(toIt, 'ask waits', 'asks wait')} for your answer.`] : []),
    ...(waiting > 0 ? [`${count(waiting, 'ask of yours is', 'asks of yours are')} open.`] : []),
    ...(unread > 0 ? [`${unread} unread: service inbox${on}.`] : []),
  ];
}

/** Shortens other people's text, so that there is room for the rest. */
const excerpt = (text: string): string => quoted([...text].slice(0, 80).join(''));
const count = (n: number, one: string, many: string): string => `${n} ${n === 1 ? one : many}`;
