/** Formats join codes. */
import { called } from '../../../cli/runtime.ts';
import { indented } from '../../../cli/terminal/fields.ts';
import { table } from '../../../cli/terminal/table.ts';
import { showEnd, showTime, type TimeStyle } from '../../../cli/terminal/time.ts';
import type { Answer, JoinCode } from '../../../contract/types.ts';

export type NewCode = Answer<'createJoinCode'>;

/** What it is, who can use it and until when; the line alone; what revokes it; and the text to pass on. */
export function newCodeText(code: NewCode, prompt: string, times: TimeStyle): string {
  const end = `ends ${showEnd(code.expires_at, times)}`;
  const what =
    code.kind === 'guest'
      ? `Code for the guest ${code.guest}: brings them and an agent of theirs (${code.role}) onto ${code.board} once, ${end}:`
      : `Code for sessions of yours (${code.role}) on ${code.board}, as often as you like, ${end}:`;
  return [
    what,
    code.join_line,
    called(`Revoke it: service code revoke ${code.id} --board ${code.board}`),
    'To pass on, in private:',
    indented(prompt),
  ].join('\n');
}

/** What to paste into the session, or send to the guest. It holds no other secret than the code. */
export function codePrompt({ kind, guest, board, join_line: line }: NewCode): string {
  const join = `service join '${line}'`;
  return kind === 'guest'
    ? `You are invited to the board ${board} as the guest ${guest}. Run this in a terminal, on the machine where your agent works:\n${join}`
    : `Work with us on the board ${board}. Run this first, outside of any sandbox; it says what you are there for:\n${join}`;
}

/** One row per code. */
export const codeRows = (codes: JoinCode[], times: TimeStyle): Promise<string[]> =>
  table(
    ['ID', 'STATE', 'FOR', 'ROLE', 'USES', 'ENDS', 'BY'],
    codes.map((code) => [
      code.id,
      code.state,
      code.kind === 'guest' ? `guest ${code.guest}` : 'your sessions',
      code.role,
      String(code.uses),
      ended(code, times),
      `@${code.created_by.name}`,
    ]),
  );

function ended({ state, expires_at, revoked_at, last_used_at }: JoinCode, times: TimeStyle): string {
  if (state === 'working') return showEnd(expires_at, times);
  const at = state === 'revoked' ? revoked_at : state === 'used' ? last_used_at : expires_at;
  return at === null || Date.parse(at) > Date.now() ? '' : showTime(at, times);
}
