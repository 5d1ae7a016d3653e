/** All boards: what needs the person, their boards, open ones to join, archived ones apart. */

import { ProblemLine } from '../parts/problem.tsx';
import { boards, boardsError } from '../state/boards.ts';
import { hrefOf } from '../state/route.ts';

export function Boards() {
  const own = (boards.value ?? []).filter((board) => board.on_board);
  return (
    <main class="page" id="main">
      <div class="col wide">
        <h1>Boards</h1>
        {boardsError.value !== null && <ProblemLine error={boardsError.value} />}
        <ul class="list">
          {own.map(({ name, title, unread = 0 }) => (
            <li key={name}>
              <a class="brow" href={hrefOf({ screen: 'board', board: name, tab: 'talk' })}>
                <span class="bt">
                  <b>{title ?? name}</b>
                </span>
                <span class="last">{unread > 0 ? <b>{unread} unread</b> : 'read'}</span>
              </a>
            </li>
          ))}
        </ul>
      </div>
    </main>
  );
}
