/** The brief in one line beside the tabs, on a phone above the conversation; it opens in place. */
import { lazy, Suspense } from 'preact/compat';
import { useEffect, useMemo } from 'preact/hooks';
import { textOfHtml } from '../parts/html-preview.tsx';
import { Icon } from '../parts/icon.tsx';
import { plainText } from '../parts/plain-text.ts';
import { useKeys } from '../state/keys.ts';
import type { Room } from '../state/room.ts';
import { openBrief, useMessagesSince, useText } from './brief.ts';

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
  const words = useMemo(() => (text ? firstWords(text, brief?.name) : ''), [text]);
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

/** The first words below a heading. */
function firstWords(text: string, name: string | undefined): string {
  if (name === 'brief.html') return textOfHtml(text).slice(0, 200);
  const body = text.replace(/^\s*#{1,6} .*$/m, '');
  return plainText(/\S/.test(body) ? body : text).slice(0, 200);
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
