/** Sessions that have waited for their person for a while, for that person: one for each session, whatever seats it has. */
import type { AgentWaiting, Need } from '../../../contract/types.ts';
import type { Place } from '../../access/board-access.ts';
import type { ReadTx } from '../../db/tx.ts';
import { runsOutAt } from '../../seats/presence.rules.ts';
import { type WaitingSeat, waitingSeats } from '../../seats/reports.store.ts';
import { timestamp } from '../../text/time.ts';
import { waitingView } from '../member.ts';
import type { Needs } from './held-threads.ts';

/** Who looks at the session answers before that. */
const AFTER_MS = 20_000;
/** Most code points of a question in the line about it. */
const QUESTION = 160;

/** @param places the boards of one person. @returns with the next moment at which it is another list, if nothing happens */
export async function waitingNeeds(tx: ReadTx, places: readonly Place[]): Promise<Needs> {
  const boards = new Map(places.map(({ board }) => [board.id, board]));
  const persons = [...new Set(places.map(({ member }) => member.person_id))];
  const needs: Need[] = [];
  const changes: number[] = [];
  const sessions = new Set<string>();
  for (const seat of await waitingSeats(tx, persons)) {
    const board = boards.get(seat.board_id);
    const waiting = waitingView(seat, tx.now);
    if (!board || !waiting || sessions.has(sessionOf(seat))) continue;
    sessions.add(sessionOf(seat));
    const due = Date.parse(waiting.since) + AFTER_MS;
    changes.push(tx.now < due ? due : (runsOutAt(seat) ?? tx.now));
    if (tx.now < due) continue;
    const { since, ...asked } = waiting;
    needs.push({
      kind: 'agent_waiting',
      id: seat.member_id,
      at: timestamp(Date.parse(since)),
      board: board.name,
      board_id: board.id,
      text: lineOf(seat, asked),
      agent: seat.name,
      member_id: seat.member_id,
      ...asked,
      ...(seat.location_machine === null ? {} : { machine: seat.location_machine }),
      ...(seat.location_folder === null ? {} : { folder: seat.location_folder }),
    });
  }
  return { needs, changes };
}

/** A session may have a seat on each of several boards. */
const sessionOf = ({ member_id, location_machine, location_harness, location_session }: WaitingSeat): string =>
  location_session === null ? member_id : JSON.stringify([location_machine, location_harness, location_session]);

/** `claude waits for your permission on laptop, tmux work:1.0: Bash: mkdir build` */
function lineOf(seat: WaitingSeat, { for: what, question, where }: Omit<AgentWaiting, 'since'>): string {
  const place = [seat.location_machine, where ?? seat.location_folder].filter((part) => part !== null).join(', ');
  const line = [...(question ?? '')];
  const asked = line.length > QUESTION ? `${line.slice(0, QUESTION - 1).join('')}…` : line.join('');
  const thing = what === undefined ? 'you' : what === 'permission' ? 'your permission' : 'your answer';
  return `${seat.name} waits for ${thing}${place && ` on ${place}`}${asked && `: ${asked}`}`;
}
