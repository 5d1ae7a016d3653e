/** What an agent is working on now, and the open work that its inbox lists. */
import { z } from 'zod';
import { lineFiles, lineOverlap } from '../line-files.ts';
import { byMember, byPerson, del, get, type OperationRow, put } from '../operation.ts';
import { boardName, handle, id, memberName, oneLine, sentTime, time } from '../schemas.ts';
import { memberRecord } from './members.ts';
import { taskSelector } from './tasks.ts';

const common = {
  text: oneLine(120, 1).refine((value) => /\S/u.test(value), 'must hold something other than white space'),
  task: taskSelector.optional(),
  source: z.enum(['command', 'plan']).default('command'),
  ...lineFiles,
};

/** Required for a pause, absent otherwise. */
export const setLineBody = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('working'), ...common }),
  z.strictObject({ kind: z.literal('paused'), ...common, until: sentTime }),
]);

export const lineSet = memberRecord.extend({
  /** Of a line with paths. */
  overlaps: z.array(lineOverlap).optional(),
});

export const claimList = z.strictObject({
  claims: z.array(
    z.strictObject({
      agent: memberName,
      member_id: id('mem'),
      owner: handle,
      board: boardName,
      board_id: id('brd'),
      repo: z.string().nullable(),
      paths: z.array(z.string()),
      line: z.string(),
      task: z.string().nullable(),
      since: time,
      /** It is the agent that asks. */
      own: z.boolean(),
    }),
  ),
});

export const about = 'What an agent is on now.';

export const operations = {
  setMyLine: {
    ...put('/v1/me/line', ['AG'], 'Say what the agent is on now'),
    rates: ['lines'],
    body: setLineBody,
    errors: ['task_not_found', 'line_until_past'],
    answer: lineSet,
  },
  clearMyLine: {
    ...del('/v1/me/line', ['AG'], 'Say no longer what the agent is on'),
    answer: memberRecord,
  },
  setAgentLine: {
    ...put('/v1/boards/{board}/members/{member}/line', byPerson, 'Say what an own agent is on now'),
    rates: ['lines'],
    body: setLineBody,
    errors: ['agent_owner_required', 'not_on_board', 'member_not_found', 'task_not_found', 'line_until_past'],
    answer: lineSet,
  },
  clearAgentLine: {
    ...del('/v1/boards/{board}/members/{member}/line', byPerson, 'Say no longer what an own agent is on'),
    errors: ['agent_owner_required', 'not_on_board', 'member_not_found'],
    answer: memberRecord,
  },
  listClaims: {
    ...get(
      '/v1/me/claims',
      byMember,
      'Which agents are on which files: on the own board of an agent, on all boards of a person',
    ),
    rates: ['reads'],
    answer: claimList,
  },
} as const satisfies Record<string, OperationRow>;
