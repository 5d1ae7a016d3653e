/** What stands on a board that nobody has written on; loaded when it is. */
import { lazy, Suspense } from 'preact/compat';
import { useTalk } from './context.ts';
import { Post } from './thread.ts';

const Begin = lazy(() => import('./begin.tsx').then((module) => module.Begin));

export function Empty() {
  const { timeline, room } = useTalk();
  const some = timeline.entries.value.some((entry) => entry instanceof Post);
  if (some || !timeline.opened.value || !timeline.atStart.value || !timeline.atEnd.value) return null;
  if (room.board.value?.lifecycle !== 'active') return null;
  return (
    <Suspense fallback={null}>
      <Begin />
    </Suspense>
  );
}
