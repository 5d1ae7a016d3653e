/** A task as others point at it. */
import type { TaskRef } from '../../../contract/types.ts';
import type { TaskRow } from '../../tasks/tasks.store.ts';

export const taskRefView = ({ id, ref, title }: Pick<TaskRow, 'id' | 'ref' | 'title'>): TaskRef => ({ id, ref, title });
