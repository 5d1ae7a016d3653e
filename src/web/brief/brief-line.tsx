/** The brief in one line beside the tabs, on a phone above the conversation; it opens in place. */
import { Suspense } from 'preact/compat';
import { useEffect } from 'preact/hooks';
import { Icon } from '../parts/icon.tsx';
import { lazy } from '../parts/lazy.ts';
import { useKeys } from '../state/keys.ts';
import type { Room } from '../state/room.ts';
import { openBrief, useFirstWords, useMessagesSince, useText } from './brief.ts';

const BriefPanel = lazy(() => import('./brief-panel.tsx'));

/** Whether there is a brief, or somebody who may write one. */
const isOffered = (room: Room): boolean => {
  const board = room.board.value;
  return Boolean(board?.on_board && (board.brief || board.lifecycle === 'active'));
};

const toggle = (room: Room): void => {
  openBrief.value = openBrief.peek() === room.name ? null : room.name;
};

export function BriefLine({ room, phone = false }: { room: Room; phone?: boolean }) {
  const brief = room.board.value?.brief;
  const text = useText(room, brief);
  const since = useMessagesSince(room);
  const words = useFirstWords(text, brief?.name === 'brief.html');
  if (!isOffered(room)) return null;
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
            {since > 0 && `, ${since} ${since === 1 ? 'message' : 'messages'} since`}
          </span>
        </>
      ) : (
        <span class="cut">Write a brief</span>
      )}
      <Icon name={open ? 'up' : 'down'} small />
    </button>
  );
}

/** The line on a phone, where the conversation is open, and the opened brief. */
export function BriefBelow({ room, talk }: { room: Room; talk: boolean }) {
  useKeys('Board', [{ keys: 'b', label: 'Brief', run: () => isOffered(room) && show(room) }], [room]);
  useEffect(() => {
    if (openBrief.peek() !== room.name) openBrief.value = null;
  }, [room]);
  return (
    <>
      {talk && <BriefLine room={room} phone />}
      {openBrief.value === room.name && isOffered(room) && (
        <Suspense fallback={<section class="brief" aria-busy="true" />}>
          <BriefPanel room={room} />
        </Suspense>
      )}
    </>
  );
}

/** By key the focus goes along, so that the next key reads on from there. */
function show(room: Room): void {
  toggle(room);
  for (const line of document.querySelectorAll<HTMLElement>('.brf')) line.focus();
}
