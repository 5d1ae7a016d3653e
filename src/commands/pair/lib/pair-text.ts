/** A new pair as text. */

import { agreedText } from '../../../cli/print/joined.ts';
import { called } from '../../../cli/runtime.ts';
import { showEnd, type TimeStyle } from '../../../cli/time.ts';
import { escapeUntrusted } from '../../../contract/text.ts';
import type { PairRecord } from './pair.ts';

const who = ({ agent, use }: PairRecord): string =>
  use.bound_session
    ? `This session is ${agent.name} (${agent.role}).`
    : `Your agent there is ${agent.name} (${agent.role}): --as ${use.as}.`;

/** What was made, the line for the second session alone on its line, and what the first has to know. @param at the server. */
export function pairText(record: PairRecord, at: string, again: string, times: TimeStyle): string {
  const { board_record: board, join, linked } = record;
  const title = board.title === null ? '' : ` ("${escapeUntrusted(board.title)}")`;
  return [
    `Created board ${board.name}${title} on ${at}. ${who(record)}${again}`,
    ...(linked ? [`Linked this folder to ${board.name}.`] : []),
    `For the next session, ends ${showEnd(join.expires_at, times)}:`,
    `  ${join.line}`,
    called('It comes with: service join, and that line in quotes.'),
    ...agreedText(record),
  ].join('\n');
}
