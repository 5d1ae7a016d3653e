/** A task in a list. */
import type { Member, Message, Task } from '../../contract/types.ts';
import { Icon } from '../parts/icon.tsx';
import { Glyph, Presence } from '../parts/who.tsx';
import { serverNow } from '../state/clock.ts';
import { hrefOf } from '../state/route.ts';
import { columnOf, columnTitles, type StatusLine, statusLine } from './columns.ts';

function Sub({ line }: { line: StatusLine }) {
  if (line.tone === 'gone') return <Presence state="disconnected" words={line.text} />;
  if (line.tone === 'plain') return <span class="q2">{line.text}</span>;
  return (
    <span class={`st ${line.tone}`}>
      {line.icon && <Icon name={line.icon} small />}
      <span>{line.text}</span>
    </span>
  );
}

export function TaskCard(props: {
  task: Task;
  asks: Message[];
  members: Member[];
  /** Changed its column within the last two seconds. */
  moved: boolean;
  open: boolean;
  /** Shows the column instead of the owner, for lists by agent. */
  showColumn?: boolean;
}) {
  const { task, asks, members, moved, open, showColumn = false } = props;
  const { owner } = task;
  const member = members.find(({ id }) => id === owner?.id);
  const column = columnOf(task);
  const line = statusLine(task, asks, member, serverNow.value);
  return (
    <a
      class={`tc${column === 'needs_you' ? ' mine' : ''}${moved ? ' fresh' : ''}`}
      href={hrefOf({ screen: 'board', board: task.board, tab: 'tasks', task: task.ref })}
      data-ref={task.ref}
      aria-current={open ? 'true' : undefined}
    >
      <span class="tt">{task.title}</span>
      <span class="m2">
        <span class="ref">{task.ref}</span>
        {showColumn && <span class="sp q2">{columnTitles[column].toLowerCase()}</span>}
        {!showColumn && owner && (
          <>
            <Glyph who={{ ...owner, state: member?.state ?? 'disconnected' }} size={20} />
            <span class="cut">{owner.name}</span>
          </>
        )}
        {!showColumn && !owner && column !== 'done' && <span class="q">nobody yet</span>}
      </span>
      {line && (
        <span class="su">
          <Sub line={line} />
        </span>
      )}
    </a>
  );
}
