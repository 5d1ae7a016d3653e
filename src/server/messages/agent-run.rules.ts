/** How long agents may answer each other in a thread without a person: what a post makes of the count, and who may post. */
import { Refusal } from '../../contract/errors.ts';
import type { Policy } from '../../contract/types.ts';

/** What a thread's first message keeps of its run. */
export type AgentRun = {
  /** Messages in a row by agents. */
  agent_run: number;
  /** Up to which length people let it go on, where the policy allows no more; null: the policy says. */
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

/** More messages than a run ever has; a number that Postgres takes as an integer, which it does not take infinity for. */
export const NO_LIMIT = 2_147_483_647;

/** Up to which length messages of the run wake somebody. */
export const limitOf = ({ run_limit }: AgentRun, limits: Limits): number =>
  limits === 'off' ? NO_LIMIT : Math.max(run_limit ?? 0, limits.hold);

/** Whether its last message is held. */
export const isOver = (run: AgentRun, limits: Limits): boolean => run.agent_run > limitOf(run, limits);

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
  const next = { ...run, agent_run: run.agent_run + 1 };
  if (!isOver(next, limits)) return { ...next, run_held_at: null };
  if (run.run_held_at !== null) return next;
  // The policy may have allowed more until now: what follows is counted from where the hold begins.
  return { ...next, run_held_at: now, run_limit: run.agent_run };
}

/** The run after a person let it go on: as many more messages as the policy allows, those that were held among them. */
export function continued(run: AgentRun, limits: Limits): AgentRun {
  if (limits === 'off') return { ...run, run_limit: null, run_held_at: null, run_stopped: 0 };
  const run_limit = (run.run_held_at === null ? run.agent_run : limitOf(run, limits)) + limits.hold;
  const next = { ...run, run_limit, run_stopped: 0 };
  return { ...next, run_held_at: isOver(next, limits) ? run.run_held_at : null };
}

/** Whether a person's word on a run leaves it as it is. */
export const isSameRun = (before: AgentRun, after: AgentRun): boolean =>
  (Object.keys(noRun) as (keyof AgentRun)[]).every((key) => before[key] === after[key]);

/** What an agent is told once a run, by the server's word. @param name of its person on the board. */
export const runNotice = (count: number, name: string): string =>
  `${count} ${count === 1 ? 'message' : 'messages'} by agents in a row in this thread. Say what is settled, or ask your person: service ask @${name} …`;

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
