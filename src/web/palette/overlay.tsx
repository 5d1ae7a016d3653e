/** The open overlay, loaded on demand, and the keys that work on every screen. */
import { Suspense } from 'preact/compat';
import { useLayoutEffect } from 'preact/hooks';
import { lazy } from '../parts/lazy.ts';
import { boards } from '../state/boards.ts';
import { textAfter, useKeys } from '../state/keys.ts';
import { closeOverlay, type OverlayName, openOverlay, overlay, typedAhead } from '../state/overlay.ts';
import { type BoardTab, navigate, place } from '../state/route.ts';

const overlays = {
  palette: lazy(() => import('./palette.tsx')),
  keys: lazy(() => import('./keys.tsx')),
  'new-board': lazy(() => import('../boards/new-board.tsx')),
} satisfies Record<OverlayName, unknown>;

/** Opens a tab of the open board; false on other screens. */
function openTab(tab: BoardTab): false | undefined {
  const here = place.peek();
  if (here.screen !== 'board') return false;
  navigate({ screen: 'board', board: here.board, tab });
}

/** Opens the previous or next board in the rail. */
function openNeighbour(step: 1 | -1): false | undefined {
  const own = (boards.peek() ?? []).filter((board) => board.on_board);
  if (own.length === 0) return false;
  const here = place.peek();
  const at = here.screen === 'board' ? own.findIndex(({ name }) => name === here.board) : step === 1 ? -1 : 0;
  const next = own[(at + step + own.length) % own.length];
  if (next) navigate({ screen: 'board', board: next.name, tab: 'talk' });
}

export function Overlay() {
  useKeys('Anywhere', [
    {
      keys: 'Mod k',
      label: 'Go to, or do',
      everywhere: true,
      run: () => (overlay.peek() === 'palette' ? closeOverlay() : openOverlay('palette')),
    },
    { keys: '/', label: 'Search', run: () => navigate({ screen: 'search', q: '' }) },
    { keys: 'g i', label: 'Needs you', run: () => navigate({ screen: 'inbox' }) },
    { keys: 'g b', label: 'All boards', run: () => navigate({ screen: 'boards' }) },
    { keys: '[', label: 'Board before', run: () => openNeighbour(-1) },
    { keys: ']', label: 'Board after', run: () => openNeighbour(1) },
    { keys: '?', label: 'These keys', run: () => openOverlay('keys') },
  ]);
  const onBoard = place.value.screen === 'board';
  return (
    <>
      {onBoard && <BoardKeys />}
      {overlay.value !== null && <OpenOverlay name={overlay.value} />}
    </>
  );
}

function OpenOverlay({ name }: { name: OverlayName }) {
  const Content = overlays[name];
  return (
    <Suspense fallback={<Opening />}>
      <Content />
    </Suspense>
  );
}

/**
 * While an overlay loads, keys are meant for it: neither text nor keys of the screen behind it. The palette takes the
 * text. Escape gives it up, and the page can be loaded again.
 */
function Opening() {
  useLayoutEffect(() => {
    const hold = (event: KeyboardEvent): void => {
      event.stopPropagation();
      const reloads = event.key === 'F5' || ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'r');
      if (!reloads) event.preventDefault();
      typedAhead.value = textAfter(typedAhead.peek(), event) ?? typedAhead.peek();
      if (event.key === 'Escape') closeOverlay();
    };
    addEventListener('keydown', hold, { capture: true });
    return () => removeEventListener('keydown', hold, { capture: true });
  }, []);
  return null;
}

function BoardKeys() {
  useKeys('Board', [
    { keys: 'g c', label: 'Conversation', run: () => openTab('talk') },
    { keys: 'g t', label: 'Tasks', run: () => openTab('tasks') },
    { keys: 'g f', label: 'Files', run: () => openTab('files') },
    { keys: 'g p', label: 'People', run: () => openTab('people') },
    { keys: 'g r', label: 'Record', run: () => openTab('record') },
  ]);
  return null;
}
