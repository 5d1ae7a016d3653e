import type { Actor } from '../../contract/types.ts';
import { session } from '../api/session.ts';

/** Whether an actor is an agent of the signed-in person. */
export const isMyAgent = (actor: Actor | null): boolean =>
  actor?.kind === 'agent' && actor.owner === session.value?.person.handle;

/** Whether an actor is the signed-in person. */
export const isMe = (actor: Actor | null): boolean =>
  actor?.kind === 'human' && actor.name === session.value?.person.handle;
