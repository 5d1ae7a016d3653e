/** Whether somebody is the person who reads, or their agent. */
import type { Actor } from '../../contract/types.ts';
import { session } from '../api/session.ts';

/** Whether an actor is an agent of the person who reads. */
export const isMine = (actor: Actor | null): boolean =>
  actor?.kind === 'agent' && actor.owner === session.value?.person.handle;

/** Whether an actor is the person themself. */
export const isMe = (actor: Actor | null): boolean =>
  actor?.kind === 'human' && actor.name === session.value?.person.handle;
