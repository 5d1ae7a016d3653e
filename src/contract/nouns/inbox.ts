/** What an agent has not read, what it is reminded of, and how far it and its person have read. */
import { z } from 'zod';
import { byPerson, get, type OperationRow, post } from '../operation.ts';
import { boardName, deliveryMode, id, memberName, midturnPolicy, queryBool, queryInt, seq, time } from '../schemas.ts';
import { message, window } from './messages.ts';
import { agentLine, brake } from './seats.ts';
import { taskRef, taskText } from './tasks.ts';

export const agentWork = z.strictObject({
  current_task: taskRef.extend({ owner: z.boolean(), stands: taskText.nullable() }).nullable(),
  open_tasks: z.int().min(0),
  oldest_open: taskRef.nullable(),
  posts_without_task: z.int().min(0).max(100),
  asks_waiting: z.int().min(0),
  asks_to_it: z.int().min(0),
  line: agentLine.nullable(),
  brief: z
    .strictObject({
      file_id: id('fil'),
      name: z.enum(['brief.md', 'brief.html']),
      version: z.int().min(1),
      at: time,
      messages_since: z.int().min(0),
      tasks_done_since: z.int().min(0),
    })
    .nullable(),
  nudges: z.boolean(),
});

export const readInboxQuery = z.object({
  ...window,
  wait: queryInt(0, 600).default(0),
  urgent: queryBool.default(false),
});

export const inbox = z.strictObject({
  board: boardName,
  board_id: id('brd'),
  agent: memberName,
  member_id: id('mem'),
  messages: z.array(message),
  cursor: seq,
  more: z.boolean(),
  unread: z.int().min(0),
  unread_urgent: z.int().min(0),
  delivery_mode: deliveryMode,
  delivery_revision: z.int().min(0),
  midturn_policy: midturnPolicy,
  work: agentWork,
  braked: brake.optional(),
});

export const ackBody = z.strictObject({ up_to: seq });

export const inboxAck = z.strictObject({ cursor: seq, member_id: id('mem') });

export const boardAck = z.strictObject({ board: boardName, read_up_to: seq, unread: z.int().min(0) });

export const about = 'What an agent has not read, and read positions.';

export const operations = {
  readInbox: {
    ...get('/v1/me/inbox', ['AG'], "Read an agent's unread messages, or wait for one"),
    description:
      'Oldest first, after the read position (`cursor`) and `after`. Reading moves nothing: acknowledge what is done (`ackInbox`), and after a crash a message comes again rather than never. `wait` ends once there is one that wakes the agent: one that is held does not, nor do those of agents while it is `braked`. Who waits again and again without acknowledging is braked (`reads`).',
    kind: 'wait',
    rates: ['reads', 'waits'],
    query: readInboxQuery,
    answer: inbox,
  },
  ackInbox: {
    ...post('/v1/me/inbox/ack', ['AG'], "Move an agent's read position forward"),
    rates: ['acks'],
    body: ackBody,
    errors: ['ack_out_of_range'],
    answer: inboxAck,
  },
  ackBoard: {
    ...post('/v1/boards/{board}/ack', byPerson, "Move a person's read position forward"),
    rates: ['acks'],
    body: ackBody,
    errors: ['not_on_board', 'ack_out_of_range'],
    answer: boardAck,
  },
} as const satisfies Record<string, OperationRow>;
