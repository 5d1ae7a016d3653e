/** Agents that the person may have forgotten. They wait for nobody, so they are not counted and stand below all else. */
import { useRef } from 'preact/hooks';
import { MINUTE } from '../../contract/durations.ts';
import type { Member } from '../../contract/types.ts';
import { lostAt } from '../live/link.ts';
import { ProblemLine } from '../parts/problem.tsx';
import { ago, atLoss, formatDayTime } from '../parts/time.tsx';
import { Glyph } from '../parts/who.tsx';
import { serverNow } from '../state/clock.ts';
import { useMyAgents } from '../state/my-agents.ts';
import { hrefOf } from '../state/route.ts';

/** How long an agent is idle without a task before that is said. */
const IDLE_MS = 30 * MINUTE;

interface Fact {
  title: string;
  note: string;
  since: string;
}

function factOf({ state, line, presence_since: since, current_task }: Member): Fact | null {
  if (state === 'late' && line?.until)
    return { title: 'It is late', note: `said to be back ${formatDayTime(line.until)}`, since: line.until };
  if (state !== 'idle' || current_task || since === null || serverNow.value - Date.parse(since) < IDLE_MS) return null;
  return { title: 'It has nothing to do', note: 'idle without a task', since };
}

export function QuietAgents() {
  // No hint tells that an agent is late. The clock ticks also when a hidden tab is shown.
  const shownAt = useRef(serverNow.value);
  if (!document.hidden && lostAt.value === null) shownAt.current = serverNow.value;
  const { value, error, reload } = useMyAgents([shownAt.current]);
  const lines = (value ?? []).flatMap((agent) => {
    const fact = factOf(agent);
    return fact ? [<Line key={agent.id} agent={agent} fact={fact} />] : [];
  });
  if (lines.length === 0 && error === null) return null;
  return (
    <section aria-label="Your agents">
      <h2 class="ih">Your agents{atLoss()}</h2>
      <ProblemLine error={error} onRetry={reload} />
      <ul>{lines}</ul>
    </section>
  );
}

function Line({ agent, fact }: { agent: Member; fact: Fact }) {
  const { board, name } = agent;
  return (
    <li>
      <a class="ir" href={hrefOf({ screen: 'board', board, tab: 'people', agent: name })}>
        <Glyph who={agent} size={28} />
        <span class="sp">
          <span class="row sm q2">
            <span class="cut">
              <b class="mono">{name}</b> in {board}
            </span>
            <span class="sp" />
            <span class="nw">{ago(fact.since)}</span>
          </span>
          <b class="qq">{fact.title}</b>
          <span class="sm q2">{fact.note}</span>
        </span>
      </a>
    </li>
  );
}
