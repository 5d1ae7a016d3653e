/**
 * The table of operations: the HTTP API as data. Router, client, OpenAPI description and the tests that walk every operation
 * all start here. The rows of each noun stand with its schemas in `nouns/`.
 */
import * as allowances from './nouns/allowances.ts';
import * as approvals from './nouns/approvals.ts';
import * as asks from './nouns/asks.ts';
import * as boards from './nouns/boards.ts';
import * as browsers from './nouns/browsers.ts';
import * as delegations from './nouns/delegations.ts';
import * as files from './nouns/files.ts';
import * as inbox from './nouns/inbox.ts';
import * as invites from './nouns/invites.ts';
import * as joining from './nouns/joining.ts';
import * as keys from './nouns/keys.ts';
import * as lines from './nouns/lines.ts';
import * as machines from './nouns/machines.ts';
import * as members from './nouns/members.ts';
import * as messages from './nouns/messages.ts';
import * as needs from './nouns/needs.ts';
import * as notices from './nouns/notices.ts';
import * as pairing from './nouns/pairing.ts';
import * as people from './nouns/people.ts';
import * as record from './nouns/record.ts';
import * as search from './nouns/search.ts';
import * as seats from './nouns/seats.ts';
import * as server from './nouns/server.ts';
import * as tasks from './nouns/tasks.ts';

export const operations = {
  ...server.operations,
  ...people.operations,
  ...keys.operations,
  ...browsers.operations,
  ...invites.operations,
  ...machines.operations,
  ...delegations.operations,
  ...boards.operations,
  ...members.operations,
  ...seats.operations,
  ...lines.operations,
  ...joining.operations,
  ...messages.operations,
  ...search.operations,
  ...inbox.operations,
  ...record.operations,
  ...tasks.operations,
  ...asks.operations,
  ...files.operations,
  ...approvals.operations,
  ...allowances.operations,
  ...needs.operations,
  ...notices.operations,
  ...pairing.operations,
} as const;

export type OperationName = keyof typeof operations;

/** Each noun with its operations, its schemas and what the API description says about it, under its name there. */
export const nouns = {
  'Server and caller': server,
  People: people,
  'Access keys': keys,
  Browsers: browsers,
  'Server invites': invites,
  'Machine requests': machines,
  Delegations: delegations,
  Boards: boards,
  'Members of a board': members,
  Seats: seats,
  Lines: lines,
  Joining: joining,
  Messages: messages,
  Search: search,
  Inbox: inbox,
  Record: record,
  Tasks: tasks,
  Asks: asks,
  Files: files,
  Approvals: approvals,
  Allowances: allowances,
  Needs: needs,
  Notices: notices,
  Pairing: pairing,
};
