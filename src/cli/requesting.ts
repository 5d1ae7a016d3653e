/** An agent asks its person for what it may not do itself. */
import { ClientError } from '../client/errors.ts';
import type { Answer } from '../contract/types.ts';
import type { BoardSession } from './base.ts';
import { actionWords } from './print/approval.ts';

type Asked = Answer<'requestAdminAction'>;

/** Asks for somebody to be added, where adding them was refused for want of the right to; else the refusal stands. */
export async function askToAdd(
  { client, agent, board }: BoardSession,
  handle: string,
  { refusal, key }: { refusal: unknown; key: string | undefined },
): Promise<Asked> {
  if (!agent || !(refusal instanceof ClientError) || refusal.code !== 'add_people_not_allowed') throw refusal;
  const { data: where } = await client.call('getBoard', { params: { board } });
  const { data: found } = await client.call('listPeople', { query: { handle } });
  const person = 'handle' in found ? found : undefined;
  if (!person) throw refusal;
  const body = { kind: 'add_people' as const, board_id: where.id, person_id: person.id };
  return (await client.call('requestAdminAction', { body, idempotencyKey: key })).data;
}

/** What became of it; for the person, the command that decides it stands last. */
export const askedText = ({ state, approval, next }: Asked): string =>
  state === 'executed'
    ? `Done under the allowance of your person: ${actionWords(approval)}.`
    : [`Asked your person to ${actionWords(approval)}. They run:`, next?.command ?? ''].join('\n');
