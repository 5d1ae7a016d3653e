import { z } from 'zod';
import { BaseCommand } from '../../cli/base.ts';
import { called } from '../../cli/runtime.ts';
import { count, flag, object, seatRef, seq, text } from '../../cli/shapes.ts';
import { showTime, type TimeStyle } from '../../cli/terminal/time.ts';
import { notRunning } from '../../daemon/control/errors.ts';
import { metrics } from '../../daemon/metrics.ts';
import type { StatusAnswer } from '../../daemon/protocol.ts';
import { daemonStatus } from './lib/daemon.ts';
import { troubledHandoff } from './lib/shapes.ts';

export const json = () =>
  object({
    pid: z.int(),
    build: z.strictObject({ version: text, commit: text.optional(), commit_time: text.optional() }),
    protocol: z.literal(1),
    started_at: text,
    instance: text,
    open_sessions: count,
    servers: z.array(
      z.strictObject({
        url: text,
        server_id: text.nullable(),
        feed: z.enum(['stream', 'poll', 'none']),
        connected: flag,
        since: text.nullable(),
        last_error: text.nullable().optional(),
      }),
    ),
    sessions: z.array(
      z.strictObject({
        key: text,
        open: flag,
        turn: z.enum(['idle', 'busy', 'unknown']),
        turned: flag,
        boot: text,
        folder: text.optional(),
        capabilities: z.array(text),
        seats: z.array(seatRef),
      }),
    ),
    attention: z.array(troubledHandoff),
    stalled: z.array(troubledHandoff),
    truncated: z.array(z.strictObject({ handoff_id: text, agent: seatRef, seq })),
    agents: z.array(z.strictObject({ agent: seatRef, problem: text, since: text.nullable() })),
    bindings: z.array(z.strictObject({ agent: seatRef, session: text, open: flag, turned: flag })),
    metrics: z.strictObject(Object.fromEntries(metrics.map((name) => [name, z.number().min(0)]))),
  });

export default class DaemonStatus extends BaseCommand<typeof DaemonStatus> {
  static override summary = 'Show what the delivery daemon does';
  static override description = 'Its servers, sessions and seats, and what needs somebody’s attention. Starts nothing.';
  static override examples = ['service daemon status', 'service daemon status --json'];
  static override seeAlso = ['daemon logs', 'status', 'doctor'];

  override async run(): Promise<void> {
    const status = await daemonStatus();
    if (!status) throw notRunning();
    this.out.print(status, () => daemonLines(status, this.times).join('\n'));
  }
}

/** @param times how they are shown */
function daemonLines(status: StatusAnswer, times: TimeStyle): string[] {
  const { pid, build, started_at, servers = [], sessions = [], attention = [], agents = [] } = status;
  // Its token is deleted by then, so nothing is left to do about it.
  const ended = agents.filter(({ problem }) => problem === 'agent_removed');
  const problems = agents.filter(({ problem }) => problem !== 'agent_removed');
  const { stalled = [], truncated = [], metrics: { uncaught_errors: errors = 0 } = {} } = status;
  return [
    `Daemon     ${build.version} (pid ${pid}), started ${showTime(started_at, times)}`,
    ...servers.map(({ url, feed, connected, last_error }) => {
      const how = connected ? `connected (${feed})` : `not connected${last_error ? `: ${last_error}` : ''}`;
      return `Server     ${url} ${how}`;
    }),
    ...sessions
      .filter(({ open }) => open)
      .map(({ key, turn, seats = [] }) => {
        const held = seats.map(({ name, board }) => `${name} on ${board}`).join(', ');
        return `Session    ${key} ${turn}${held ? `: ${held}` : ''}`;
      }),
    ...ended.map(({ agent }) => `Ended      ${agent.name} on ${agent.board}: the agent was removed`),
    ...problems.map(({ agent, problem }) => `Problem    ${agent.name} on ${agent.board}: ${problem}`),
    ...attention.map(({ agent, reason }) => `Attention  ${agent.name} on ${agent.board}: ${reason}`),
    ...stalled.map(({ agent }) => `Stalled    ${agent.name} on ${agent.board}: its session did not wake`),
    ...truncated.map(({ agent, seq }) => `In part    ${agent.name} on ${agent.board}: #${seq}`),
    ...(errors > 0 ? [`Errors     ${errors} unexpected`] : []),
    ...(problems.length + attention.length + stalled.length + errors > 0
      ? [called('What to do about it: service doctor')]
      : []),
  ];
}
