/** Who changes what on a board, and how its record is told. */
import type { EventActor } from '../../contract/types.ts';
import type { WriteTx } from '../db/tx.ts';
import type { MemberRow } from '../members/member.rules.ts';
import { append } from '../record/append.steps.ts';
import type { BoardRow } from './boards.store.ts';

/** What every change of a board needs: the board's row is locked. */
export interface Setting {
  tx: WriteTx;
  board: BoardRow;
  actor: EventActor;
}

/** The same with the member that acts, or that it is about. */
export interface Acting extends Setting {
  member: MemberRow;
}

/** Appends an event to the board's record. */
export const record = ({ tx, board, actor }: Setting, type: string, data: Record<string, unknown>) =>
  append(tx, board, { type, actor, data });
