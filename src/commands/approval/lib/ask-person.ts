/** Requests an agent's person to allow an action that the agent may not take itself. */
import type { Command } from '@oclif/core/command';
import { WriteCommand } from '../../../cli/base.ts';
import { lost } from '../../../cli/errors.ts';
import { called } from '../../../cli/runtime.ts';
import { sessionHere } from '../../../cli/session/here.ts';
import { type BoardSession, type Session, staying } from '../../../cli/session/open-session.ts';
import type { TimeStyle } from '../../../cli/terminal/time.ts';
import type { Client } from '../../../client/client.ts';
import { ClientError } from '../../../client/errors.ts';
import { requireFeature } from '../../../client/features.ts';
import type { Answer, BodyIn } from '../../../contract/types.ts';
import { usage } from '../../../local/failure.ts';
import { newInviteText, warnOfLoopback } from '../../invite/lib/invite.ts';
import { handleOf } from '../../people/lib/people.ts';
import { actionWords, allowLine, selectText } from './approval-text.ts';

/** A command that an agent may ask its person to carry out, with `--request`. */
export abstract class AskingCommand<T extends typeof Command> extends WriteCommand<T> {
  /** Sends an agent's request to its person and shows what became of it. */
  protected async request(session: Session, body: AdminActionInput): Promise<void> {
    const asked = await askPerson(session, body, this.key);
    warnOfLoopback(this.out, asked.invite?.invite);
    this.out.print(asked, () => askedText(asked, this.times, session), asked.invite?.invite);
  }
}

type Asked = Answer<'requestAdminAction'>;
type AdminActionInput = BodyIn<'requestAdminAction'>;

/** Asks for exactly this. @param key the command's --idempotency-key, so that it asks only once. */
async function askPerson(session: Session, body: AdminActionInput, key: string | undefined): Promise<Asked> {
  const { client } = session;
  await requireFeature(client, 'onboarding');
  const { data } = await client
    .call('requestAdminAction', { body, idempotencyKey: key })
    .catch(lost(`See whether it was asked for: service approval list${staying(session)}`));
  if (data.state === 'pending') await tellDaemon(session, data.approval.id);
  return data;
}

/**
 * Lets this machine's daemon know which session asked: what is allowed for work with somebody is then bound to it by itself.
 * Without a daemon the session binds itself later, with `pairing select`.
 */
async function tellDaemon({ seat }: Session, approval_id: string): Promise<void> {
  const here = sessionHere();
  if (!here || !seat) return;
  const { askFor, refOf } = await import('../../../cli/session/ask-daemon.ts');
  await askFor(here, 'approval_watch', { agent: refOf(seat), approval_id }, { start: false }).catch(() => {});
}

/** The id of the person that `maya`, `@maya` or `me`, the agent's own person, means. */
export async function personIdOf(client: Client, typed: string): Promise<string> {
  const { data } = await client.call('listPeople', { query: { handle: await handleOf(client, typed) } });
  if ('handle' in data) return data.id;
  throw usage(`${typed} is no handle.`);
}

export const boardIdOf = async ({ client, board }: BoardSession): Promise<string> =>
  (await client.call('getBoard', { params: { board } })).data.id;

/** Making somebody an owner of the board, or a member again. */
export const roleWanted = async (
  session: BoardSession,
  typed: string,
  role: 'owner' | 'member',
): Promise<AdminActionInput> => ({
  kind: 'set_board_role',
  board_id: await boardIdOf(session),
  person_id: await personIdOf(session.client, typed),
  role,
});

/** An agent sees no list of keys, so it names one by its id. */
export function keyIdOf(typed: string): string {
  if (/^key_[0-9A-HJKMNP-TV-Z]{26}$/.test(typed)) return typed;
  throw usage(
    'An agent asks for a key to be revoked by its id, key_…',
    'Your person sees them: service key list --json',
  );
}

/**
 * Asks for somebody to be added, where adding them was refused for want of the right to; else the refusal stands.
 * @param requested `--request` was given, so an agent without a recorded session asks too
 */
export async function askToAdd(
  session: BoardSession,
  handle: string,
  { refusal, key, requested }: { refusal: unknown; key: string | undefined; requested: boolean },
): Promise<Asked> {
  const asks = ['add_people_not_allowed', ...(requested ? ['agent_session_required'] : [])];
  if (!session.agent || !(refusal instanceof ClientError) || !asks.includes(refusal.code)) throw refusal;
  const board_id = await boardIdOf(session);
  return askPerson(session, { kind: 'add_people', board_id, person_id: await personIdOf(session.client, handle) }, key);
}

/** What became of it; for the person, the command that decides it stands last. */
export function askedText({ state, approval, next, invite }: Asked, times: TimeStyle, session: Session): string {
  const what = actionWords(approval);
  if (state === 'pending') {
    // The daemon tells a session by itself.
    const told = sessionHere() ? '' : ` What they decide: service inbox notices --ack --wait 600${staying(session)}.`;
    return `Asked your person to ${what}.${called(told)} They run:\n${allowLine({ approval, next }, session.server.url)}`;
  }
  const done = `Done under the allowance of your person: ${what}.`;
  const boards = approval.display?.boards.map(({ name }) => name) ?? [];
  if (!invite) return done;
  const pairing = invite.pairing_request_id;
  const select = pairing === undefined ? [] : [selectText(pairing)];
  return [done, ...select, newInviteText(invite, boards, { times, stay: '' })].join('\n');
}
