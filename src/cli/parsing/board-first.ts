/**
 * Commands about one board, which may be named as their first argument instead of with --board. Not those that take a text:
 * there, words too many are rather a text without its quotes.
 */
import { patterns } from '../../contract/ids.ts';

/** Whose only argument it is. */
const alone = [
  'audit:log',
  'audit:verify',
  'board:agents',
  'board:charter',
  'board:leave',
  'board:members',
  'board:owners',
  'board:people',
  'board:read',
  'board:roles',
  'board:show',
  'board:threads',
  'board:watch',
  'brief:edit',
  'brief:show',
  'code:create',
  'code:list',
  'file:list',
  'task:list',
];

/** Which take other arguments too: with one more than these, the first is the board. */
const before = [
  'board:ack',
  'board:add',
  'board:agents-add-people',
  'board:message',
  'board:policy',
  'board:prefix',
  'board:react',
  'board:receipts',
  'board:remove',
  'board:thread',
  'board:visibility',
  'code:guest',
];

const either = new Set([...alone, ...before]);

/** Whether the command may begin with a board. */
export const boardFirst = (id: string): boolean => either.has(id);

/** Whether that is all it may be given. */
export const boardAlone = (id: string): boolean => alone.includes(id);

/** Whether this word can be the name or id of a board; a number is rather one of a message. */
export const mayBeBoard = (word: string): boolean =>
  /^brd_/.test(word) || (patterns.boardName.test(word) && !/^\d+$/.test(word));
