/** Creates and lists join codes. */
import { lost } from '../../../cli/errors.ts';
import { called } from '../../../cli/runtime.ts';
import { type BoardSession, stayingAt } from '../../../cli/session/open-session.ts';
import { copyable } from '../../../cli/terminal/fields.ts';
import { table } from '../../../cli/terminal/table.ts';
import { duration, showEnd, showTime, type TimeStyle } from '../../../cli/terminal/time.ts';
import type { Client } from '../../../client/client.ts';
import type { Answer, Board, JoinCode } from '../../../contract/types.ts';
import { usualRole } from '../../../contract/values.ts';
import { Failure } from '../../../local/failure.ts';

interface CodeOptions {
  role: string | undefined;
  ttl: string | undefined;
  guest?: string;
  key: string | undefined;
}

/** Makes a code, and the text to pass on with it. */
export async function makeCode(
  { client, board, choice }: Pick<BoardSession, 'client' | 'board' | 'choice'>,
  { role, ttl, guest, key }: CodeOptions,
): Promise<{ code: NewCode; prompt: string }> {
  const params = { board };
  const body = {
    role: role ?? (await invitedRole(client, (await client.call('getBoard', { params })).data)),
    ...(ttl === undefined ? {} : { ttl_seconds: duration(ttl, '--ttl') }),
    ...(guest === undefined ? {} : { guest: guest.replace(/^@/, '') }),
  };
  const stay = ` --board ${board}${stayingAt({ choice })}`;
  const { data: code } = await client
    .call('createJoinCode', { params, body, idempotencyKey: key })
    .catch(lost(`See whether it is there: service code list${stay}. Revoke it with: service code revoke ID${stay}`));
  return { code, prompt: codePrompt(code) };
}

/** The role of the person or agent that is invited: the second of the pair that the board's template is for, else its plain one. */
async function invitedRole(client: Client, { template, roles }: Board): Promise<string> {
  const [, second] = (template === null ? undefined : await pairOf(client, template)) ?? [];
  return second !== undefined && Object.hasOwn(roles, second) ? second : usualRole;
}

/** The roles of the first and the second agent of a template. */
async function pairOf(client: Client, template: string): Promise<[string, string] | undefined> {
  const { data } = await client.call('listTemplates');
  return data.templates.find(({ name }) => name === template)?.pair;
}

/** The same of a template that was named. @throws Failure `template_not_found` */
export async function rolesOf(client: Client, template: string): Promise<[string, string]> {
  const roles = await pairOf(client, template);
  if (roles) return roles;
  throw new Failure('template_not_found', `There is no template called ${template}.`, {
    hint: 'service board templates shows those there are',
    exit: 2,
  });
}

export type NewCode = Answer<'createJoinCode'>;

/** What it is, who can use it and until when; the line alone; what revokes it; and the text to pass on. @param stay flags that keep to its server */
export function newCodeText(
  { code, prompt }: { code: NewCode; prompt: string },
  { times, stay }: { times: TimeStyle; stay: string },
): string {
  const end = `ends ${showEnd(code.expires_at, times)}`;
  const what =
    code.kind === 'guest'
      ? `Code for the guest ${code.guest}: brings them and an agent of theirs (${code.role}) onto ${code.board} once, ${end}:`
      : `Code for sessions of yours (${code.role}) on ${code.board}, as often as you like, ${end}:`;
  return [
    what,
    code.join_line,
    called(`Revoke it: service code revoke ${code.id} --board ${code.board}${stay}`),
    'To pass on, in private:',
    copyable(prompt),
  ].join('\n');
}

/** What to paste into the session, or send to the guest. It holds no other secret than the code. */
function codePrompt({ kind, guest, board, join_line: line }: NewCode): string {
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
