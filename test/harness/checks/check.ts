/** One check of a program: what a reader of the README's table is told by its id, and what shows it. */
import type { Agent } from '../agent.ts';
import type { World } from '../world.ts';

export interface Check {
  id: string;
  title: string;
  /** Goes on from where the check before it left the session. */
  run(on: { world: World; agent: Agent }): Promise<void>;
}
