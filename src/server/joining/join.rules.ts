/** What a request to join must contain, for each kind of credential. */
import { Refusal } from '../../contract/errors.ts';
import type { Body } from '../../contract/types.ts';
import { invalidField } from '../operation/refusals.rules.ts';
import { redact } from '../text/redaction.ts';

type Join = Body<'joinBoard'>;
export type ByCode = Join & { code: string };
export type ByBoard = Join & { code?: undefined; board: string; role: string };
export type BySession = Join & { board: string; session: string };

/** With a person's key: either a code, which brings board and role, or both of them. @throws Refusal `invalid_request`. */
export function formOfKey(body: Join): ByCode | ByBoard {
  const { code, board, role } = body;
  if ((code === undefined) === (board === undefined)) throw shape('code', 'give exactly one of code and board');
  if (code !== undefined && role !== undefined) throw shape('role', 'goes with board, not with code');
  if (code !== undefined) return { ...body, code };
  if (board === undefined || role === undefined) throw shape('role', 'is needed with board');
  return { ...body, code, board, role };
}

/** With a delegation: a board and the session that comes onto it. @throws Refusal `forbidden`, `invalid_request`. */
export function formOfDelegation(body: Join): BySession {
  const { code, board, session } = body;
  if (code !== undefined) {
    throw new Refusal('forbidden', 'A delegation redeems no codes.', {
      hint: "Join with board and session; a code needs its person's own access key.",
    });
  }
  if (board === undefined) throw shape('board', 'is needed');
  if (session === undefined) throw shape('session', 'is needed');
  return { ...body, board, session };
}

const shape = (field: string, problem: string): Refusal =>
  invalidField(field, problem, 'Join with a code, or with board and role; a session joins with board and session.');

/** The harness as given, else the session's prefix, with the secrets in it removed. @throws Refusal 422 when they contradict each other. */
export function harnessOf({ harness, session }: Pick<Join, 'harness' | 'session'>): string | null {
  const prefix = session?.split(':')[0];
  if (prefix !== undefined && harness !== undefined && prefix !== harness) {
    throw new Refusal('invalid_request', 'The session does not belong to this harness.', {
      status: 422,
      hint: 'A session is written <harness>:<id>.',
      details: { field: 'session' },
    });
  }
  const named = harness ?? prefix;
  return named === undefined ? null : redact(named).text;
}
