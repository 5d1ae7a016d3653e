/** Resolves people of a board. */
import type { BoardSession } from '../../../cli/session/open-session.ts';
import type { Answer, BoardPerson } from '../../../contract/types.ts';
import { allPeople } from './list.ts';

/** `maya`, `@maya`, or `me`: the caller, for an agent its person. */
export function handleOf(typed: string, me: Answer<'getMe'> | null): string {
  if (typed === 'me' && me) return me.owner ?? me.name;
  return typed.replace(/^@/, '');
}

export const ownersOf = async ({ client, board }: BoardSession): Promise<BoardPerson[]> =>
  (await allPeople(client, board)).people.filter((person) => person.board_role === 'owner');
