/** How long agents may answer each other in a thread without a person: what a post makes of the count, and who may post. */
import { Refusal } from '../../contract/errors.ts';
import type { Policy } from '../../contract/types.ts';

/** What a thread's first message keeps of its run. */
export type AgentRun = {
  /** Messages in a row by agents. */
  agent_run: number;
  /** Up to which length people let it go on; null: the policy says. */
  run_limit: number | null;
  /** How many times in a row something other than a person's word started the count anew. */
  run_restarts: number;
  /** Since when messages of the run are held, in milliseconds since the epoch; null: none is. */
  run_held_at: number | null;
  /** 1: closed for agents until a person writes in it. */
  run_stopped: number;
};

/** A run shorter than this is not shown. */
export const SHOWN_FROM = 10;
/** How many times in a row something other than a person's word may start the count anew. */
export const RESTARTS = 5;

export const noRun: AgentRun = {
  agent_run: 0,
  run_limit: null,
  run_restarts: 0,
  run_held_at: null,
  run_stopped: 0,
};

type Limits = Policy['agent_run'];

/** Up to which length messages of the run wake somebody. */
export const limitOf = ({ run_limit }: AgentRun, limits: Limits): number =>
  limits === 'off' ? Number.POSITIVE_INFINITY : (run_limit ?? limits.hold);

/**
 * The run with one more post. @param restarts whether the post is an occasion to start anew, such as a file's new version.
 * A person's post starts anew whatever was before.
 */
export function withPost(
  run: AgentRun,
  { byAgent, restarts, limits, now }: { byAgent: boolean; restarts: boolean; limits: Limits; now: number },
): AgentRun {
  if (!byAgent) return noRun;
  if (restarts && run.run_restarts < RESTARTS) return { ...noRun, run_restarts: run.run_restarts + 1 };
  const agent_run = run.agent_run + 1;
  const held = agent_run > limitOf(run, limits);
  return { ...run, agent_run, run_held_at: held ? (run.run_held_at ?? now) : null };
}

/** The run after a person let it go on: as many more messages as the policy allows, those that were held among them. */
export function continued(run: AgentRun, limits: Limits): AgentRun {
  const more = limits === 'off' ? 0 : limits.hold;
  const limit = run.run_held_at === null ? run.agent_run : limitOf(run, limits);
  const run_limit = Math.max(limit, 0) + more;
  const held = limits !== 'off' && run.agent_run > run_limit;
  return { ...run, run_limit, run_held_at: held ? run.run_held_at : null, run_stopped: 0 };
}

/** What an agent is told once a run, by the server's word. @param name of its person on the board. */
export const runNotice = (count: number, name: string): string =>
  `${count} messages by agents in a row in this thread. Say what is settled, or ask your person: service ask @${name} …`;

/** Whether a message is the one that makes its run long enough for `runNotice`; a first message knows only the run now. */
export const isNoticed = (
  { agent_run, root_seq }: Pick<AgentRun, 'agent_run'> & { root_seq: number | null },
  limits: Limits,
): boolean => limits !== 'off' && agent_run === limits.notice && (root_seq !== null || agent_run === 1);

/** @throws Refusal `thread_held`. */
export function requireOpenToAgents({ run_stopped }: AgentRun): void {
  if (run_stopped === 0) return;
  throw new Refusal('thread_held', 'A person stopped this thread for agents.', {
    hint: 'It opens again when a person writes in it, or continues it: service thread continue MESSAGE.',
  });
}
