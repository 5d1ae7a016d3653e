/** The daemon's status in words. */
import type { StatusAnswer } from '../../daemon/protocol.ts';

export function daemonLines(status: StatusAnswer): string[] {
  const { pid, build, started_at, servers = [], sessions = [], attention = [], agents = [] } = status;
  const { stalled = [], truncated = [] } = status;
  return [
    `Daemon     ${build.version} (pid ${pid}), since ${started_at}`,
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
    ...agents.map(({ agent, problem }) => `Problem    ${agent.name} on ${agent.board}: ${problem}`),
    ...attention.map(({ agent, reason }) => `Attention  ${agent.name} on ${agent.board}: ${reason}`),
    ...stalled.map(({ agent }) => `Stalled    ${agent.name} on ${agent.board}: its session did not wake`),
    ...truncated.map(({ agent, seq }) => `In part    ${agent.name} on ${agent.board}: #${seq}`),
  ];
}
