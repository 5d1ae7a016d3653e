/** Pairing requests, as those who have part in them see them. Never a secret. */
import type { PairingRequest, PairingSide } from '../../contract/types.ts';
import { allowStep } from '../approvals/next.rules.ts';
import { boardsWithIds } from '../boards/boards.store.ts';
import type { ReadTx } from '../db/tx.ts';
import { membersWithIds } from '../members/members.store.ts';
import type { Caller } from '../operation/caller.ts';
import { directionOf, lineOf, pingText, short } from '../pairing/lines.rules.ts';
import { marksOf } from '../pairing/marks.store.ts';
import { pairingStep } from '../pairing/next.rules.ts';
import type { SubjectRow } from '../pairing/requests.store.ts';
import { awaitingOf, endOf, isLive, progressOf, recipientIsOnBoard, stateAt } from '../pairing/subject.rules.ts';
import { peopleWithIds } from '../people/people.store.ts';
import { idsIn, indexBy } from '../text/rows.ts';
import { timestamp } from '../text/time.ts';
import { some } from './some.ts';

/** The server they are read on. */
interface Server {
  info: { server_id: string };
  address: { baseUrl(): string };
}

export async function pairingViews(tx: ReadTx, caller: Caller, rows: SubjectRow[], server: Server) {
  const known = await gather(tx, rows);
  return rows.map((row) => viewOf(row, known, caller, tx.now, server));
}

export const pairingView = async (tx: ReadTx, caller: Caller, row: SubjectRow, server: Server) =>
  (await pairingViews(tx, caller, [row], server))[0]!;

type Known = Awaited<ReturnType<typeof gather>>;

async function gather(tx: ReadTx, rows: SubjectRow[]) {
  const boards = await boardsWithIds(tx, unique(rows.map((row) => row.board_id)));
  const people = await peopleWithIds(tx, unique(rows.flatMap((row) => [row.inviter_id, row.recipient_id])));
  const agentIds = rows.flatMap((row) => [row.initiator_agent_id ?? row.initiating_agent_id, row.recipient_agent_id]);
  const agents = await membersWithIds(tx, unique(agentIds));
  const verifying = idsIn(rows.filter((row) => stateAt(row, tx.now) === 'verifying'));
  return {
    boards: indexBy(boards, 'id'),
    people: indexBy(people, 'id'),
    agents: indexBy(agents, 'id'),
    marks: Map.groupBy(await marksOf(tx, verifying), (mark) => mark.request_id),
  };
}

const unique = (ids: (string | null)[]): string[] => [...new Set(ids.filter((id) => id !== null))];

function viewOf(row: SubjectRow, known: Known, caller: Caller, now: number, server: Server): PairingRequest {
  const state = stateAt(row, now);
  const end = endOf(row, now);
  const progress = state === 'verifying' ? progressOf(row, known.marks.get(row.id) ?? []) : null;
  const awaiting = awaitingOf(row, state, progress, now);
  const inviter = caller.person.person_id === row.inviter_id;
  return {
    id: row.id,
    server_id: server.info.server_id,
    board_id: row.board_id,
    inviter_id: row.inviter_id,
    initiating_agent_id: row.initiating_agent_id,
    ...some('recipient_id', row.recipient_id),
    ...some('invite_id', row.invite_id),
    work: row.work,
    state,
    generation: row.generation,
    ...endpoint(row, 'initiator', caller, now),
    ...endpoint(row, 'recipient', caller, now),
    accepted: row.accepted === 1,
    ...some('awaiting', awaiting),
    ...some('progress', progress),
    ...(progress ? challengeOf(row, caller) : {}),
    ...some('chosen_recipient_agent_id', row.chosen_agent_id),
    ...some('choice_message_id', row.choice_message_id),
    ...(inviter ? some('admission_approval_id', row.admission_approval_id) : {}),
    ...some('closed_reason', end?.reason),
    created_at: timestamp(row.created_at),
    expires_at: timestamp(row.expires_at),
    ...(end ? { closed_at: timestamp(end.at) } : {}),
    display: displayOf(row, known, caller),
    ...some('next', nextOf(row, { state, awaiting }, caller, server.address.baseUrl())),
  };
}

/** An endpoint's session is shown to its own side only. */
function endpoint(row: SubjectRow, side: PairingSide, caller: Caller, now: number): Partial<PairingRequest> {
  const initiator = side === 'initiator';
  const agentId = initiator ? row.initiator_agent_id : row.recipient_agent_id;
  const personId = initiator ? row.inviter_id : row.recipient_id;
  if (agentId === null || personId === null) return {};
  const own = caller.kind === 'PC' ? caller.proof.side === side : caller.person.person_id === personId;
  return {
    [side]: {
      person_id: personId,
      agent_id: agentId,
      generation: row.generation,
      live: isLive(row, side, now),
      ...(own ? some('session_binding', initiator ? row.initiator_binding : row.recipient_binding) : {}),
    },
  };
}

/** What the side that shows its proof has to ping with. */
function challengeOf(row: SubjectRow, caller: Caller): Partial<PairingRequest> {
  if (caller.kind !== 'PC') return {};
  const direction = directionOf(caller.proof.side);
  const nonce = short(direction) === 'i2r' ? row.nonce_i2r : row.nonce_r2i;
  if (nonce === null || row.after_seq === null) return {};
  const line = { requestId: row.id, generation: row.generation, direction, nonce };
  return {
    challenge: {
      direction,
      generation: row.generation,
      nonce,
      after_seq: row.after_seq,
      ping_text: pingText(line),
      reply_line: lineOf({ ...line, kind: 'reply' }),
    },
  };
}

function displayOf(row: SubjectRow, { boards, people, agents }: Known, caller: Caller): PairingRequest['display'] {
  const agent = agents.get(row.initiator_agent_id ?? row.initiating_agent_id);
  const board = boards.get(row.board_id);
  const person = caller.kind === 'PK' || caller.kind === 'BR' || caller.person.person_id === row.inviter_id;
  return {
    ...some('person_handle', people.get(row.inviter_id)?.handle),
    ...some('agent_name', agent?.name),
    ...(person ? some('agent_harness', agent?.harness) : {}),
    ...some('recipient_handle', people.get(row.recipient_id ?? '')?.handle),
    ...some('recipient_agent_name', agents.get(row.recipient_agent_id ?? '')?.name),
    boards: board ? [{ id: board.id, name: board.name, title: board.title }] : [],
  };
}

function nextOf(
  row: SubjectRow,
  { state, awaiting }: Pick<PairingRequest, 'state' | 'awaiting'>,
  caller: Caller,
  baseUrl: string,
): PairingRequest['next'] {
  const inviter = caller.person.person_id === row.inviter_id;
  if (state === 'awaiting_session' && inviter && !recipientIsOnBoard(row)) {
    return allowStep(row.admission_approval_id ?? '', baseUrl);
  }
  return pairingStep({ id: row.id, state, awaiting, reader: readerOf(row, caller) }, baseUrl);
}

/** The caller's side; null if their person has both and the caller is not the initiating agent. */
function readerOf(row: SubjectRow, caller: Caller): PairingSide | null {
  const { inviter_id, recipient_id, initiator_agent_id, initiating_agent_id } = row;
  if (caller.kind === 'AG' && caller.seat.id === (initiator_agent_id ?? initiating_agent_id)) return 'initiator';
  if (inviter_id === recipient_id) return null;
  return caller.person.person_id === inviter_id ? 'initiator' : 'recipient';
}
