/** Reactions: at most one of a kind by each member on each message. */
import type { Params } from '../../contract/types.ts';
import { emojis, type ReactionName } from '../../contract/values.ts';
import { eventActor } from '../access/acting.ts';
import type { Place } from '../access/board-access.ts';
import { findMessage, lockMessage, requireStillReadable } from '../access/message.ts';
import { record } from '../boards/acting.steps.ts';
import type { WriteTx } from '../db/tx.ts';
import { membersById } from '../members/members.store.ts';
import type { Caller } from '../operation/caller.ts';
import type { ReadCase, WriteCase } from '../operation/usecase.ts';
import { timestamp } from '../text/time.ts';
import { actorView } from '../views/actors.ts';
import { messageAt } from '../views/message.ts';
import { reactionGroups } from '../views/reactions.ts';
import type { MessageRow } from './messages.store.ts';
import { countReaction, deleteReaction, hasReacted, insertReaction, reactionsTo } from './reactions.store.ts';

type Found = { place: Place; message: MessageRow; name: ReactionName };

export const addReaction: WriteCase<'addReaction'> = {
  async run(tx, caller, { params }) {
    const found = await findForReaction(tx, caller, params);
    const key = keyOf(found);
    if (!(await hasReacted(tx, key))) {
      const { seq, at } = await recordReaction(tx, caller, found, 'reaction.added');
      await insertReaction(tx, { ...key, seq, at });
      await countReaction(tx, found.message.id, 1);
    }
    return { answer: await messageAt(tx, found.place, found.message.seq) };
  },
  recheck: requireStillReadable,
};

export const removeReaction: WriteCase<'removeReaction'> = {
  async run(tx, caller, { params }) {
    const found = await findForReaction(tx, caller, params);
    if ((await deleteReaction(tx, keyOf(found))) > 0) {
      await recordReaction(tx, caller, found, 'reaction.removed');
      await countReaction(tx, found.message.id, -1);
    }
    return { answer: await messageAt(tx, found.place, found.message.seq) };
  },
  recheck: requireStillReadable,
};

export const listReactions: ReadCase<'listReactions'>['run'] = async (tx, caller, { params }) => {
  const { place, message } = await findMessage(tx, caller, params.message);
  const rows = await reactionsTo(tx, [message.id]);
  const ids = rows.map((row) => row.member_id);
  const members = await membersById(tx, ids);
  const reactions = reactionGroups(rows, place.reader).map(({ by: _names, ...group }) => ({
    ...group,
    by: rows
      .filter((row) => row.name === group.name)
      .flatMap((row) => {
        const member = members.get(row.member_id);
        return member ? [{ member: actorView(member, place.reader), at: timestamp(row.at) }] : [];
      }),
  }));
  return { message_id: message.id, reactions };
};

async function findForReaction(tx: WriteTx, caller: Caller, params: Params<'addReaction'>): Promise<Found> {
  const found = await lockMessage(tx, caller, params.message);
  caller.shown.message = found.message.id;
  return { ...found, name: params.reaction as ReactionName };
}

const keyOf = ({ message, place, name }: Found) => ({ message_id: message.id, member_id: place.member.id, name });

const recordReaction = (tx: WriteTx, caller: Caller, { place, message, name }: Found, type: string) =>
  record({ tx, board: place.board, actor: eventActor(place.member, caller.person.handle) }, type, {
    message_id: message.id,
    name,
    emoji: emojis[name],
  });
