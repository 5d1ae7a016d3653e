/** The person's own agents on all boards. */
import type { Member } from '../../contract/types.ts';
import { session } from '../api/session.ts';
import { ProblemLine } from '../parts/problem.tsx';
import { atLoss } from '../parts/time.tsx';
import type { AgentState } from '../parts/who.tsx';
import { useMyAgents } from '../state/my-agents.ts';
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
  const { value: agents, error, reload } = useMyAgents();
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
