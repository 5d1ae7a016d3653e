/** The scrolling list of the conversation. Loads more at both ends and keeps what is read in place. */
import { Fragment } from 'preact';
import { memo, Suspense } from 'preact/compat';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { lazy } from '../parts/lazy.ts';
import { formatDay, isSameDay } from '../parts/time.tsx';
import { useTalk } from './context.ts';
import { continuesRun, type Entry, isStartedAtOnce } from './entries.ts';
import { LineView, Separator } from './line.tsx';
import { MessageView } from './message.tsx';
import { Post } from './thread.ts';
import { ThreadView } from './thread-view.tsx';

const GettingStarted = lazy(() => import('./getting-started.tsx').then((module) => module.GettingStarted));

const timeOf = (entry: Entry): string => (entry instanceof Post ? entry.message.peek().at : entry.event.at);

export function List() {
  const talk = useTalk();
  const { timeline, scroll } = talk;
  const scroller = useRef<HTMLDivElement>(null);
  const flow = useRef<HTMLDivElement>(null);
  const entries = timeline.entries.value;
  const target = timeline.target.value;
  scroll.beforeChange();
  useEffect(() => scroll.attach(scroller.current!, flow.current!), [scroll]);
  useLayoutEffect(() => {
    scroll.afterChange(scroller.current!, target);
    // One message is a tab stop: the last one that had the focus, else the newest.
    if (!timeline.find(talk.tabStop.peek() ?? 0))
      talk.tabStop.value = entries.findLast((entry) => entry instanceof Post)?.seq ?? null;
  });
  const since = timeline.unread.since.value;
  const fresh = timeline.unread.newSinceVisit.value;
  const firstNew = entries.find((entry) => entry instanceof Post && entry.seq > since && fresh.has(entry.seq))?.seq;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a section would be named the same
    <div
      ref={scroller}
      class="tl"
      role="region"
      aria-label="Conversation"
      aria-busy={!timeline.opened.value}
      tabIndex={-1}
      onPointerLeave={({ pointerType }) => {
        // After a touch the actions stay until the next touch.
        if (pointerType !== 'touch') talk.hovered.value = null;
      }}
    >
      <div ref={flow}>
        {entries.map((entry, index) => {
          const before = entries[index - 1];
          const at = timeOf(entry);
          const newDay = before ? !isSameDay(timeOf(before), at) : true;
          const isNew = entry.seq === firstNew;
          return (
            <Fragment key={entry.seq}>
              {newDay && <Separator kind="day">{formatDay(at)}</Separator>}
              {isNew && <Separator kind="new">New since you last looked</Separator>}
              {entry instanceof Post ? (
                <Message post={entry} before={newDay || isNew || !(before instanceof Post) ? undefined : before} />
              ) : (
                !isStartedAtOnce(before, entry) && (
                  <LineView line={entry} startedAtOnce={isStartedAtOnce(entry, entries[index + 1])} />
                )
              )}
            </Fragment>
          );
        })}
        <Empty />
      </div>
    </div>
  );
}

const Message = memo(function Message({ post, before }: { post: Post; before: Post | undefined }) {
  const run = continuesRun(before?.message.value, post.message.value);
  return (
    <MessageView post={post} run={run}>
      <ThreadView root={post} thread={post.thread!} />
    </MessageView>
  );
});

/** Shown on a board without messages, and below them while the join line made there is not used yet. */
function Empty() {
  const { timeline, room, joinLine } = useTalk();
  const some = timeline.entries.value.some((entry) => entry instanceof Post);
  if ((some && !joinLine.value) || !timeline.opened.value || !timeline.atStart.value || !timeline.atEnd.value)
    return null;
  if (room.board.value?.lifecycle !== 'active') return null;
  return (
    <Suspense fallback={null}>
      <GettingStarted begun={some} />
    </Suspense>
  );
}
