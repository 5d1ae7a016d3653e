/** Shared by commands that take people, agents or boards away: what ends with them, here and on the server. */
import { runtime } from '../../../cli/runtime.ts';
import { type BoardSession, stayingAt } from '../../../cli/session/open-session.ts';
import { plural } from '../../../cli/terminal/fields.ts';
import type { Client } from '../../../client/client.ts';
import { ClientError } from '../../../client/errors.ts';
import { allRows } from '../../../client/pages.ts';
import type { Member } from '../../../contract/types.ts';
import type { Seat } from '../../../local/actors.ts';
import { Failure, usage } from '../../../local/failure.ts';
import { endSeat, entriesOf, readCredentials } from '../../../local/keys/credentials.ts';
import { allMembers } from './list.ts';

/** Active agents of a person on a board, by the person's handle. */
export const agentsOf = async (client: Client, board: string, handle: string): Promise<Member[]> =>
  (await allMembers(client, board, { kind: 'agent' })).filter((member) => member.owner === handle);

/** `Your 2 agents there end too: codex, fixer.`; nothing where there are none. */
export function alsoEnding(agents: Member[], whose: string): string {
  if (agents.length === 0) return '';
  const names = agents.slice(0, 10).map((agent) => agent.name);
  const more = agents.length > names.length ? ', …' : '';
  const verb = agents.length === 1 ? 'ends' : 'end';
  return ` ${whose} ${plural(agents.length, 'agent', 'agents')} there ${verb} too: ${names.join(', ')}${more}.`;
}

/** Drops the tokens of seats that ended, where this machine holds them. @param origin of their server */
export async function forgetSeats(origin: string, agents: { id: string }[]): Promise<void> {
  const { folders } = runtime();
  const held = entriesOf(readCredentials(folders), origin).flatMap(({ seats }) => Object.keys(seats));
  for (const { id: memberId } of agents) if (held.includes(memberId)) await endSeat(folders, { origin, memberId });
}

/** A seat that its server has ended already is only forgotten here. @throws the error, with what was done. */
export async function forgetOver(seat: Seat | null, error: unknown): Promise<never> {
  const over = error instanceof ClientError && ['agent_removed', 'board_not_found'].includes(error.code);
  if (!over || !seat) throw error;
  await forgetSeats(seat.origin, [{ id: seat.memberId }]);
  const { code, message } = error;
  throw new Failure(code, message, {
    hint: `${seat.saved.name} on ${seat.saved.board} is forgotten on this machine now; nothing else is to be done.`,
  });
}

/** Whether a lost answer was that of a success: by now the board is out of sight, because the caller is off it. */
export function wasLost(error: unknown): boolean {
  const { code, attempts } = error as { code?: unknown; attempts?: unknown };
  return error instanceof Error && code === 'board_not_found' && Number(attempts) > 1;
}

/**
 * The agent that is to be removed, as far as it can be seen. An admin reaches an agent of a private board by its id and
 * the board's; then nothing more is known of it. @throws Failure for a person: they are taken off with another command.
 */
export async function seenAgent(session: BoardSession, name: string): Promise<Member | null> {
  const { client, board } = session;
  const member = await client.call('getMember', { params: { board, member: name } }).then(
    ({ data }) => data,
    (error: { code?: unknown }) => {
      if (error.code === 'not_on_board' || error.code === 'board_not_found') return null;
      // What is not there is for the removal to say, in its own words.
      if (error.code === 'member_not_found') return null;
      throw error;
    },
  );
  if (member?.kind === 'human')
    throw usage(
      `${member.name} is a person, not an agent.`,
      `service board remove ${member.name} --board ${board}${stayingAt(session)}`,
    );
  return member;
}

/** The name of a board that was given by its id, where it is one of the caller's; else what was given. */
export async function nameOfBoard({ client, board }: BoardSession): Promise<string> {
  if (!board.startsWith('brd_')) return board;
  const boards = await allRows(client, 'listBoards', 'boards', { query: { lifecycle: 'all' } });
  return boards.find(({ id }) => id === board)?.name ?? board;
}
