/** What a person sees of an action before they allow it: every field, what becomes readable, and how it can be allowed. */
import { wholeChange } from '../../contract/policy.ts';
import type { AdminAction, Approval, PolicyChange } from '../../contract/types.ts';
import { policyWords, settings } from '../people/policy-words.ts';
import { boardLabel } from './actions.ts';

interface ActionText {
  /** "Invite one person to this server", for a heading. */
  title: string;
  /** What happens: in a few words, and in more detail. */
  effect: [string, string];
}

/** Describes an action. */
export function describeAction({ action, display }: Approval): ActionText {
  const { host } = location;
  const board = boardLabel(display?.boards[0]);
  const who = display?.target_handle ?? 'one person';
  switch (action.kind) {
    case 'invite_people':
      return {
        title: `Invite one person to ${host}`,
        effect: ['Makes one invite link.', 'Anyone who opens it becomes a member of this server.'],
      };
    case 'add_people':
      return {
        title: `Add ${who} to ${board}`,
        effect: ['Adds one person to a board.', 'They may write there and bring their own agents.'],
      };
    case 'set_board_role':
      return action.role === 'owner'
        ? {
            title: `Make ${who} an owner of ${board}`,
            effect: ['Makes one person an owner.', 'Owners change the board’s settings and remove people and agents.'],
          }
        : {
            title: `Make ${who} an ordinary member of ${board}`,
            effect: ['Ends one person’s ownership.', 'They stay on the board.'],
          };
    case 'set_server_role':
      return action.role === 'admin'
        ? {
            title: `Make ${who} an admin of ${host}`,
            effect: ['Makes one person an admin of this server.', 'Admins manage its people, keys and settings.'],
          }
        : {
            title: `Make ${who} an ordinary member of ${host}`,
            effect: ['Ends one person’s role of admin.', 'They stay on the server.'],
          };
    case 'remove_person':
      return action.board_id
        ? {
            title: `Remove ${who} from ${board}`,
            effect: ['Removes one person from a board.', 'Their agents there end with it.'],
          }
        : {
            title: `Remove ${who} from ${host}`,
            effect: ['Removes one person from this server.', 'Their keys, sessions and agents end at once.'],
          };
    case 'revoke_key':
      return {
        title: `Revoke ${who}’s key ${display?.key_name ?? ''}`.trim(),
        effect: ['Revokes one access key.', 'Everything that signed in with it ends at once.'],
      };
    case 'set_board_policy':
      return {
        title: `Change the policy of ${board}`,
        effect: ['Changes what agents may read and send on a board.', 'The fields below are all that it sets.'],
      };
  }
}

/** What becomes readable by others, or null. */
export function revealedBy(action: AdminAction): string | null {
  switch (action.kind) {
    case 'invite_people':
      return 'A new member can read every open board here';
    case 'add_people':
      return 'They can read everything on that board, from its first message';
    case 'set_board_policy':
      return wholeChange(action.policy).visibility === 'open'
        ? 'With these settings, agents can read the whole history of the board'
        : null;
    default:
      return null;
  }
}

/** A field of an action: its name, a readable value, and the id that is in effect. */
interface Row {
  name: string;
  words: string;
  id?: string | undefined;
}

/** All settings that a change of a policy sets. */
function policyRows(change: PolicyChange): Row[] {
  const { preset, ...values } = wholeChange(change);
  const set = Object.entries(values) as [keyof typeof values, unknown][];
  return [
    ...(preset ? [{ name: 'Preset', words: preset }] : []),
    ...set.map(([key, value]) => ({ name: settings[key].label, words: policyWords(key, value) })),
  ];
}

/** All fields of an action. */
export function actionRows({ action, display }: Approval): Row[] {
  const board = (id: string): Row => {
    const label = display?.boards.find((each) => each.id === id);
    return { name: 'Board', words: label ? boardLabel(label) : 'a board you cannot see', id: label?.name ?? id };
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
      return [
        { name: 'Owner', words: display?.target_handle ?? 'unknown' },
        { name: 'Key', words: display?.key_name ?? 'unknown', id: action.key_id },
      ];
    case 'set_board_policy':
      return [board(action.board_id), ...policyRows(action.policy)];
  }
}

/** Whether an action needs the person's own key, because a browser session may not allow it. */
export const needsOwnKey = ({ kind, ...action }: AdminAction): boolean =>
  kind === 'set_server_role' || kind === 'revoke_key' || (kind === 'remove_person' && !('board_id' in action));

/** The label of the "always" choice; null if the action cannot be allowed in advance. */
export const alwaysLabel = ({ kind }: AdminAction): string | null =>
  kind === 'invite_people' ? 'Always allow invites' : kind === 'add_people' ? 'Always allow adding people' : null;
