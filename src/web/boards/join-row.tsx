/** An open board that the person is not on, with the button that joins it. */
import type { Board } from '../../contract/types.ts';
import { ProblemLine } from '../parts/problem.tsx';
import { useAction } from '../state/action.ts';
import { joinBoard, readBoards } from '../state/boards.ts';
import { navigate } from '../state/route.ts';
import { memberCounts } from './row.tsx';

export function JoinRow({ board }: { board: Board }) {
  const { name, title } = board;
  const action = useAction();
  const join = async (): Promise<void> => {
    const done = await action.run(() => joinBoard(name));
    if (!done) return;
    void readBoards();
    navigate({ screen: 'board', board: name, tab: 'talk' });
  };
  return (
    <li>
      <div class="brow">
        <span class="bt">
          <b>{title ?? name}</b>
          <span class="q2 cut">{memberCounts(board)}</span>
        </span>
        <button
          type="button"
          class="b"
          aria-label={`Join ${title ?? name}`}
          aria-disabled={action.busy || undefined}
          onClick={() => void join()}
        >
          Join
        </button>
      </div>
      <ProblemLine error={action.error} />
    </li>
  );
}
