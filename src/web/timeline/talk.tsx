/**
 * The conversation tab: the "needs you" strip, the messages, the message box and the side column.
 */
import './timeline.css';
import { Suspense } from 'preact/compat';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { hasCode } from '../api/errors.ts';
import type { TabProps } from '../board/tab-props.ts';
import { NeedStrip } from '../inbox/need-strip.tsx';
import { Icon } from '../parts/icon.tsx';
import { lazy } from '../parts/lazy.ts';
import { Menu } from '../parts/menu.tsx';
import { formatNumber } from '../parts/number.ts';
import { ProblemLine } from '../parts/problem.tsx';
import { openTalk } from '../state/open-talk.ts';
import { mark, takeMark } from '../state/route.ts';
import { announceNew } from './announce-new.ts';
import { Talk, TalkContext, useTalk } from './context.ts';
import { List } from './list.tsx';
import { isNextUnreadAbove, nextUnread, useTalkKeys } from './talk-keys.ts';
import type { Spot, Timeline } from './timeline.ts';

const loadComposer = () => import('../compose/composer.tsx').then((module) => ({ default: module.Composer }));
const loadSide = () => import('./side.tsx').then((module) => module.Side);
const Composer = lazy(loadComposer);
const Side = lazy(loadSide);

/** Preloads the lazy parts, so that they do not compete with messages for connections later. */
export const preloadParts = (): void => void Promise.allSettled([loadComposer(), loadSide()]);

export function TalkTab({ here, room }: TabProps) {
  // The read position, at which the conversation opens, is part of the board's record.
  if (!room.board.value) return <div class="room" aria-busy="true" />;
  return <Conversation key={room.name} room={room} here={here} />;
}

function Conversation({ room, here }: TabProps) {
  const { message } = here;
  const talk = useMemo(() => {
    const spot = takeMark() as Spot | null | undefined;
    // Null: it was left at its end, whichever message the address names.
    return new Talk(room, spot === null ? undefined : message, spot ?? null);
  }, [room]);
  const { timeline } = talk;
  useEffect(() => {
    openTalk.value = talk;
    const stopSaying = announceNew(talk);
    const onVisibilityChange = (): void => {
      if (document.hidden) timeline.unread.sendPosition();
      else timeline.unread.startVisit();
    };
    const leave = (): void => timeline.unread.sendPosition();
    document.addEventListener('visibilitychange', onVisibilityChange);
    addEventListener('pagehide', leave);
    return () => {
      document.removeEventListener('visibilitychange', onVisibilityChange);
      removeEventListener('pagehide', leave);
      stopSaying();
      if (openTalk.peek() === talk) {
        openTalk.value = null;
        mark.current = null;
      }
      talk.close();
    };
  }, [talk]);
  const opened = timeline.opened.value;
  useEffect(() => {
    if (opened) mark.current = () => talk.scroll.spot();
  }, [talk, opened]);
  const failed = timeline.error.value !== null;
  /** The address that was last followed. The first one is, as the conversation opens. */
  const followed = useRef(here);
  useEffect(() => {
    if (followed.current === here) return;
    if (!opened) {
      // The address named a message that is not here, and now names another or none.
      if (!failed) return;
      followed.current = here;
      void timeline.open(message);
      return;
    }
    followed.current = here;
    const spot = takeMark() as Spot | null | undefined;
    if (spot) void timeline.goTo(spot.seq, { focus: true, top: spot.top });
    else if (spot === null) void timeline.toNewest(true);
    else if (message !== undefined) void timeline.goTo(message, { highlight: true, focus: true });
  }, [here, opened, failed]);
  useTalkKeys(talk);
  return (
    <TalkContext.Provider value={talk}>
      <div class="room">
        <div class={talk.printing.value === null ? 'talk' : 'talk printing'}>
          <div class="above">
            <NeedStrip room={room} />
            {timeline.loading.value && <p class="more-note">Loading {timeline.loading.value} messages</p>}
            {timeline.opened.value && <Problem timeline={timeline} />}
          </div>
          {timeline.error.value !== null && !timeline.opened.value ? (
            <div class="tl">
              <Problem timeline={timeline} />
            </div>
          ) : (
            <List />
          )}
          <div class="below">
            <Jump />
            <Suspense
              fallback={
                <div class="cmp">
                  <div class="box waiting" />
                </div>
              }
            >
              <Composer room={room} />
            </Suspense>
          </div>
        </div>
        <Suspense fallback={<aside class="side" aria-label="Around the conversation" />}>
          <Side />
        </Suspense>
      </div>
    </TalkContext.Provider>
  );
}

/** A message that does not exist does not exist at a second try either. */
function Problem({ timeline: { error, retry } }: { timeline: Timeline }) {
  const { value } = error;
  return <ProblemLine error={value} onRetry={hasCode(value, 'message_not_found') ? undefined : retry} />;
}

/** A button that jumps to new messages, or to the newest one after scrolling up. */
function Jump() {
  const talk = useTalk();
  const { timeline, scroll } = talk;
  const count = timeline.unread.unseen.value.size;
  if (!timeline.opened.value || (scroll.atBottom.value && count === 0)) return null;
  return (
    <button
      type="button"
      class={count > 0 ? 'jump' : 'jump quiet'}
      onClick={() => void (count > 0 ? nextUnread(talk) : timeline.toNewest(true))}
    >
      <Icon name={count > 0 && isNextUnreadAbove(talk) ? 'up' : 'down'} />
      {count > 0 ? `${formatNumber(count)}${timeline.unread.hasMore ? '+' : ''} new` : 'Newest'}
    </button>
  );
}

/** The menu of the conversation in the board's header. */
export function TalkMenu() {
  const talk = openTalk.value;
  if (!talk) return null;
  const { showEvents, unread } = talk.timeline;
  return (
    <Menu label="View of the conversation" button={<Icon name="dots" />}>
      <button
        type="button"
        role="menuitemcheckbox"
        aria-checked={showEvents.value}
        onClick={() => void talk.setShowEvents(!showEvents.value)}
      >
        <span class="i">{showEvents.value && <Icon name="check" />}</span>
        Board events
      </button>
      <button
        type="button"
        role="menuitem"
        disabled={unread.unseen.value.size === 0}
        onClick={() => talk.timeline.markAllSeen()}
      >
        <span class="i" />
        Mark all as read
      </button>
    </Menu>
  );
}
