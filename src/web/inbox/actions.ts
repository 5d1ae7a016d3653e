/** What agents ask their person to allow, in words: what happens, every field, and what it reveals. */
import type { AdminAction, Approval, BoardLabel } from '../../contract/types.ts';

interface Words {
  /** "Wants to invite one person", for a list. */
  wants: string;
  /** "Invite one person to this server", for a heading. */
  act: string;
  /** What happens then, first in a few words. */
  does: [string, string];
  /** What becomes readable or ends; null: nothing more than said. */
  reveals: string | null;
}

const boardWords = (label: BoardLabel | undefined): string => label?.title ?? label?.name ?? 'a board';

/** The words of an action. @param host the server's, as its people know it */
export function titleOf({ action, display }: Approval, host = location.host): Words {
  const board = boardWords(display?.boards[0]);
  const who = display?.target_handle ?? 'one person';
  switch (action.kind) {
    case 'invite_people':
      return {
        wants: 'Wants to invite one person',
        act: `Invite one person to ${host}`,
        does: ['Makes one invite link.', 'Anyone who opens it becomes a member of this server.'],
        reveals: 'A new member can read every open board here',
      };
    case 'add_people':
      return {
        wants: `Wants to add ${who} to ${board}`,
        act: `Add ${who} to ${board}`,
        does: ['Adds one person to a board.', 'They may write there and bring their own agents.'],
        reveals: 'They can read everything on that board, from its first message',
      };
    case 'set_board_role':
      return action.role === 'owner'
        ? {
            wants: `Wants to make ${who} an owner of ${board}`,
            act: `Make ${who} an owner of ${board}`,
            does: ['Makes one person an owner.', 'Owners change the board’s settings and remove people and agents.'],
            reveals: null,
          }
        : {
            wants: `Wants to end ${who}’s ownership of ${board}`,
            act: `Make ${who} an ordinary member of ${board}`,
            does: ['Ends one person’s ownership.', 'They stay on the board.'],
            reveals: null,
          };
    case 'set_server_role':
      return action.role === 'admin'
        ? {
            wants: `Wants to make ${who} an admin`,
            act: `Make ${who} an admin of ${host}`,
            does: ['Makes one person an admin of this server.', 'Admins manage its people, keys and settings.'],
            reveals: null,
          }
        : {
            wants: `Wants to end ${who}’s role of admin`,
            act: `Make ${who} an ordinary member of ${host}`,
            does: ['Ends one person’s role of admin.', 'They stay on the server.'],
            reveals: null,
          };
    case 'remove_person':
      return action.board_id
        ? {
            wants: `Wants to remove ${who} from ${board}`,
            act: `Remove ${who} from ${board}`,
            does: ['Removes one person from a board.', 'Their agents there end with it.'],
            reveals: null,
          }
        : {
            wants: `Wants to remove ${who} from this server`,
            act: `Remove ${who} from ${host}`,
            does: ['Removes one person from this server.', 'Their keys, sessions and agents end at once.'],
            reveals: null,
          };
    case 'revoke_key':
      return {
        wants: `Wants to revoke the key ${display?.key_name ?? ''}`.trim(),
        act: `Revoke the key ${display?.key_name ?? ''}`.trim(),
        does: ['Revokes one access key.', 'Everything that signed in with it ends at once.'],
        reveals: null,
      };
    case 'set_board_policy':
      return {
        wants: `Wants to change the policy of ${board}`,
        act: `Change the policy of ${board}`,
        does: ['Changes what agents may read and send on a board.', 'The fields below are all that changes.'],
        reveals: action.policy.visibility === 'open' ? 'Agents can then read the whole history of the board' : null,
      };
  }
}

const policyWords: Record<string, string> = {
  preset: 'Preset',
  visibility: 'Agents read',
  broadcast: 'May post to all',
  urgent: 'May send urgent',
  show_harness: 'Agents see each other’s program',
  nudges: 'Reminders',
};

/** One row of the table: its name, the words, and the id that counts. */
interface Row {
  name: string;
  words: string;
  id?: string | undefined;
}

/** Every field of the frozen action. */
export function rowsOf({ action, display }: Approval): Row[] {
  const board = (id: string): Row => {
    const label = display?.boards.find((each) => each.id === id);
    return { name: 'Board', words: label ? boardWords(label) : 'a board you cannot see', id: label?.name ?? id };
  };
  const person = (id: string): Row => ({ name: 'Person', words: display?.target_handle ?? 'unknown', id });
  switch (action.kind) {
    case 'invite_people': {
      const { suggested_handle, boards, pairing, ttl_seconds } = action.invite;
      const hours = ttl_seconds / 3_600;
      const time = hours >= 1 ? `${Math.round(hours * 10) / 10}\u00a0h` : `${Math.round(ttl_seconds / 60)}\u00a0min`;
      return [
        { name: 'Suggested name', words: suggested_handle ?? 'none' },
        ...(boards.length > 0 ? boards.map(board) : [{ name: 'Boards', words: 'none, only the server' }]),
        ...(pairing ? [{ name: 'Proposed work', words: `“${pairing.work}”` }] : []),
        { name: 'Link works for', words: `${time}, one use` },
      ];
    }
    case 'add_people':
      return [person(action.person_id), board(action.board_id)];
    case 'set_server_role':
      return [person(action.person_id), { name: 'Role', words: action.role }];
    case 'set_board_role':
      return [person(action.person_id), board(action.board_id), { name: 'Role', words: action.role }];
    case 'remove_person':
      return [person(action.person_id), ...(action.board_id ? [board(action.board_id)] : [])];
    case 'revoke_key':
      return [{ name: 'Key', words: display?.key_name ?? 'unknown', id: action.key_id }];
    case 'set_board_policy':
      return [
        board(action.board_id),
        ...Object.entries(action.policy).map(([name, value]) => ({
          name: policyWords[name] ?? name,
          words: value === true ? 'yes' : value === false ? 'no' : String(value),
        })),
      ];
  }
}

/** Actions that need the person's own key: a browser's session cannot allow them. */
export const needsOwnKey = ({ kind, ...action }: AdminAction): boolean =>
  kind === 'set_server_role' || kind === 'revoke_key' || (kind === 'remove_person' && !('board_id' in action));

/** What "always" is called; null where each request is decided by itself. */
export const alwaysWords = ({ kind }: AdminAction): string | null =>
  kind === 'invite_people' ? 'Always allow invites' : kind === 'add_people' ? 'Always allow adding people' : null;
