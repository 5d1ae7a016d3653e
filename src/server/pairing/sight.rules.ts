/** Who has part in a pairing request, and who of them sees it now. */
import { recipientIsOnBoard, type SubjectRow } from './subject.rules.ts';

interface Who {
  person_id: string;
  server_role: string;
}

/**
 * The inviter and the recipient see it while they are on its board; the recipient of an open board also before that. A
 * recipient who waits to be let onto the board sees nothing.
 */
export function personSees(row: SubjectRow, { person_id, server_role }: Who): boolean {
  if (!stands(row)) return false;
  if (isOnAs(row, person_id)) return true;
  const openly = row.board_visibility === 'open' && server_role !== 'guest';
  return row.recipient_id === person_id && recipientIsOnBoard(row) && openly;
}

/** A person's agents see it on their own board, with their person there. */
export const agentSees = (row: SubjectRow, { person_id }: Who, boardId: string): boolean =>
  stands(row) && boardId === row.board_id && isOnAs(row, person_id);

const stands = ({ board_lifecycle }: SubjectRow): boolean =>
  board_lifecycle === 'active' || board_lifecycle === 'archived';

/** Has part in it and is on its board. */
function isOnAs(row: SubjectRow, personId: string): boolean {
  const inviter = row.inviter_id === personId && row.i_member_id !== null;
  return inviter || (row.recipient_id === personId && row.r_member_id !== null && recipientIsOnBoard(row));
}
