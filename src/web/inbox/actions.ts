/** Describes actions that agents ask to be allowed, in a few words. */
import type { Approval, BoardLabel } from '../../contract/types.ts';

interface ActionText {
  /** "Wants to invite one person", for a list. */
  request: string;
  /** "Invite one person to this server", for a heading. */
  title: string;
  /** What happens: in a few words, and in more detail. */
  effect: [string, string];
}

export const boardLabel = (label: BoardLabel | undefined): string => label?.title ?? label?.name ?? 'a board';

/** Describes an action. @param host the host name of the server */
export function describeAction({ action, display }: Approval, host = location.host): ActionText {
  const board = boardLabel(display?.boards[0]);
  const who = display?.target_handle ?? 'one person';
  switch (action.kind) {
    case 'invite_people':
      return {
        request: 'Wants to invite one person',
        title: `Invite one person to ${host}`,
        effect: ['Makes one invite link.', 'Anyone who opens it becomes a member of this server.'],
      };
    case 'add_people':
      return {
        request: `Wants to add ${who} to ${board}`,
        title: `Add ${who} to ${board}`,
        effect: ['Adds one person to a board.', 'They may write there and bring their own agents.'],
      };
    case 'set_board_role':
      return action.role === 'owner'
        ? {
            request: `Wants to make ${who} an owner of ${board}`,
            title: `Make ${who} an owner of ${board}`,
            effect: ['Makes one person an owner.', 'Owners change the board’s settings and remove people and agents.'],
          }
        : {
            request: `Wants to end ${who}’s ownership of ${board}`,
            title: `Make ${who} an ordinary member of ${board}`,
            effect: ['Ends one person’s ownership.', 'They stay on the board.'],
          };
    case 'set_server_role':
      return action.role === 'admin'
        ? {
            request: `Wants to make ${who} an admin`,
            title: `Make ${who} an admin of ${host}`,
            effect: ['Makes one person an admin of this server.', 'Admins manage its people, keys and settings.'],
          }
        : {
            request: `Wants to end ${who}’s role of admin`,
            title: `Make ${who} an ordinary member of ${host}`,
            effect: ['Ends one person’s role of admin.', 'They stay on the server.'],
          };
    case 'remove_person':
      return action.board_id
        ? {
            request: `Wants to remove ${who} from ${board}`,
            title: `Remove ${who} from ${board}`,
            effect: ['Removes one person from a board.', 'Their agents there end with it.'],
          }
        : {
            request: `Wants to remove ${who} from this server`,
            title: `Remove ${who} from ${host}`,
            effect: ['Removes one person from this server.', 'Their keys, sessions and agents end at once.'],
          };
    case 'revoke_key':
      return {
        request: `Wants to revoke ${who}’s key ${display?.key_name ?? ''}`.trim(),
        title: `Revoke ${who}’s key ${display?.key_name ?? ''}`.trim(),
        effect: ['Revokes one access key.', 'Everything that signed in with it ends at once.'],
      };
    case 'set_board_policy':
      return {
        request: `Wants to change the policy of ${board}`,
        title: `Change the policy of ${board}`,
        effect: ['Changes what agents may read and send on a board.', 'The fields below are all that it sets.'],
      };
  }
}
