/** What agents cannot go on with without the person, and what the person can do about it. */
import { useState } from 'preact/hooks';
import type { Need as AgentNeed } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { ProblemLine } from '../parts/problem.tsx';
import { useKeys } from '../state/keys.ts';
import { needs } from '../state/needs.ts';
import { hrefOf } from '../state/route.ts';
import { BoardLink, type Choice, Choices, Heading, useDecision } from './heading.tsx';
import { agentIn, ownAgent, wordsOf } from './items.ts';

export function AgentNeedDetail({ id }: { id: string }) {
  const found = needs.value.find((need) => need.kind === 'agents' && need.id === id);
  const now = found?.kind === 'agents' ? found.need : null;
  // It is shown as it was once it is decided, or gone by itself.
  const [last, setLast] = useState(now);
  if (now && now !== last) setLast(now);
  const need = now ?? last;
  return need ? <Standing need={need} stands={now !== null} /> : <p class="q2">This needs nobody any more.</p>;
}

function Standing({ need, stands }: { need: AgentNeed; stands: boolean }) {
  const { write, title, decide } = useDecision(() => {});
  const choices: Choice[] = decisionsOf(need).map(({ words, said, send }) => ({
    words,
    run: () => void decide(words, said, send),
  }));
  useKeys(
    'Agents',
    choices.map(({ words, run }, index) => ({
      keys: String(index + 1),
      label: words,
      run: () => (stands ? run() : false),
    })),
    [need, stands],
  );
  const who = ownAgent(agentIn(need));
  return (
    <article aria-labelledby="inbox-title">
      <Heading who={who} at={need.at} title={wordsOf(need).title} titleRef={title}>
        {wordsOf(need).note}, on <BoardLink name={need.board} />
      </Heading>
      <p class="x">{explanation(need)}</p>
      {stands ? (
        <>
          {choices.length > 0 && <Choices choices={choices} busy={write.busy} />}
          <ProblemLine error={write.error} />
        </>
      ) : (
        <p class="q2">This needs nobody any more.</p>
      )}
      <p class="q2 ends">
        <a href={linkOf(need)}>{need.kind === 'thread_held' ? 'Open the thread' : 'Open it'}</a>
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

const linkOf = (need: AgentNeed): string => {
  const { board } = need;
  if (need.kind === 'thread_held') return hrefOf({ screen: 'board', board, tab: 'talk', message: need.seq });
  if (need.kind === 'task_stale') return hrefOf({ screen: 'board', board, tab: 'tasks', task: need.task.ref });
  return hrefOf({ screen: 'board', board, tab: 'people', agent: need.agent });
};

interface Decision {
  words: string;
  said: string;
  send(idempotencyKey: string): Promise<unknown>;
}

/** The choices, the usual one first. */
function decisionsOf(need: AgentNeed): Decision[] {
  switch (need.kind) {
    case 'thread_held': {
      const params = { message: need.message_id };
      const set = (action: 'continue' | 'stop') => (idempotencyKey: string) =>
        call('setThreadRun', { params, body: { action }, idempotencyKey });
      return [
        { words: 'Continue', said: 'They may go on', send: set('continue') },
        { words: 'Stop', said: 'Closed for agents until a person writes in it', send: set('stop') },
      ];
    }
    case 'agent_braked': {
      const params = { board: need.board, member: need.member_id };
      const midnight = new Date();
      midnight.setHours(24, 0, 0, 0);
      return [
        {
          words: 'Wake it again',
          said: 'Agents wake it again',
          send: (idempotencyKey) => call('releaseAgent', { params, body: { action: 'more' }, idempotencyKey }),
        },
        {
          words: 'Until tomorrow',
          said: 'Paused until tomorrow',
          send: (idempotencyKey) =>
            call('releaseAgent', {
              params,
              body: { action: 'pause', until: midnight.toISOString() },
              idempotencyKey,
            }),
        },
        {
          words: 'Only people',
          said: 'Only people wake it',
          send: (idempotencyKey) => call('setDeliveryMode', { params, body: { mode: 'humans' }, idempotencyKey }),
        },
      ];
    }
    case 'task_stale': {
      const params = { board: need.board, task: need.task.ref };
      return [
        {
          words: 'Take it over',
          said: 'The task is yours',
          send: (idempotencyKey) => call('startTask', { params, body: { take_over: true }, idempotencyKey }),
        },
      ];
    }
    case 'agent_waiting':
      return [];
  }
}
