/** One line of counts: needs, tasks and agents by state. Zero counts are left out. */
import type { ComponentChildren } from 'preact';
import { plural } from '../parts/number.ts';
import type { AgentState } from '../parts/who.tsx';
import type { Room } from '../state/room.ts';
import { hrefOf } from '../state/route.ts';

/** A phone shows the first of the facts. */
const PHONE_FACTS = 3;

/** The words for agents, and the states that each counts. */
const groups: Record<string, AgentState[]> = {
  working: ['working'],
  waiting: ['waiting'],
  idle: ['idle', 'paused'],
  braked: ['braked'],
  disconnected: ['disconnected', 'late'],
};

export function NowLine({ room, needs }: { room: Room; needs: number }) {
  const { open = 0, in_progress = 0, blocked = 0, blockedRunning = 0 } = room.tasks.value ?? {};
  // None counts twice. What is not known is left out.
  const running = in_progress - blockedRunning;
  const waiting = open - (blocked - blockedRunning);
  const board = room.board.value;
  const alone = board !== null && board.people_count === 1 && board.agent_count === 0;
  const agents = room.members.value.filter(({ kind, status }) => kind === 'agent' && status === 'active');
  const tasks = hrefOf({ screen: 'board', board: room.name, tab: 'tasks' });
  const people = hrefOf({ screen: 'board', board: room.name, tab: 'people' });
  const counts = Object.entries(groups)
    .map(([word, states]) => [word, agents.filter(({ state }) => state && states.includes(state)).length] as const)
    .filter(([, count]) => count > 0);
  const facts: [boolean, string, ComponentChildren][] = [
    [
      needs > 0,
      '/inbox',
      <span class="u" key="needs">
        <span class="you">{needs}</span> {needs === 1 ? 'needs you' : 'need you'}
      </span>,
    ],
    [alone, people, 'Nobody else is here yet'],
    [running > 0, tasks, `${running} in progress`],
    [blocked > 0, tasks, `${blocked} blocked`],
    [waiting > 0, tasks, plural(waiting, 'open task')],
    ...counts.map(([word, count], index): (typeof facts)[number] => [
      true,
      people,
      `${index > 0 ? count : plural(count, 'agent')} ${word}`,
    ]),
  ];
  return (
    <div class="now">
      {facts
        .filter(([is]) => is)
        .map(([, href, text], index) => (
          <a key={index} href={href} class={index < PHONE_FACTS ? undefined : 'desk'}>
            {text}
          </a>
        ))}
    </div>
  );
}
