/** A person's word on a thread in which agents answer each other: they may go on, or not. */
import { Refusal } from '../../contract/errors.ts';
import { eventActor } from '../access/acting.ts';
import type { Place } from '../access/board-access.ts';
import { lockMessage, requireStillReadable } from '../access/message.ts';
import { record } from '../boards/acting.steps.ts';
import type { WriteTx } from '../db/tx.ts';
import type { Caller } from '../operation/caller.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { messageAt } from '../views/message.ts';
import { continued, isSameRun, limitOf } from './agent-run.rules.ts';
import { type MessageRow, releaseHeld, rootOf, saveRun } from './messages.store.ts';
import { threadAgents } from './threads.store.ts';

export const setThreadRun: WriteCase<'setThreadRun'> = {
  async run(tx, caller, { params, body }) {
    const { place, root } = await find(tx, caller, params.message);
    const limits = place.policy.agent_run;
    const run = body.action === 'stop' ? { ...root, run_stopped: 1 } : continued(root, limits);
    if (isSameRun(root, run)) return { answer: await messageAt(tx, place, root.seq) };
    const setting = { tx, board: place.board, actor: eventActor(place.member, caller.person.handle) };
    const type = body.action === 'stop' ? 'thread.stopped' : 'thread.continued';
    await record(setting, type, { agent_run: root.agent_run, message_id: root.id });
    await saveRun(tx, root, run);
    if (body.action === 'continue') await releaseHeld(tx, root, limitOf(run, limits));
    return { answer: await messageAt(tx, place, root.seq) };
  },
  recheck: requireStillReadable,
};

/** The first message of the thread that a message is in. @throws Refusal `message_not_found`, `agent_owner_required`. */
async function find(tx: WriteTx, caller: Caller, id: string): Promise<{ place: Place; root: MessageRow }> {
  const { place, message } = await lockMessage(tx, caller, id);
  caller.shown.message = message.id;
  const root = await rootOf(tx, message);
  if (place.member.access === 'admin') return { place, root };
  const agents = await threadAgents(tx, place.board.id, [root.seq]);
  if (agents.some((agent) => agent.person_id === place.member.person_id)) return { place, root };
  throw new Refusal('agent_owner_required', 'None of the agents in this thread is yours.', {
    hint: 'Write in the thread: a message by a person lets agents go on.',
    details: { owners: [...new Set(agents.map((agent) => agent.handle))] },
  });
}
