/** Below the conversation: unsent messages and the message box, or why there is none. */
import { Suspense } from 'preact/compat';
import { session } from '../api/session.ts';
import { lazy } from '../parts/lazy.ts';
import { replyTarget } from '../state/reply.ts';
import type { Room } from '../state/room.ts';
import { unsentName } from '../state/storage.ts';
import { Box } from './box.tsx';
import { getDraft } from './draft.ts';
import { openOutbox } from './outbox.ts';
import { Outbox } from './outbox-list.tsx';
import { rememberReply, threadOf } from './thread.ts';
import './compose.css';

const Archived = lazy(() => import('./closed.tsx').then((module) => ({ default: module.Archived })));

export function Composer({ room }: { room: Room }) {
  const board = room.board.value;
  const person = session.value?.person.id;
  if (!board || person === undefined) return null;
  openOutbox(unsentName(person, board.id));
  const target = replyTarget.value?.board === room.name ? replyTarget.value : null;
  const draftOf = (thread: string): string => `draft:${person}:${board.id}:${thread}`;
  rememberReply(`thread:${person}:${board.id}`, room.name, draftOf);
  const name = draftOf(target ? threadOf(target) : 'new');
  return (
    <div class="composer">
      <Outbox room={room} />
      {board.lifecycle === 'archived' ? (
        <Suspense fallback={null}>
          <Archived board={board} room={room} draft={getDraft(name).value.text} />
        </Suspense>
      ) : (
        <Box name={name} room={room} board={board} target={target} />
      )}
    </div>
  );
}
