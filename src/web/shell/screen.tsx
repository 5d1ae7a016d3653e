/** The current screen, loaded on demand. */
import { type ComponentType, Suspense } from 'preact/compat';
import { lazy } from '../parts/lazy.ts';
import { type Place, place } from '../state/route.ts';

function NotFound() {
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
// Loads the board's code in parallel with the session.
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
  const CurrentScreen = screens[place.value.screen] ?? NotFound;
  return (
    <Suspense fallback={<main class="page" id="main" aria-busy="true" />}>
      <CurrentScreen />
    </Suspense>
  );
}
