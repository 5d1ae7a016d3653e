/** One line of counts: needs, tasks and agents by state. Zero counts are left out. */
import type { ComponentChildren } from 'preact';
import { plural } from '../parts/number.ts';
import type { Room } from '../state/room.ts';
import { hrefOf } from '../state/route.ts';

/** A phone shows the first of the facts. */
const PHONE_FACTS = 3;

export function NowLine({ room, needs }: { room: Room; needs: number }) {
  const { open = 0, in_progress: running = 0, blocked = 0 } = room.tasks.value ?? {};
  const board = room.board.value;
  const alone = board !== null && board.people_count === 1 && board.agent_count === 0;
  const agents = room.members.value.filter(({ kind, status }) => kind === 'agent' && status === 'active');
  const inState = (...states: string[]): number => agents.filter(({ state }) => state && states.includes(state)).length;
  const tasks = hrefOf({ screen: 'board', board: room.name, tab: 'tasks' });
  const people = hrefOf({ screen: 'board', board: room.name, tab: 'people' });
  const working = inState('working');
  const idle = inState('idle', 'waiting', 'paused');
  const disconnected = inState('disconnected', 'late');
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
    [open > 0, tasks, plural(open, 'open task')],
    [working > 0, people, `${plural(working, 'agent')} working`],
    [idle > 0, people, `${working > 0 ? idle : plural(idle, 'agent')} idle`],
    [disconnected > 0, people, `${working + idle > 0 ? disconnected : plural(disconnected, 'agent')} disconnected`],
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
