/** Agents that the person may have forgotten. They wait for nobody, so they are not counted and stand below all else. */
import { MINUTE } from '../../contract/durations.ts';
import type { Member } from '../../contract/types.ts';
import { readAll } from '../api/client.ts';
import { ago, atLoss, formatDayTime } from '../parts/time.tsx';
import { Glyph } from '../parts/who.tsx';
import { serverNow } from '../state/clock.ts';
import { useLoad } from '../state/load.ts';
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
  // An error stands above: what needs the person could not be read either.
  const { value } = useLoad(() => readAll('listMyAgents', 'agents'), [], [serverNow.value]);
  const lines = (value ?? []).flatMap((agent) => {
    const fact = factOf(agent);
    return fact ? [<Line key={agent.id} agent={agent} fact={fact} />] : [];
  });
  if (lines.length === 0) return null;
  return (
    <section aria-label="Your agents">
      <h2 class="ih">Your agents{atLoss()}</h2>
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
