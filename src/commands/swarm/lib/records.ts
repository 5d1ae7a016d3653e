/** Records of agents that several swarm commands return. */
import type { z } from 'zod';
import type { problem } from '../../../cli/shapes.ts';
import type { Look } from './look.ts';
import type { agent, up } from './shapes.ts';

export type Problem = z.infer<typeof problem>;
export type AgentRecord = z.infer<typeof agent>;

/** An agent that `swarm up` started, or found running. */
export type UpAgent = z.infer<typeof up>['agents'][number];

/** How it stands, as part of its record. */
export const standing = ({
  state,
  by,
  blocked,
  holder,
}: Look): Pick<AgentRecord, 'state' | 'by' | 'blocked' | 'seated' | 'session' | 'turn'> => ({
  state,
  by,
  blocked: blocked ?? holder?.problem ?? null,
  seated: holder?.open === true,
  session: holder?.session ?? null,
  turn: holder?.open ? holder.turn : null,
});
