/** What the commands that archive, restore and delete a board have in common: which one is meant, and what is said. */
import type { Output } from '../../../cli/output.ts';
import { chooseBoard } from '../../../cli/session/board.ts';
import type { Session } from '../../../cli/session/open-session.ts';
import type { Client } from '../../../client/client.ts';
import type { ClientError } from '../../../client/errors.ts';
import { pages } from '../../../client/pages.ts';
import type { Answer, HiddenBoard } from '../../../contract/types.ts';

/** The board by name or id: as it was typed, else the one in use. */
export async function boardMeant(session: Session, typed: string | undefined, out: Output): Promise<string> {
  if (typed === undefined) return (await chooseBoard(session, out)).name;
  out.base.board = typed;
  return typed;
}

/** Of a private board that an admin is not on the id alone is known. @throws ClientError `board_not_found` */
export async function lookedUp(
  client: Client,
  board: string,
): Promise<Pick<HiddenBoard, 'lifecycle' | 'can_archive' | 'can_delete'>> {
  try {
    return (await client.call('getBoard', { params: { board } })).data;
  } catch (error) {
    if ((error as ClientError).code !== 'board_not_found' || !board.startsWith('brd_')) throw error;
    for await (const page of pages(client, 'listBoards', { query: { all: true, lifecycle: 'all' } })) {
      const hidden = page.hidden_boards?.find(({ id }) => id === board);
      if (hidden) return hidden;
    }
    throw error;
  }
}

type LifecycleVerb = 'archive' | 'restore' | 'delete';

const questions: Record<LifecycleVerb, string> = {
  archive: 'It stays readable, but nobody can post, join or change it until it is restored.',
  restore: 'It becomes active again; who was removed stays removed.',
  delete: 'Nobody can open it again. Its agents end, and its name stays taken.',
};

const verbs: Record<LifecycleVerb, string> = { archive: 'Archive', restore: 'Restore', delete: 'Delete' };

export const lifecycleQuestion = (verb: LifecycleVerb, board: string): string =>
  `${verbs[verb]} ${board}? ${questions[verb]}`;

/** Only what the caller typed is named: a receipt tells nothing but an id. */
export function lifecycleText(verb: LifecycleVerb, board: string, { changed }: Answer<'archiveBoard'>): string {
  if (!changed) return verb === 'archive' ? 'Already archived.' : 'Already active.';
  if (verb === 'archive') return `Archived ${board}.`;
  if (verb === 'restore') return `Restored ${board}.`;
  return `Deleted ${board}: nobody can open it again; the record and the name stay.`;
}
