/** The open tab of a board. All but the conversation are loaded on demand. */
import type { ComponentType } from 'preact';
import { Suspense } from 'preact/compat';
import { lazy } from '../parts/lazy.ts';
import type { BoardTab } from '../state/route.ts';
import { TalkTab } from '../timeline/talk.tsx';
import type { TabProps } from './tab-props.ts';

const tabs: Partial<Record<BoardTab, ComponentType<TabProps>>> = {
  talk: TalkTab,
  tasks: lazy(() => import('../tasks/tasks.tsx')),
  files: lazy(() => import('../files/files.tsx')),
  record: lazy(() => import('../record/record.tsx')),
  people: lazy(() => import('../people/people.tsx')),
};

export function Tab({ here, room }: TabProps) {
  const TabContent = tabs[here.tab];
  if (!TabContent) return <div class="page" />;
  return (
    <Suspense fallback={<div class="page" aria-busy="true" />}>
      <TabContent here={here} room={room} />
    </Suspense>
  );
}
