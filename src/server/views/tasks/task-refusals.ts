/** Refusals that say who is in the way of a change to a task, as the caller sees them. */
import { Refusal } from '../../../contract/errors.ts';
import type { Actor } from '../../../contract/types.ts';
import type { Place } from '../../access/board-access.ts';
import type { ReadTx } from '../../db/tx.ts';
import { type MemberRow, membersWithIds } from '../../members/members.store.ts';
import { helpersOf, latestTexts, type TaskRow } from '../../tasks/tasks.store.ts';
import { timestamp } from '../../text/time.ts';
import { actorView } from '../actors.ts';

/** Another member owns it. @param takeable whether the caller may take it over. */
export async function taskTaken(tx: ReadTx, place: Place, task: TaskRow, takeable = false): Promise<Refusal> {
  const [owner] = await seen(tx, place, [task.owner_id]);
  const over = takeable ? `Take it over: service task start ${task.ref} --take-over; or help` : 'Help';
  return new Refusal('task_taken', `${task.ref} is taken by @${owner?.name}.`, {
    hint: `${over} with it: service task join ${task.ref}; or pick another: service task list --state open.`,
    details: { ref: task.ref, owner: owner ?? null },
  });
}

/** What the owner of a task has to show: the same as long as nobody else got the task. */
export const ownershipOf = ({ owner_seq }: TaskRow): string => `own_${owner_seq}`;

/** A change by somebody who had the task before it was given to another. @throws Refusal `task_taken`. */
export async function requireOwnership(tx: ReadTx, place: Place, task: TaskRow, ownership: string | undefined) {
  if (ownership === undefined || (task.owner_id !== null && ownership === ownershipOf(task))) return;
  const [owner] = await seen(tx, place, [task.owner_id]);
  const mine = owner?.id === place.member.id;
  const who = mine ? 'by you again' : owner ? `by @${owner.name}` : 'by nobody';
  throw new Refusal('task_taken', `${task.ref} was taken from you meanwhile and is now owned ${who}.`, {
    hint: `Read what changed: service task show ${task.ref}; ${mine || !owner ? 'then go on with' : 'help with'} it: service task ${mine || !owner ? 'start' : 'join'} ${task.ref}.`,
    details: { ref: task.ref, owner: owner ?? null },
  });
}

/** What somebody without the part in a task that it needs may not do. */
type NeedsPart = 'write' | 'describe' | 'close' | 'end_others' | { drop: MemberRow };

/** Somebody without the part in a task that a change needs. */
export async function notOnTask(tx: ReadTx, place: Place, task: TaskRow, change: NeedsPart): Promise<Refusal> {
  const helpers = await helpersOf(tx, [task.id]);
  const [owner] = await seen(tx, place, [task.owner_id]);
  const ids = helpers.map((helper) => helper.member_id);
  const [message, hint] = needsPart(task.ref, change, { owner, by: place.member.id });
  return new Refusal('not_on_task', message, {
    hint,
    details: { ref: task.ref, owner: owner ?? null, with: await seen(tx, place, ids) },
  });
}

function needsPart(
  ref: string,
  change: NeedsPart,
  { owner, by }: { owner: Actor | undefined; by: string },
): [message: string, hint: string] {
  const asOwner = owner
    ? `Tell @${owner.name}: service say --to @${owner.name} "…".`
    : `Take it first: service task start ${ref}.`;
  switch (change) {
    case 'write':
      return [`This needs a part in ${ref}.`, `Join first: service task join ${ref}.`];
    case 'describe':
      return [`Only its owner, its opener and people change the title and description of ${ref}.`, asOwner];
    case 'close':
      return [`Only its owner and people close ${ref}.`, asOwner];
    case 'end_others':
      return [`Only people end the part of another in ${ref}.`, 'Ask your person: service ask "…".'];
  }
  const who = change.drop.id === by ? 'You have' : `@${change.drop.name} has`;
  return [`${who} no part in ${ref}.`, `Who has one: service task show ${ref}.`];
}

/** Somebody wrote where it stands since the version that was read. */
export async function standsChanged(tx: ReadTx, place: Place, task: TaskRow): Promise<Refusal> {
  const latest = (await latestTexts(tx, [task.id])).get(task.id)?.stands;
  const [by] = await seen(tx, place, [latest?.by_id ?? null]);
  return new Refusal('stands_changed', `Where ${task.ref} stands has been written since you read it.`, {
    hint: `Read it, then write again: service task show ${task.ref}.`,
    details: {
      ref: task.ref,
      version: task.stands_version,
      by: by ?? null,
      at: latest ? timestamp(latest.at) : null,
    },
  });
}

/** Members in the order of their ids here. */
async function seen(tx: ReadTx, { reader }: Place, ids: (string | null)[]): Promise<Actor[]> {
  const wanted = ids.filter((id) => id !== null);
  const found = new Map((await membersWithIds(tx, wanted)).map((member) => [member.id, actorView(member, reader)]));
  return wanted.flatMap((id) => found.get(id) ?? []);
}
