/** Which screen the address names. Screens that are not needed at first are loaded when they are opened. */
import { type ComponentType, Suspense } from 'preact/compat';
import { lazy } from '../parts/lazy.ts';
import { type Place, place } from '../state/route.ts';

function Nowhere() {
  return (
    <main class="page" id="main">
      <h1>There is nothing at this address</h1>
      <p class="q2">
        <a href="/">All boards</a>
      </p>
    </main>
  );
}

const loadBoard = () => import('../board/board-screen.tsx').then(({ BoardScreen }) => ({ default: BoardScreen }));
// A board is fetched while it is still being found out who is signed in.
if (place.peek().screen === 'board') void loadBoard();

const screens: Partial<Record<Place['screen'], ComponentType>> = {
  boards: lazy(() => import('../boards/boards.tsx').then(({ Boards }) => ({ default: Boards }))),
  board: lazy(loadBoard),
  inbox: lazy(() => import('../inbox/inbox.tsx')),
  allowance: lazy(() => import('../inbox/allowance.tsx')),
  search: lazy(() => import('../search/search.tsx')),
  everything: lazy(() => import('../everything/everything.tsx')),
  server: lazy(() => import('../server/server.tsx')),
  agents: lazy(() => import('../agent/agents.tsx')),
};

export function Screen() {
  const Found = screens[place.value.screen] ?? Nowhere;
  return (
    <Suspense fallback={<main class="page" id="main" aria-busy="true" />}>
      <Found />
    </Suspense>
  );
}
