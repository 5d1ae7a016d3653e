/** Replaces the message box on an archived board, and for people who are not on the board. */
import type { Board } from '../../contract/types.ts';
import { Icon } from '../parts/icon.tsx';
import { ProblemLine } from '../parts/problem.tsx';
import { copy } from '../parts/toast.tsx';
import { useAction } from '../state/action.ts';
import { write } from '../state/attempts.ts';
import { joinBoard } from '../state/boards.ts';
import { openRoom, type Room } from '../state/room.ts';
import { summarizeNames } from './audience.ts';
import './closed.css';

/** Who can restore an archived board: "You", "dana or noor". */
export function whoRestores(board: Board, room: Room): string {
  if (board.can_restore) return 'You';
  const able = room.members.value
    .filter(({ kind, name, server_role }) => kind === 'human' && (server_role === 'admin' || isCreator(board, name)))
    .map(({ name }) => name);
  return able.length > 0 ? summarizeNames(able).replace(/ and (?=[^ ]+$)/, ' or ') : 'An admin of the server';
}

/** Says who can restore an archived board. @param draft what the person had begun to write */
export function Archived({ board, room, draft }: { board: Board; room: Room; draft: string }) {
  const { run, error, busy } = useAction();
  return (
    <div class="cmp-none">
      <Icon name="lock" />
      <p class="sp">
        <b>This board is archived.</b> Reading works. {whoRestores(board, room)} can restore it.
        {draft && ' What you had begun to write is kept.'}
      </p>
      {draft && (
        <button type="button" class="b" onClick={() => void copy(draft, 'your draft')}>
          <Icon name="copy" />
          Copy your draft
        </button>
      )}
      {board.can_restore && (
        <button
          type="button"
          class="b"
          aria-disabled={busy}
          onClick={() =>
            void run(async () => {
              await write('restoreBoard', { params: { board: board.name } });
              await room.refresh();
            })
          }
        >
          Restore
        </button>
      )}
      <ProblemLine error={error} />
    </div>
  );
}

const isCreator = ({ created_by }: Board, name: string): boolean => (created_by.owner ?? created_by.name) === name;

/** Shown to a person who sees an open board without being on it. */
export function Join({ room }: { room: Room }) {
  const { run, error, busy } = useAction();
  return (
    <div class="cmp-none">
      <Icon name="people" />
      <p class="sp">
        <b>You are not on this board.</b> It is open: who joins reads everything and may write.
      </p>
      <button
        type="button"
        class="b pri"
        aria-disabled={busy}
        onClick={() =>
          void run(async () => {
            await joinBoard(room.name);
            openRoom(null);
            openRoom(room.name);
          })
        }
      >
        Join {room.name}
      </button>
      <ProblemLine error={error} />
    </div>
  );
}
