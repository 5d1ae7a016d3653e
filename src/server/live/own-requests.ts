/** The approvals, notices, pairing requests and allowance of a person: finds what changed between two reads. */
import { readAllowance } from '../allowances/allowances.store.ts';
import { effective, listedRows } from '../approvals/approvals.store.ts';
import type { ReadTx } from '../db/tx.ts';
import { newestNotices } from '../notices/notices.store.ts';
import { marksOf } from '../pairing/marks.store.ts';
import { listedRequests } from '../pairing/requests.store.ts';
import { personSees } from '../pairing/sight.rules.ts';
import { isLive, recipientIsOnBoard, stateAt } from '../pairing/subject.rules.ts';
import { idsIn } from '../text/rows.ts';
import type { Change } from './own-agents.ts';

/** One item; a frame is sent when its `mark` differs from before. */
interface Seen {
  name: string;
  id: string;
  mark: string;
  data: Record<string, unknown>;
}

interface Person {
  person_id: string;
  server_role: string;
}

/** All current items. */
export async function requestsOf(tx: ReadTx, person: Person): Promise<Seen[]> {
  const personId = person.person_id;
  const approvals = (await listedRows(tx, { 'a.person_id': personId })).map((row) => {
    const { state } = effective(row, tx.now);
    return {
      name: 'approval',
      id: row.id,
      mark: state as string,
      data: { approval_id: row.id, member_id: row.agent_id, state },
    };
  });
  const notices = (await newestNotices(tx, personId)).map(({ member_id, board_id, newest }) => ({
    name: 'notice',
    id: member_id,
    mark: newest,
    data: { board_id, member_id },
  }));
  const pairings = await pairingsOf(tx, person);
  const revision = (await readAllowance(tx, personId))?.revision ?? 0;
  const allowance = { name: 'allowance', id: '', mark: String(revision), data: { revision } };
  return [...approvals, ...pairings, ...notices, allowance];
}

/** Marked by all that says which side is next and what it runs, not by the state alone. */
async function pairingsOf(tx: ReadTx, person: Person): Promise<Seen[]> {
  const rows = (await listedRequests(tx, person.person_id)).filter((row) => personSees(row, person));
  const marks = Map.groupBy(await marksOf(tx, idsIn(rows)), (mark) => mark.request_id);
  return rows.map((row) => {
    const state = stateAt(row, tx.now);
    const { id, generation } = row;
    const facts = [
      state,
      generation,
      recipientIsOnBoard(row),
      row.chosen_agent_id,
      row.initiator_agent_id,
      row.recipient_agent_id,
      isLive(row, 'initiator', tx.now),
      isLive(row, 'recipient', tx.now),
      row.accepted,
      row.evidence_i2r !== null,
      row.evidence_r2i !== null,
      marks.get(id)?.length,
    ];
    return { name: 'pairing', id, mark: facts.join(), data: { pairing_request_id: id, state, generation } };
  });
}

export class OwnRequests {
  #known: Map<string, string> | null = null;

  /** Takes the current items and returns the frames to send. The first call returns none. */
  take(seen: readonly Seen[]): Change[] {
    const known = this.#known;
    this.#known = new Map(seen.map(({ name, id, mark }) => [`${name} ${id}`, mark]));
    if (!known) return [];
    return seen
      .filter(({ name, id, mark }) => known.get(`${name} ${id}`) !== mark)
      .map(({ name, id, data }): Change => [name, id, data]);
  }
}
