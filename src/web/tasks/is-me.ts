/** Whether somebody is the person who reads. */
import type { Actor } from '../../contract/types.ts';
import { session } from '../api/session.ts';

/** Whether an actor is the person themself. */
export const isMe = (actor: Actor | null): boolean =>
  actor?.kind === 'human' && actor.name === session.value?.person.handle;
