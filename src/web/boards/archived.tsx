/** The list of archived boards, loaded when it is opened. */
import { useRef, useState } from 'preact/hooks';
import type { Board } from '../../contract/types.ts';
import { announce } from '../parts/announce.tsx';
import { plural } from '../parts/number.ts';
import { ProblemLine } from '../parts/problem.tsx';
import { Time } from '../parts/time.tsx';
import { useAction } from '../state/action.ts';
import { write } from '../state/attempts.ts';
import { archived, readArchived, readBoards } from '../state/boards.ts';
import { useLoad } from '../state/load.ts';
import { hrefOf } from '../state/route.ts';

export function Archived({ count, filter }: { count: number; filter: string }) {
  const [open, setOpen] = useState(false);
  const { error, reload } = useLoad(async () => void (open && (await readArchived())), [], [open, count]);
  const button = useRef<HTMLButtonElement>(null);
  const list = (archived.value ?? []).filter(({ name, title }) =>
    `${name} ${title ?? ''}`.toLowerCase().includes(filter.trim().toLowerCase()),
  );
  return (
    <section class="part">
      <button type="button" class="q2 fold" ref={button} aria-expanded={open} onClick={() => setOpen(!open)}>
        {plural(count, 'archived board')}
      </button>
      <ProblemLine error={error} onRetry={reload} />
      {open && (
        <ul class="list" aria-label="Archived boards">
          {list.map((board) => (
            <ArchivedRow key={board.name} board={board} onRestored={() => button.current?.focus()} />
          ))}
        </ul>
      )}
    </section>
  );
}

function ArchivedRow({ board, onRestored }: { board: Board; onRestored: () => void }) {
  const { name, title, can_restore, last_message_at } = board;
  const action = useAction();
  const restore = async (): Promise<void> => {
    const done = await action.run(() => write('restoreBoard', { params: { board: name } }));
    if (!done) return;
    announce(`Restored ${title ?? name}`);
    await Promise.all([readBoards(), readArchived()]);
    onRestored();
  };
  return (
    <li>
      <div class="brow">
        <span class="bt">
          <a href={hrefOf({ screen: 'board', board: name, tab: 'talk' })}>
            <b>{title ?? name}</b>
          </a>
          <span class="q2 cut">
            {last_message_at ? (
              <>
                last message <Time at={last_message_at} words />
              </>
            ) : (
              'nothing was said'
            )}
          </span>
        </span>
        {can_restore && (
          <button
            type="button"
            class="b"
            aria-label={`Restore ${title ?? name}`}
            aria-disabled={action.busy || undefined}
            onClick={() => void restore()}
          >
            Restore
          </button>
        )}
      </div>
      <ProblemLine error={action.error} />
    </li>
  );
}
