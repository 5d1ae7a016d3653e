/** Refusals that say who has a part in a task. */
import { Refusal } from '../../contract/errors.ts';
import type { ReadTx } from '../db/tx.ts';
import { membersWithIds } from '../seats/members.store.ts';
import { helpersOf, type TaskRow } from './tasks.store.ts';

/** An agent without the part in a task that this needs. */
export async function notOnTask(tx: ReadTx, task: TaskRow): Promise<Refusal> {
  const helpers = await helpersOf(tx, [task.id]);
  const ids = [...(task.owner_id === null ? [] : [task.owner_id]), ...helpers.map((helper) => helper.member_id)];
  const names = new Map((await membersWithIds(tx, ids)).map((member) => [member.id, member.name]));
  return new Refusal('not_on_task', `This needs a part in ${task.ref}.`, {
    hint: `Join first: service task join ${task.ref}.`,
    details: {
      ref: task.ref,
      owner: task.owner_id === null ? null : (names.get(task.owner_id) ?? null),
      with: helpers.map((helper) => names.get(helper.member_id) ?? null),
    },
  });
}
