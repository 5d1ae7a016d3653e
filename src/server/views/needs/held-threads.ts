/** Threads in which agents answered each other for so long that nobody is woken any more, for the people of those agents. */
import type { Need } from '../../../contract/types.ts';
import type { Place } from '../../access/board-access.ts';
import type { ReadTx } from '../../db/tx.ts';
import { heldThreads } from '../../messages/messages.store.ts';
import { type ThreadAgent, threadAgents } from '../../messages/threads.store.ts';
import { idsIn } from '../../text/rows.ts';
import { timestamp } from '../../text/time.ts';
import { messagesAt } from '../message.ts';

/** Most code points of a thread's first line that its name has. */
const NAME_LENGTH = 60;

/** What one kind of need comes to. */
export interface Needs {
  needs: Need[];
  /** When it may be another although nothing happens, in milliseconds since the epoch. */
  changes: number[];
}

/** @param places the boards of one person. */
export async function heldThreadNeeds(tx: ReadTx, places: readonly Place[]): Promise<Needs> {
  const rows = Map.groupBy(await heldThreads(tx, idsIn(places.map(({ board }) => board))), (row) => row.board_id);
  const needs: Need[] = [];
  for (const place of places) {
    const { board, member } = place;
    const roots = rows.get(board.id) ?? [];
    if (roots.length === 0 || place.policy.agent_run === 'off') continue;
    const seqs = roots.map(({ seq }) => seq);
    const agents = Map.groupBy((await threadAgents(tx, board.id, seqs)).filter(isInRun), ({ root_seq }) => root_seq);
    const mine = seqs.filter((seq) => agents.get(seq)?.some(({ person_id }) => person_id === member.person_id));
    for (const { id, seq, body } of await messagesAt(tx, place, mine)) {
      const root = roots.find((row) => row.seq === seq);
      if (!root) continue;
      const names = (agents.get(seq) ?? []).map(({ name }) => name);
      needs.push({
        kind: 'thread_held',
        id,
        at: timestamp(root.run_held_at ?? root.at),
        board: board.name,
        board_id: board.id,
        text: `${listed(names)} ${names.length === 1 ? 'has posted' : 'have exchanged'} ${root.agent_run} messages on "${nameOf(body)}" without a person`,
        message_id: id,
        seq,
        agent_run: root.agent_run,
        agents: names,
      });
    }
  }
  return { needs, changes: [] };
}

/** It wrote since a person did. */
const isInRun = ({ last, last_of_person }: ThreadAgent): boolean => last > (last_of_person ?? 0);

/** `a`, `a and b`, `a, b and c`. */
const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;

/** The beginning of a thread's first line that says something. */
function nameOf(body: string): string {
  const line = [...(body.split('\n').find((each) => /\S/u.test(each)) ?? '').trim()];
  return line.length <= NAME_LENGTH ? line.join('') : `${line.slice(0, NAME_LENGTH - 1).join('')}…`;
}
