/** Reactions as a message carries them. */

import type { Message } from '../../contract/types.ts';
import { emojis, type ReactionName } from '../../contract/values.ts';
import type { Reader } from '../access/board-access.ts';
import type { ReactionWithMember } from '../messages/reactions.store.ts';

/** One entry per kind, in the fixed order of kinds; names by their earliest standing reaction. @param rows earliest first. */
export function reactionGroups(rows: readonly ReactionWithMember[], reader: Reader): Message['reactions'] {
  return (Object.keys(emojis) as ReactionName[]).flatMap((name) => {
    const of = rows.filter((row) => row.name === name);
    if (of.length === 0) return [];
    return [
      {
        name,
        emoji: emojis[name],
        count: of.length,
        by: of.map((row) => row.member_name),
        mine: of.some((row) => row.member_id === reader.memberId),
      },
    ];
  });
}
