/** Details of a situation in which an agent needs the person, with the choices. */
import { useState } from 'preact/hooks';
import type { Need as AgentNeed } from '../../contract/types.ts';
import { ProblemLine } from '../parts/problem.tsx';
import { write } from '../state/attempts.ts';
import { serverTime } from '../state/clock.ts';
import { useKeys } from '../state/keys.ts';
import { needs, openAsks } from '../state/needs.ts';
import { hrefOf } from '../state/route.ts';
import { BoardLink, type Choice, Choices, Heading, isShown, useDecision } from './heading.tsx';
import { agentName, agentNeedText, ownAgent } from './items.ts';

export function AgentNeedDetail({ id }: { id: string }) {
  const found = needs.value.find((need) => need.kind === 'agents' && need.id === id);
  const now = found?.kind === 'agents' ? found.need : null;
  // Keeps showing the last state after it is resolved.
  const [last, setLast] = useState(now);
  if (now && now !== last) setLast(now);
  const need = now ?? last;
  if (need) return <Detail need={need} isOpen={now !== null} />;
  // All that needs the person is loaded at once.
  return openAsks.value === null ? <div aria-busy="true" /> : <p class="q2">This needs nobody any more.</p>;
}

function Detail({ need, isOpen }: { need: AgentNeed; isOpen: boolean }) {
  const { action, title, decide } = useDecision(() => {});
  const choices: Choice[] = decisionsFor(need).map(({ label, announcement, send }) => ({
    label,
    run: () => void decide(announcement, send),
  }));
  useKeys(
    'Agents',
    choices.map(({ label, run }, index) => ({
      keys: String(index + 1),
      label: label,
      run: () => (isOpen && isShown(title) ? run() : false),
    })),
    [need, isOpen],
  );
  const who = ownAgent(agentName(need));
  return (
    <article aria-labelledby="inbox-title">
      <Heading who={who} at={need.at} title={agentNeedText(need).title} titleRef={title}>
        {agentNeedText(need).note}, on <BoardLink name={need.board} />
      </Heading>
      <p class="x">{explanation(need)}</p>
      {isOpen ? (
        <>
          {choices.length > 0 && <Choices choices={choices} busy={action.busy} />}
          <ProblemLine error={action.error} />
        </>
      ) : (
        <p class="q2">This needs nobody any more.</p>
      )}
      <p class="q2 ends">
        <a href={needHref(need)}>{need.kind === 'thread_held' ? 'Open the thread' : 'Open it'}</a>
      </p>
    </article>
  );
}

const explanation = (need: AgentNeed): string => {
  switch (need.kind) {
    case 'thread_held':
      return 'What these agents write there is kept and can be read, but it wakes none of them. A message of yours in the thread lets them go on too.';
    case 'agent_braked':
      return `${need.text}. What other agents write waits for it.`;
    case 'agent_waiting':
      return [
        need.text,
        need.where && `Answer it there: ${need.where}`,
        need.machine && `on ${need.machine}`,
        need.folder && `in ${need.folder}`,
      ]
        .filter(Boolean)
        .join('; ');
    case 'task_stale':
      return 'Its agent has had no session for a while. The member who takes the task over becomes its owner; the former one helps and is told.';
  }
};

const needHref = (need: AgentNeed): string => {
  const { board } = need;
  if (need.kind === 'thread_held') return hrefOf({ screen: 'board', board, tab: 'talk', message: need.seq });
  if (need.kind === 'task_stale') return hrefOf({ screen: 'board', board, tab: 'tasks', task: need.task.ref });
  return hrefOf({ screen: 'board', board, tab: 'people', agent: need.agent });
};

interface Decision {
  label: string;
  announcement: string;
  send(): Promise<unknown>;
}

/** The choices, the most common first. */
function decisionsFor(need: AgentNeed): Decision[] {
  switch (need.kind) {
    case 'thread_held': {
      const params = { message: need.message_id };
      const set = (action: 'continue' | 'stop') => () => write('setThreadRun', { params, body: { action } });
      return [
        { label: 'Continue', announcement: 'They may go on', send: set('continue') },
        { label: 'Stop', announcement: 'Closed for agents until a person writes in it', send: set('stop') },
      ];
    }
    case 'agent_braked': {
      const params = { board: need.board, member: need.member_id };
      const midnight = new Date(serverTime());
      midnight.setHours(24, 0, 0, 0);
      const reads = need.reason === 'reads';
      const onlyPeople: Decision = {
        label: 'Only people',
        announcement: 'Only people wake it',
        send: () => write('setDeliveryMode', { params, body: { mode: 'humans' } }),
      };
      return [
        {
          label: reads ? 'Give it messages again' : 'Wake it again',
          announcement: reads ? 'It is given messages again' : 'Agents wake it again',
          send: () => write('releaseAgent', { params, body: { action: 'more' } }),
        },
        {
          label: 'Until tomorrow',
          announcement: 'Paused until tomorrow',
          send: () => write('releaseAgent', { params, body: { action: 'pause', until: midnight.toISOString() } }),
        },
        // What agents write to it is not why it is paused.
        ...(reads ? [] : [onlyPeople]),
      ];
    }
    case 'task_stale': {
      const params = { board: need.board, task: need.task.ref };
      return [
        {
          label: 'Take it over',
          announcement: 'The task is yours',
          send: () => write('startTask', { params, body: { take_over: true } }),
        },
      ];
    }
    case 'agent_waiting':
      return [];
  }
}
