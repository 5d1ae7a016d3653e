/** What the caller is told about itself, and its profile. */
import type { Answer } from '../../contract/types.ts';
import type { ReadTx } from '../db/tx.ts';
import { isPerson, type PersonCaller, type SeatCaller } from '../operation/caller.ts';
import type { ReadCase, WriteCase } from '../operation/usecase.ts';
import { tasksWithIds } from '../tasks/tasks.store.ts';
import { taskRefView } from '../views/tasks/task-ref.ts';
import { lockPeople, savePerson } from './people.store.ts';

export const getMe: ReadCase<'getMe'>['run'] = async (tx, caller) =>
  isPerson(caller) ? personMe(caller, caller.person.display_name) : seatMe(tx, caller as SeatCaller);

export const updateMe: WriteCase<'updateMe'> = {
  before: lockPeople,
  async run(tx, caller, { body: { display_name: name } }) {
    if (name !== caller.person.display_name) {
      await savePerson(tx, caller.person.person_id, { display_name: name });
    }
    return { answer: personMe(caller as PersonCaller, name) };
  },
};

function personMe({ kind, person }: PersonCaller, displayName: string | null): Answer<'getMe'> {
  return {
    id: person.person_id,
    kind: 'human',
    name: person.handle,
    board: null,
    owner: null,
    browser: kind === 'BR',
    server_role: person.server_role,
    display_name: displayName,
    delivery_mode: null,
    delivery_revision: null,
    current_task: null,
  };
}

async function seatMe(tx: ReadTx, { seat, person }: SeatCaller): Promise<Answer<'getMe'>> {
  const [task] = await tasksWithIds(tx, seat.current_task_id === null ? [] : [seat.current_task_id]);
  return {
    id: seat.id,
    kind: 'agent',
    name: seat.name,
    board: seat.board_name,
    owner: person.handle,
    browser: false,
    server_role: null,
    display_name: null,
    delivery_mode: seat.delivery_mode,
    delivery_revision: seat.delivery_revision,
    current_task: task ? taskRefView(task) : null,
  };
}
