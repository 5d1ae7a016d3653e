/** The person's own agents on all boards. */
import { useEffect, useRef } from 'preact/hooks';
import type { Member } from '../../contract/types.ts';
import { readAll } from '../api/client.ts';
import { session } from '../api/session.ts';
import { listenToHints } from '../live/link.ts';
import { ProblemLine } from '../parts/problem.tsx';
import { atLoss } from '../parts/time.tsx';
import type { AgentState } from '../parts/who.tsx';
import { useLoad } from '../state/load.ts';
import { oneAtATime, Throttle } from '../state/throttle.ts';
import { AgentRow } from './agent-row.tsx';
import { DeliveryHelp } from './delivery.tsx';
import './agent.css';

/** The sort order: agents that need somebody come first. */
const order: AgentState[] = ['waiting', 'late', 'braked', 'working', 'idle', 'paused', 'disconnected'];
const rank = ({ state }: Member): number => order.indexOf(state ?? 'disconnected');

const countByState = (agents: Member[]): string =>
  order
    .map((state) => [agents.filter((agent) => agent.state === state).length, state] as const)
    .filter(([count]) => count > 0)
    .map(([count, state]) => `${count} ${state}`)
    .join(', ');

export default function Agents() {
  const { value: agents, error, reload } = useLoad(() => readAll('listMyAgents', 'agents'));
  const own = useRef<string[]>([]);
  own.current = (agents ?? []).map(({ id }) => id);
  useEffect(() => {
    const throttle = new Throttle(oneAtATime(reload));
    /** Members that hints named and that were not in the list: once it is read again, they are agents of others. */
    const others = new Set<string>();
    const stop = listenToHints(({ event, data }) => {
      if (event === 'presence' && !own.current.includes(data.member_id)) {
        if (others.has(data.member_id)) return;
        others.add(data.member_id);
      }
      if (['presence', 'delivery', 'boards', 'board_unavailable'].includes(event)) throttle.schedule();
    });
    return () => {
      stop();
      throttle.cancel();
    };
  }, []);
  const sorted = (agents ?? []).toSorted((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
  return (
    <main class="page" id="main">
      <div class="col wide">
        <h1>Your agents</h1>
        <ProblemLine error={error} onRetry={reload} />
        {!agents && error === null && <div aria-busy="true" />}
        {agents?.length === 0 && (
          <p class="q2">
            {session.value?.person.server_role === 'guest'
              ? 'None. A guest brings one with a guest code.'
              : 'None yet. On a board, “Join line for an agent” brings a session of yours onto it.'}
          </p>
        )}
        {sorted.length > 0 && (
          <>
            <p class="q2">
              {countByState(sorted)}
              {atLoss()}
            </p>
            <ul class="ags all">
              {sorted.map((agent) => (
                <AgentRow
                  key={agent.id}
                  member={{ ...agent, can_remove: true }}
                  isOwn
                  others={sorted.map(({ name }) => name)}
                  withBoard
                  onChange={reload}
                />
              ))}
            </ul>
            <DeliveryHelp />
          </>
        )}
      </div>
    </main>
  );
}
