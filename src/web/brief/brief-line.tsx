/** The first line of the brief, beside the tabs or, on a phone, above the conversation. A click opens the brief. */
import { Suspense } from 'preact/compat';
import { useEffect } from 'preact/hooks';
import { Icon } from '../parts/icon.tsx';
import { lazy } from '../parts/lazy.ts';
import { plural } from '../parts/number.ts';
import { useKeys } from '../state/keys.ts';
import type { Room } from '../state/room.ts';
import { openBrief, useBriefText, useFirstWords, useMessagesSince } from './brief.ts';

const BriefPanel = lazy(() => import('./brief-panel.tsx'));

/** Whether there is a brief, or one can be written. */
const isAvailable = (room: Room): boolean => {
  const board = room.board.value;
  return Boolean(board?.on_board && (board.brief || board.lifecycle === 'active'));
};

const toggle = (room: Room): void => {
  openBrief.value = openBrief.peek() === room.name ? null : room.name;
};

export function BriefLine({ room, phone = false }: { room: Room; phone?: boolean }) {
  const brief = room.board.value?.brief;
  const text = useBriefText(room, brief);
  const since = useMessagesSince(room);
  const words = useFirstWords(text, brief?.name === 'brief.html');
  if (!isAvailable(room)) return null;
  const open = openBrief.value === room.name;
  return (
    <button
      type="button"
      class={phone ? 'mob brf' : 'desk brf'}
      aria-expanded={open}
      aria-controls={open ? 'brief' : undefined}
      onClick={() => toggle(room)}
    >
      <Icon name="brief" />
      {brief ? (
        <>
          <span class="cut">
            <b>Brief</b>&ensp;{words}
          </span>
          <span class="nw q desk">
            v{brief.version}
            {since > 0 && `, ${plural(since, 'message')} since`}
          </span>
        </>
      ) : (
        <span class="cut">Write a brief</span>
      )}
      <Icon name={open ? 'up' : 'down'} small />
    </button>
  );
}

/** The phone's brief line, and the opened brief. */
export function BriefBelow({ room, talk }: { room: Room; talk: boolean }) {
  useKeys('Board', [{ keys: 'b', label: 'Brief', run: () => isAvailable(room) && toggleAndFocus(room) }], [room]);
  useEffect(() => {
    if (openBrief.peek() !== room.name) openBrief.value = null;
  }, [room]);
  return (
    <>
      {talk && <BriefLine room={room} phone />}
      {openBrief.value === room.name && isAvailable(room) && (
        <Suspense fallback={<section class="brief" aria-busy="true" />}>
          <BriefPanel room={room} />
        </Suspense>
      )}
    </>
  );
}

/** For the key binding: toggles the brief and focuses its line. */
function toggleAndFocus(room: Room): void {
  toggle(room);
  for (const line of document.querySelectorAll<HTMLElement>('.brf')) line.focus();
}
