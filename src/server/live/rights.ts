/** What the readers of a board may still see, for all of them in two statements. */
import type { BoardRow, StoredPolicy } from '../boards/boards.store.ts';
import type { ReadTx } from '../db/tx.ts';
import { findKeysOn, findSeats } from '../identity/credentials.store.ts';
import { type Credential, keyWorks } from '../operation/caller.ts';
import type { Standing } from '../seats/members.store.ts';
import { type Reader, readerOf } from '../views/place.ts';
import type { EndReason } from './frames.ts';

/** Somebody with an open stream. */
export interface Holder {
  credential: Credential;
  personId: string;
}

export type Right =
  | { ok: true; reader: Reader; member: Standing | null }
  | { ok: false; reason: Extract<EndReason, 'credential_ended' | 'board_unavailable'> };

const ended: Right = { ok: false, reason: 'credential_ended' };
const unavailable: Right = { ok: false, reason: 'board_unavailable' };

/** The right of each holder on a board now, by the hex digest of its credential. */
export async function rightsOn(
  tx: ReadTx,
  board: BoardRow | undefined,
  policy: StoredPolicy,
  holders: readonly Holder[],
): Promise<Map<string, Right>> {
  const people = distinct(holders, 'PK');
  const seats = distinct(holders, 'AG');
  const gone = !board || board.lifecycle === 'deleted';
  return new Map([
    ...(people.length > 0 ? await rightsOfPeople(tx, gone ? undefined : board, policy, people) : []),
    ...(seats.length > 0 ? await rightsOfSeats(tx, gone ? undefined : board, policy, seats) : []),
  ]);
}

const hex = (holder: Holder): string => holder.credential.digest.toString('hex');

function distinct(holders: readonly Holder[], kind: Credential['kind']): Holder[] {
  return [...new Map(holders.filter((h) => h.credential.kind === kind).map((h) => [hex(h), h])).values()];
}

async function rightsOfPeople(
  tx: ReadTx,
  board: BoardRow | undefined,
  policy: StoredPolicy,
  holders: Holder[],
): Promise<[string, Right][]> {
  const digests = holders.map((holder) => holder.credential.digest);
  const rows = await findKeysOn(tx, board?.id ?? '', digests);
  const keys = new Map(rows.map((row) => [row.digest.toString('hex'), row]));
  return holders.map((holder) => {
    const key = keys.get(hex(holder));
    if (!key || !keyWorks(key, tx.now)) return [hex(holder), ended];
    if (key.on_id === null) return [hex(holder), unavailable];
    const member: Standing = {
      id: key.on_id,
      kind: 'human',
      person_id: key.person_id,
      read_up_to: key.on_read_up_to,
      read_count: key.on_read_count,
      sent_count: key.on_sent_count,
      read_sent_count: key.on_read_sent_count,
    };
    return [hex(holder), { ok: true, reader: readerOf(member, policy), member }];
  });
}

async function rightsOfSeats(
  tx: ReadTx,
  board: BoardRow | undefined,
  policy: StoredPolicy,
  holders: Holder[],
): Promise<[string, Right][]> {
  const digests = holders.map((holder) => holder.credential.digest);
  const rows = new Map((await findSeats(tx, digests)).map((row) => [row.digest.toString('hex'), row]));
  return holders.map((holder) => {
    const seat = rows.get(hex(holder));
    if (seat?.status !== 'active' || !keyWorks(seat, tx.now)) return [hex(holder), ended];
    if (!board || seat.board_id !== board.id) return [hex(holder), unavailable];
    const reader: Reader = {
      memberId: seat.member_id,
      personId: seat.person_id,
      kind: 'agent',
      readsAll: policy.visibility === 'open',
      showsHarness: policy.show_harness,
    };
    return [hex(holder), { ok: true, reader, member: null }];
  });
}
