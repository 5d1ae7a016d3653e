/** Which agents are on which files. */
import { boardIdsOf } from '../members/memberships.store.ts';
import type { ReadCase } from '../operation/usecase.ts';
import { timestamp } from '../text/time.ts';
import { boardsOfAgent, globsIn, standingClaims } from './claims.steps.ts';

/** On all boards that the caller is on. */
export const listClaims: ReadCase<'listClaims'>['run'] = async (tx, caller) => {
  const agent = caller.seat;
  const boards = agent ? await boardsOfAgent(tx, agent) : await boardIdsOf(tx, caller.person.person_id);
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
      own: agent !== null && row.person_id === agent.person_id && row.agent === agent.name,
    })),
  };
};
