/** What the readers of a board may still see, for all of them in one statement per kind of credential. */
import type { BoardRow, StoredPolicy } from '../boards/boards.store.ts';
import type { ReadTx } from '../db/tx.ts';
import { findKeysOn, findSeats, findSessionsOn, type PersonOnBoard } from '../identity/credentials.store.ts';
import { type Credential, keyWorks, sessionWorks } from '../operation/caller.ts';
import type { Standing } from '../seats/member.rules.ts';
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

/** The right of each holder on a board now, by the hex digest of its credential: one statement per kind of credential. */
export async function rightsOn(
  tx: ReadTx,
  board: BoardRow | undefined,
  policy: StoredPolicy,
  holders: readonly Holder[],
): Promise<Map<string, Right>> {
  const there = board?.lifecycle === 'deleted' ? undefined : board;
  const keys = distinct(holders, 'PK');
  const sessions = distinct(holders, 'BR');
  const seats = distinct(holders, 'AG');
  const boardId = there?.id ?? '';
  return new Map([
    ...(keys.length > 0
      ? rightsOfPeople(keys, working(await findKeysOn(tx, boardId, digests(keys)), tx, keyWorks), policy)
      : []),
    ...(sessions.length > 0
      ? rightsOfPeople(
          sessions,
          working(await findSessionsOn(tx, boardId, digests(sessions)), tx, sessionWorks),
          policy,
        )
      : []),
    ...(seats.length > 0 ? await rightsOfSeats(tx, there, policy, seats) : []),
  ]);
}

/** Rows by digest, without those whose credential has ended. */
const working = <Row extends PersonOnBoard>(
  rows: Row[],
  tx: ReadTx,
  works: (row: Row, now: number) => boolean,
): Map<string, Row> =>
  new Map(rows.filter((row) => works(row, tx.now)).map((row) => [row.digest.toString('hex'), row]));

const digests = (holders: Holder[]): Buffer[] => holders.map((holder) => holder.credential.digest);

const hex = (holder: Holder): string => holder.credential.digest.toString('hex');

function distinct(holders: readonly Holder[], kind: Credential['kind']): Holder[] {
  return [...new Map(holders.filter((h) => h.credential.kind === kind).map((h) => [hex(h), h])).values()];
}

function rightsOfPeople(holders: Holder[], rows: Map<string, PersonOnBoard>, policy: StoredPolicy): [string, Right][] {
  return holders.map((holder) => {
    const row = rows.get(hex(holder));
    if (!row) return [hex(holder), ended];
    if (row.on_id === null) return [hex(holder), unavailable];
    const member: Standing = {
      id: row.on_id,
      kind: 'human',
      person_id: row.person_id,
      read_up_to: row.on_read_up_to,
      read_count: row.on_read_count,
      sent_count: row.on_sent_count,
      read_sent_count: row.on_read_sent_count,
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
  const rows = new Map((await findSeats(tx, digests(holders))).map((row) => [row.digest.toString('hex'), row]));
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
