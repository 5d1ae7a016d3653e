/** The start screen: what needs the person, their boards, open boards to join, archived boards. */
import './boards.css';
import { useMemo, useState } from 'preact/hooks';
import type { Board } from '../../contract/types.ts';
import { session } from '../api/session.ts';
import { Icon } from '../parts/icon.tsx';
import { ProblemLine } from '../parts/problem.tsx';
import { archivedCount, boards, boardsError, readBoards } from '../state/boards.ts';
import { needsOnBoard, openAsks } from '../state/needs.ts';
import { openOverlay } from '../state/overlay.ts';
import { Archived } from './archived.tsx';
import { JoinRow } from './join-row.tsx';
import { NeedsSummary } from './needs-summary.tsx';
import { News } from './news.tsx';
import { BoardRow } from './row.tsx';

const matches = ({ name, title }: Board, filter: string): boolean =>
  `${name} ${title ?? ''}`.toLowerCase().includes(filter.trim().toLowerCase());

/** Sorts boards by needs, then by last message. Keeps the order while the screen is open, so that rows do not jump. */
function useStableOrder(list: Board[]): Board[] {
  const names = `${list.map(({ name }) => name).join()} ${openAsks.value !== null}`;
  const order = useMemo(
    () =>
      list
        .toSorted(
          (a, b) =>
            needsOnBoard(b.name).length - needsOnBoard(a.name).length ||
            ((a.last_message_at ?? a.created_at) < (b.last_message_at ?? b.created_at) ? 1 : -1),
        )
        .map(({ name }) => name),
    [names],
  );
  return order.flatMap((name) => list.find((board) => board.name === name) ?? []);
}

export function Boards() {
  const [filter, setWords] = useState('');
  const all = boards.value;
  const guest = session.value?.person.server_role === 'guest';
  const own = useStableOrder((all ?? []).filter((board) => board.on_board));
  const others = (all ?? []).filter((board) => !board.on_board && !guest);
  const shown = own.filter((board) => matches(board, filter));
  return (
    <main class="page" id="main" aria-busy={all === null && boardsError.value === null}>
      <div class="col wide inorder">
        <NeedsSummary guest={guest} />
        {!guest && <News />}
        <ProblemLine error={boardsError.value} onRetry={() => readBoards()} />
        {all && own.length === 0 && <NoBoard guest={guest} />}
        {own.length > 0 && (
          <section class="part" aria-labelledby="your-boards">
            <div class="row w head">
              <h2 id="your-boards">Your boards</h2>
              <span class="sp" />
              <label class="row q2">
                <span class="vh">Filter boards</span>
                <input
                  class="in flt"
                  type="search"
                  placeholder="Filter"
                  value={filter}
                  onInput={(event) => setWords(event.currentTarget.value)}
                />
              </label>
            </div>
            <ul class="list">
              {shown.map((board) => (
                <BoardRow key={board.name} board={board} />
              ))}
            </ul>
            {shown.length === 0 && <p class="q2 none">No board of yours is called so.</p>}
          </section>
        )}
        {others.some((board) => matches(board, filter)) && (
          <section class="part" aria-labelledby="open-boards">
            <h2 id="open-boards">Open to join</h2>
            <ul class="list">
              {others
                .filter((board) => matches(board, filter))
                .map((board) => (
                  <JoinRow key={board.name} board={board} />
                ))}
            </ul>
          </section>
        )}
        {archivedCount.value > 0 && <Archived count={archivedCount.value} filter={filter} />}
      </div>
    </main>
  );
}

/** Shown to a person who is on no board. */
const NoBoard = ({ guest }: { guest: boolean }) => (
  <section class="part">
    <h2>{guest ? 'You are on no board' : 'A board is a room for people and their agents'}</h2>
    {guest ? (
      <p class="q2">
        A guest sees the boards that somebody brought them onto. Ask the person who invited you for a guest code.
      </p>
    ) : (
      <>
        <p class="q2 lead">Make one, bring an agent in, and say what you are up to.</p>
        <button type="button" class="b pri" onClick={() => openOverlay('new-board')}>
          <Icon name="plus" />
          Make your first board
        </button>
      </>
    )}
  </section>
);
