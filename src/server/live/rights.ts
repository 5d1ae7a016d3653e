/** What the readers of a board may still see, for all of them in one statement. */
import { type Reader, readerOf, requirePlace, seeBoardById } from '../access/board-access.ts';
import { type BoardRow, parsePolicy } from '../boards/boards.store.ts';
import type { Database, ReadTx } from '../db/tx.ts';
import { findHolders, type HolderKind, type HolderRow } from '../keys/holders.store.ts';
import type { MemberPosition } from '../members/member.rules.ts';
import { authenticate, type Credential, keyWorks } from '../operation/caller.ts';
import type { EndReason } from './frames.ts';

/** The holder of an open stream. */
export interface Holder {
  credential: Credential;
  personId: string;
}

export type Right =
  /** For so many milliseconds agents' messages do not wake the seat; not more than 0: they do. */
  | { ok: true; reader: Reader; member: MemberPosition | null; brakedMs: number }
  | { ok: false; reason: Extract<EndReason, 'credential_ended' | 'board_unavailable'> };

const ended: Right = { ok: false, reason: 'credential_ended' };
const unavailable: Right = { ok: false, reason: 'board_unavailable' };

const kinds: readonly HolderKind[] = ['PK', 'BR', 'AG'];

/** @throws Refusal where the credential works no longer, or its caller is not on the board any more. */
export const requireReader = (db: Database, credential: Credential, boardId: string): Promise<void> =>
  db.read(async (tx) => {
    const caller = await authenticate(tx, credential);
    requirePlace(await seeBoardById(tx, caller, boardId));
  });

/** The right of each holder on a board now, by the hex digest of its credential. @param reading the board's row */
export async function rightsOn(
  tx: ReadTx,
  boardId: string,
  reading: Promise<BoardRow | undefined>,
  holders: readonly Holder[],
): Promise<Map<string, Right>> {
  const credentials = new Map(holders.map(({ credential }) => [credential.digest.toString('hex'), credential]));
  const there = kinds.filter((kind) => [...credentials.values()].some((credential) => credential.kind === kind));
  const digests = [...credentials.values()].map((credential) => credential.digest);
  const [board, found] = await Promise.all([reading, findHolders(tx, boardId, there, digests)]);
  const rows = new Map(found.map((row) => [row.digest.toString('hex'), row]));
  return new Map([...credentials.keys()].map((digest) => [digest, rightOf(rows.get(digest), board, tx.now)]));
}

function rightOf(row: HolderRow | undefined, board: BoardRow | undefined, now: number): Right {
  if (!row || !works(row, now)) return ended;
  if (row.member_id === null) return unavailable;
  if (row.status !== 'active') return ended;
  if (!board || board.lifecycle === 'deleted' || row.board_id !== board.id) return unavailable;
  const member = { ...row, id: row.member_id };
  return {
    ok: true,
    reader: readerOf(member, parsePolicy(board)),
    member: row.kind === 'human' ? member : null,
    brakedMs: (row.braked_until ?? 0) - now,
  };
}

const works = (row: HolderRow, now: number): boolean =>
  row.session_ended_at === null && (row.session_expires_at ?? now + 1) > now && keyWorks(row, now);
