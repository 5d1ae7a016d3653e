/** The current screen, loaded on demand. */
import { type ComponentType, Suspense } from 'preact/compat';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { lazy } from '../parts/lazy.ts';
import { focusMain, isFocusLost } from '../state/focus.ts';
import { isTextField, textAfter } from '../state/keys.ts';
import { navigate, type Place, place } from '../state/route.ts';

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

/** Where the screen before had the focus, it is on nothing. */
const focusIfLost = (): void => {
  if (isFocusLost()) focusMain();
};

/** What is typed while the search loads is meant for it. */
function typeAhead(event: KeyboardEvent): void {
  const here = place.peek();
  if (here.screen !== 'search' || isTextField(event.target as Element)) return;
  const q = textAfter(here.q, event);
  if (q === null) return;
  event.stopPropagation();
  event.preventDefault();
  navigate({ ...here, q }, { replace: true });
}

function Loading({ onEnd }: { onEnd: () => void }) {
  useEffect(() => () => void requestAnimationFrame(onEnd), []);
  useLayoutEffect(() => {
    addEventListener('keydown', typeAhead, { capture: true });
    return () => removeEventListener('keydown', typeAhead, { capture: true });
  }, []);
  return <main class="page" id="main" aria-busy="true" />;
}

export function Screen() {
  const { value } = place;
  const CurrentScreen = screens[value.screen] ?? NotFound;
  const shown =
    value.screen === 'board' ? JSON.stringify([value.board, value.tab, value.file, value.agent]) : value.screen;
  // What the page opened with, until something else is shown: a page that just opened begins at its first control.
  const first = useRef<string | null>(shown);
  if (first.current !== shown) first.current = null;
  const arrive = (): void => {
    if (first.current === null) focusIfLost();
  };
  useEffect(arrive, [shown]);
  return (
    <Suspense fallback={<Loading onEnd={arrive} />}>
      <CurrentScreen />
    </Suspense>
  );
}
