/** What the commands about boards print with `--json`. */
import { z } from 'zod';
import {
  answer,
  board,
  boardPerson,
  count,
  flag,
  member,
  message,
  named,
  nextText,
  object,
  text,
  whole,
} from './base.ts';
import { ref } from './daemon-status.ts';
import { asked, serverGroup } from './people.ts';

const lifecycle = named('BoardLifecycle', whole(answer('archiveBoard')));
const members = object({ members: z.array(member) });
const lists = answer('listBoards').shape;
/** In a session with its own seat on the board. */
const listed = named('ListedBoard', z.strictObject({ ...board.shape, linked: flag, seat: ref.optional() }));
const list = {
  boards: z.array(listed),
  hidden_boards: z.array(lists.hidden_boards.unwrap().element),
  archived_count: count,
};
const before = (value: z.ZodType) => object({ before: value, after: value });

export const boards = {
  'board:list': object({ ...list, servers: z.array(serverGroup(list)).optional() }),
  'board:create': object({
    board_record: board,
    linked: flag,
    stays_linked: text.optional(),
    /** In a session: its seat there, and how messages reach it. */
    agent: member.optional(),
    mode: text.nullable().optional(),
    join_command: text,
  }),
  'board:show': object({ board_record: board }),
  'board:link': object({ path: text, previous: z.strictObject({ server: text, board: text }).nullable() }),
  'board:unlink': object({ path: text.nullable(), previous: z.strictObject({ server: text, board: text }).nullable() }),
  'board:title': before(text.nullable()),
  'board:prefix': before(text.nullable()),
  'board:charter': object({ charter: text, changed: flag }),
  'board:roles': object({ roles: board.shape.roles, changed: flag }),
  'board:policy': z.union([before(board.shape.policy), asked]),
  'board:visibility': whole(answer('setBoardVisibility')),
  'board:agents-add-people': object({ agents_add_people: flag }),
  'board:people': object({ visibility: board.shape.visibility, people: z.array(boardPerson) }),
  'board:add': z.union([object({ person: boardPerson, by_agent: text.optional(), by_owner: text.optional() }), asked]),
  'board:remove': z.union([object({ person: boardPerson }), asked]),
  'board:owners': z.union([
    object({ owners: z.array(boardPerson) }),
    object({ person: boardPerson, changed: flag }),
    asked,
  ]),
  'board:leave': object({ person: boardPerson.nullable() }),
  'board:members': members,
  'board:agents': members,
  'board:archive': lifecycle,
  'board:restore': lifecycle,
  'board:delete': lifecycle,
  'board:templates': object({ templates: answer('listTemplates').shape.templates }),
  'board:threads': object({ threads: answer('listThreads').shape.threads, next_after: nextText }),
  'board:ack': object({ read_up_to: count, unread: count }),
  'board:receipts': whole(answer('listReceipts')),
  'board:react': object({ message, reaction: text, removed: flag }),
};
