/** An open board that the person is not on, with the button that joins it. */
import type { Board } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { hasCode } from '../api/errors.ts';
import { session } from '../api/session.ts';
import { ProblemLine } from '../parts/problem.tsx';
import { readBoards } from '../state/boards.ts';
import { navigate } from '../state/route.ts';
import { useWrite } from '../state/write.ts';
import { memberCounts } from './row.tsx';

export function JoinRow({ board }: { board: Board }) {
  const { name, title } = board;
  const write = useWrite();
  const join = async (): Promise<void> => {
    const handle = session.peek()?.person.handle ?? '';
    const done = await write.run(`join ${name}`, (idempotencyKey) =>
      call('addBoardPerson', { params: { board: name }, body: { handle }, idempotencyKey }).catch((error) => {
        // It was joined in another window.
        if (!hasCode(error, 'already_on_board')) throw error;
      }),
    );
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
          aria-disabled={write.busy || undefined}
          onClick={() => void join()}
        >
          Join
        </button>
      </div>
      <ProblemLine error={write.error} />
    </li>
  );
}
