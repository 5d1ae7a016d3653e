/** Creates and lists join codes. */
import type { BoardSession } from '../../../cli/session/open-session.ts';
import { duration } from '../../../cli/terminal/time.ts';
import type { Client } from '../../../client/client.ts';
import { ClientError } from '../../../client/errors.ts';
import { allRows } from '../../../client/pages.ts';
import type { Board, JoinCode } from '../../../contract/types.ts';
import { usualRole } from '../../../contract/values.ts';
import { Failure } from '../../../local/failure.ts';
import { codePrompt, type NewCode } from './code-text.ts';

interface CodeOptions {
  role: string | undefined;
  ttl: string | undefined;
  guest?: string;
  key: string | undefined;
}

/** Makes a code, and the text to pass on with it. */
export async function makeCode(
  { client, board }: Pick<BoardSession, 'client' | 'board'>,
  { role, ttl, guest, key }: CodeOptions,
): Promise<{ code: NewCode; prompt: string }> {
  const params = { board };
  const body = {
    role: role ?? (await invitedRole(client, (await client.call('getBoard', { params })).data)),
    ...(ttl === undefined ? {} : { ttl_seconds: duration(ttl, '--ttl') }),
    ...(guest === undefined ? {} : { guest: guest.replace(/^@/, '') }),
  };
  const { data: code } = await client.call('createJoinCode', { params, body, idempotencyKey: key }).catch(lost(board));
  return { code, prompt: codePrompt(code) };
}

/** The role of the person or agent that is invited: the second of the pair that the board's template is for, else its plain one. */
async function invitedRole(client: Client, { template, roles }: Board): Promise<string> {
  const [, second] = (template === null ? undefined : await pairOf(client, template)) ?? [];
  return second !== undefined && Object.hasOwn(roles, second) ? second : usualRole;
}

/** The roles of the first and the second agent of a template. */
export async function pairOf(client: Client, template: string): Promise<[string, string] | undefined> {
  const { data } = await client.call('listTemplates');
  return data.templates.find(({ name }) => name === template)?.pair;
}

/** A code whose answer was lost may exist; nobody knows it then. */
const lost =
  (board: string) =>
  (error: unknown): never => {
    if (!(error instanceof ClientError) || error.code !== 'outcome_unknown') throw error;
    throw new Failure('outcome_unknown', 'The answer was lost: a code may have been made, which nobody knows.', {
      hint: `See whether it is there: service code list --board ${board}. Revoke it with: service code revoke ID`,
      ...(error.details ? { details: error.details } : {}),
    });
  };

/** Codes of a board, newest first. */
export function readCodes({ client, board }: BoardSession, all: boolean): Promise<JoinCode[]> {
  const query = { state: all ? 'all' : 'working', limit: 200 };
  return allRows(client, 'listJoinCodes', 'join_codes', { params: { board }, query });
}
