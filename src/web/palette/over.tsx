/** What lies over the page, loaded when it is opened, and the keys that work on every screen. */
import { Suspense } from 'preact/compat';
import { lazy } from '../parts/lazy.ts';
import { boards } from '../state/boards.ts';
import { useKeys } from '../state/keys.ts';
import { closeOver, type Over as Kind, openOver, over } from '../state/over.ts';
import { type BoardTab, go, place } from '../state/route.ts';

const overs = {
  palette: lazy(() => import('./palette.tsx')),
  keys: lazy(() => import('./keys.tsx')),
  'new-board': lazy(() => import('../boards/new-board.tsx')),
} satisfies Record<Kind, unknown>;

/** Opens a tab of the board that is open; false on another screen. */
function openTab(tab: BoardTab): false | undefined {
  const here = place.peek();
  if (here.screen !== 'board') return false;
  go({ screen: 'board', board: here.board, tab });
}

/** Opens the board before or after this one in the rail. */
function openBeside(step: 1 | -1): false | undefined {
  const own = (boards.peek() ?? []).filter((board) => board.on_board);
  if (own.length === 0) return false;
  const here = place.peek();
  const at = here.screen === 'board' ? own.findIndex(({ name }) => name === here.board) : step === 1 ? -1 : 0;
  const next = own[(at + step + own.length) % own.length];
  if (next) go({ screen: 'board', board: next.name, tab: 'talk' });
}

export function Over() {
  useKeys('Anywhere', [
    {
      keys: 'Mod k',
      label: 'Go to, or do',
      everywhere: true,
      run: () => (over.peek() === 'palette' ? closeOver() : openOver('palette')),
    },
    { keys: '/', label: 'Search', run: () => go({ screen: 'search', q: '' }) },
    { keys: 'g i', label: 'Needs you', run: () => go({ screen: 'inbox' }) },
    { keys: 'g b', label: 'All boards', run: () => go({ screen: 'boards' }) },
    { keys: '[', label: 'Board before', run: () => openBeside(-1) },
    { keys: ']', label: 'Board after', run: () => openBeside(1) },
    { keys: '?', label: 'These keys', run: () => openOver('keys') },
  ]);
  const onBoard = place.value.screen === 'board';
  return (
    <>
      {onBoard && <BoardKeys />}
      {over.value !== null && <Found what={over.value} />}
    </>
  );
}

function Found({ what }: { what: Kind }) {
  const Shown = overs[what];
  return (
    <Suspense fallback={null}>
      <Shown />
    </Suspense>
  );
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
