/** Letting go of the posts of agents that are held because too many of them followed each other in a thread. */
import type { Policy } from '../../contract/types.ts';
import type { WriteTx } from '../db/tx.ts';
import { isOver, limitOf } from './agent-run.rules.ts';
import { heldThreads, releaseHeld, saveRun } from './messages.store.ts';

/** Lets the posts wake somebody that a board's limits now allow. A thread that a person stopped waits for that person. */
export async function releaseWithin(tx: WriteTx, boardId: string, limits: Policy['agent_run']): Promise<void> {
  for (const root of await heldThreads(tx, [boardId])) {
    await releaseHeld(tx, root, limitOf(root, limits));
    if (!isOver(root, limits)) await saveRun(tx, root, { ...root, run_held_at: null });
  }
}
