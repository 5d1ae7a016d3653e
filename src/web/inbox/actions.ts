/** Describes actions that agents ask to be allowed, in a few words. */
import type { Approval, BoardLabel } from '../../contract/types.ts';

export const boardLabel = (label: BoardLabel | undefined): string => label?.title ?? label?.name ?? 'a board';

/** "Wants to invite one person", for a list. */
export function requestWords({ action, display }: Approval): string {
  const board = boardLabel(display?.boards[0]);
  const who = display?.target_handle ?? 'one person';
  switch (action.kind) {
    case 'invite_people':
      return 'Wants to invite one person';
    case 'add_people':
      return `Wants to add ${who} to ${board}`;
    case 'set_board_role':
      return action.role === 'owner'
        ? `Wants to make ${who} an owner of ${board}`
        : `Wants to end ${who}’s ownership of ${board}`;
    case 'set_server_role':
      return action.role === 'admin' ? `Wants to make ${who} an admin` : `Wants to end ${who}’s role of admin`;
    case 'remove_person':
      return `Wants to remove ${who} from ${action.board_id ? board : 'this server'}`;
    case 'revoke_key':
      return `Wants to revoke ${who}’s key ${display?.key_name ?? ''}`.trim();
    case 'set_board_policy':
      return `Wants to change the policy of ${board}`;
  }
}
