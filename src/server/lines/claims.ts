/** Which agents are on which files. */
import { boardIdsOf } from '../members/memberships.store.ts';
import type { ReadCase } from '../operation/usecase.ts';
import { timestamp } from '../text/time.ts';
import { standingClaims } from './claims.steps.ts';
import { globsIn } from './lines.rules.ts';

/** On the board of the agent that asks, or on all boards of the person. */
export const listClaims: ReadCase<'listClaims'>['run'] = async (tx, caller) => {
  const { seat } = caller;
  const boards = seat ? [seat.board_id] : await boardIdsOf(tx, caller.person.person_id);
  const rows = await standingClaims(tx, boards);
  return {
    claims: rows.map((row) => ({
      agent: row.agent,
      member_id: row.member_id,
      owner: row.owner,
      board: row.board,
      board_id: row.board_id,
      repo: row.repo,
      paths: globsIn(row.paths),
      line: row.text,
      task: row.task_ref,
      since: timestamp(row.at),
      own: row.member_id === seat?.id,
    })),
  };
};
