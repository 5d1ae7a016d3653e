/** Looks up the state of a swarm's agents: from their launchers, and from the sessions that hold their seats. */
import type { z } from 'zod';
import { unlessAway } from '../../../cli/session/ask-daemon.ts';
import type { problem } from '../../../cli/shapes.ts';
import { plural } from '../../../cli/terminal/fields.ts';
import type { StatusAnswer } from '../../../daemon/protocol.ts';
import { EXIT_OF } from '../../../launch/codes.ts';
import { Failure } from '../../../local/failure.ts';
import { daemonStatus } from '../../daemon/lib/daemon.ts';
import type { Launchers } from './plan.ts';
import type { agent, upAgent } from './shapes.ts';
import { isUnsure, type StartedAgent, unsureText } from './state.ts';

type State = 'running' | 'exited' | 'unknown' | 'not_started';

export interface Holder {
  /** `<harness>:<id>`. */
  session: string;
  open: boolean;
  turn: 'idle' | 'busy' | 'unknown';
  /** What keeps its messages away, as the daemon says it. */
  problem: string | null;
}

interface Look {
  state: State;
  /** Who started it: a launcher, or somebody by hand. */
  by: 'launcher' | 'hand' | null;
  blocked: string | null;
  holder: Holder | null;
}

/** What the daemon says; null where none runs, or one that is too busy to say it now. */
export const daemonView = (): Promise<StatusAnswer | null> => unlessAway(null, daemonStatus);

/** The session that holds a seat, open or not; null where none does or no daemon runs. */
export function holderOf(status: StatusAnswer | null, memberId: string | undefined): Holder | null {
  // The last to take it: one of a former address of the server is kept beside that of the present one.
  const binding = status?.bindings?.findLast(({ agent }) => agent.member_id === memberId);
  if (!binding || memberId === undefined) return null;
  const { server } = binding.agent;
  const session = status?.sessions?.find(({ key }) => key === binding.session);
  const trouble = status?.agents?.find(({ agent }) => agent.member_id === memberId && agent.server === server);
  return {
    session: binding.session,
    open: binding.open === true,
    turn: session?.turn ?? 'unknown',
    problem: trouble?.problem ?? null,
  };
}

/** What the launcher says. A launcher that is gone, or fails, cannot tell, which counts as running. */
export async function launched(
  launchers: Launchers,
  swarm: string,
  name: string,
  started: StartedAgent,
): Promise<Pick<Look, 'state' | 'blocked'>> {
  const { launcher, handle } = started;
  if (isUnsure(started)) return { state: 'unknown', blocked: unsureText(started) };
  if (handle === null) return { state: 'exited', blocked: null };
  try {
    const { state, blocked = null } = await launchers.named(launcher).status({ swarm, agent: name, handle });
    return { state, blocked };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { state: 'unknown', blocked: error.message };
  }
}

interface LookOptions {
  launchers: Launchers;
  swarm: string;
  name: string;
  started: StartedAgent | null;
  holder: Holder | null;
}

/**
 * An agent whose launcher has nothing of it runs all the same where an open session holds its seat. The session that its
 * launcher started proves nothing once that has ended: it may not be known yet that it is over, or belong to a process that
 * outlives its terminal.
 */
export async function lookAt({ launchers, swarm, name, started, holder }: LookOptions): Promise<Look> {
  const own = started ? await launched(launchers, swarm, name, started) : null;
  if (own?.state === 'running' || own?.state === 'unknown') return { ...own, by: 'launcher', holder };
  const byHand = holder?.open === true && !(started && holder.session === started.session);
  if (byHand) return { state: 'running', by: 'hand', blocked: null, holder };
  return { state: own?.state ?? 'not_started', by: null, blocked: null, holder };
}

export type Problem = z.infer<typeof problem>;
type AgentRecord = z.infer<typeof agent>;

export type UpAgent = z.infer<typeof upAgent>;

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

/** `running idle`, `running (by hand)`, `exited` */
export function stands({ state, by, turn, seated, blocked }: AgentRecord): string {
  const words = [state.replace('_', ' ')];
  if (by === 'hand') words.push('(by hand)');
  if (turn && turn !== 'unknown') words.push(turn);
  if (!seated && (state === 'running' || state === 'unknown')) words.push('without its seat');
  if (blocked) words.push(`- ${blocked}`);
  return words.join(' ');
}

/** A message of which agent it is, if it does not say so itself. */
const about = (name: string, message: string): string =>
  message.startsWith(`${name} `) ? message : `${name}: ${message}`;

/** @param agents all of them, with what went wrong for some. @throws Failure the first problem, with all in its details */
export function requireNoProblem(agents: readonly { name: string; problem: Problem | null }[]): void {
  const failed = agents.filter(({ problem }) => problem !== null);
  const [first] = failed;
  if (!first) return;
  const { code, message, hint } = first.problem!;
  const lines = failed.map(({ name, problem }) => about(name, problem!.message));
  const others = agents.length - failed.length;
  const exit = EXIT_OF[code as keyof typeof EXIT_OF];
  throw new Failure(
    code,
    `${about(first.name, message).replace(/\.?$/, '.')}${others > 0 ? ` ${plural(others, 'other', 'others')} went well.` : ''}`,
    {
      hint,
      details: { agents, ...(lines.length > 1 ? { lines } : {}) },
      ...(exit === undefined ? {} : { exit }),
    },
  );
}
