/** The panel of one task, beside the list. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Actor, Task } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { Icon, IconButton, taskIcons } from '../parts/icon.tsx';
import { ProblemLine } from '../parts/problem.tsx';
import { formatExact, Time } from '../parts/time.tsx';
import { copy } from '../parts/toast.tsx';
import { Glyph } from '../parts/who.tsx';
import { useStanding } from '../state/keys.ts';
import { type Load, useLoad } from '../state/load.ts';
import type { Room } from '../state/room.ts';
import { hrefOf } from '../state/route.ts';
import { useAboutTask } from './about-task.ts';
import { Actions } from './actions.tsx';
import { AskCard } from './ask-card.tsx';
import { History } from './history.tsx';
import { MessagesAbout } from './messages-about.tsx';
import type { TaskBoard } from './task-board.ts';
import type { TaskLog } from './task-log.ts';
import { TextSection } from './text-section.tsx';

interface PanelProps {
  /** The reference, id or number of the task in the address. */
  selector: string;
  board: TaskBoard;
  log: TaskLog;
  room: Room;
  onClose: () => void;
}

function StateWord({ task }: { task: Task }) {
  if (task.blocked)
    return (
      <span class="st bad">
        <Icon name="block" small />
        blocked
      </span>
    );
  return (
    <span class={task.state === 'done' ? 'st ok' : 'st'}>
      <Icon name={taskIcons[task.state]} small />
      {task.state.replace('_', ' ')}
    </span>
  );
}

/** Finds the task in the list, or loads it. */
function useTask({ selector, board, room }: PanelProps): Pick<Load<void>, 'error' | 'reload'> & { task?: Task } {
  const named = selector.toUpperCase();
  const all = board.tasks.value;
  const task =
    all && [...all.values()].find(({ ref, id, number }) => [ref, id.toUpperCase(), String(number)].includes(named));
  const missing = all !== null && task === undefined;
  const read = async (): Promise<void> => {
    if (missing) board.setTask(await call('getTask', { params: { board: room.name, task: selector } }));
  };
  const { error, reload } = useLoad(read, [missing, selector]);
  return { task: task || undefined, error: missing ? error : null, reload };
}

/** On a phone the panel covers the page. */
const narrow = matchMedia('(max-width: 820px)');

/**
 * Whether the panel is modal. Then everything beside it is inert, except the live regions.
 */
function useModal(): boolean {
  const [isModal, setCovers] = useState(narrow.matches);
  useEffect(() => {
    const look = (): void => setCovers(narrow.matches);
    narrow.addEventListener('change', look);
    return () => narrow.removeEventListener('change', look);
  }, []);
  useEffect(() => {
    if (!isModal) return;
    const beside = [...document.querySelectorAll<HTMLElement>('.skip, .hd, .ban')];
    for (const element of beside) element.inert = true;
    return () => {
      for (const element of beside) element.inert = false;
    };
  }, [isModal]);
  return isModal;
}

export function TaskPanel(props: PanelProps) {
  const { selector, onClose } = props;
  const { task, error, reload } = useTask(props);
  const panel = useRef<HTMLDivElement>(null);
  const covers = useModal();
  const named = {
    ...(covers ? { role: 'dialog' as const, 'aria-modal': true } : { role: 'complementary' as const }),
    'aria-label': task ? `${task.ref} ${task.title}` : selector,
  };
  // An effect that ran after the next paint would take the focus from where the person has moved it by then.
  useLayoutEffect(() => panel.current?.focus(), []);
  return (
    <div ref={panel} class="panel inorder" tabIndex={-1} {...named}>
      <div class="row ph">
        <span class="ref">{task?.ref ?? selector}</span>
        {task && <StateWord task={task} />}
        <span class="sp" />
        {task && (
          <IconButton
            icon="link"
            label="Copy the link"
            onClick={() =>
              void copy(
                location.origin + hrefOf({ screen: 'board', board: task.board, tab: 'tasks', task: task.ref }),
                'the link',
              )
            }
          />
        )}
        <IconButton icon="x" label="Close the task" onClick={onClose} />
      </div>
      <ProblemLine error={error} onRetry={reload} />
      {task && <Body {...props} task={task} />}
    </div>
  );
}

function Body({ task, board, log, room }: PanelProps & { task: Task }) {
  const about = useAboutTask(room, task.id);
  const writable = room.board.value?.lifecycle === 'active';
  const editable = writable && task.closed_at === null;
  const open = about.asks.filter(({ ask }) => ask?.state === 'open' || (ask?.state === 'went_with' && ask.can_answer));
  const first = open.find(({ ask }) => ask?.can_answer)?.id;
  const isStanding = useStanding(first);
  const changed = (next: Task): void => board.setTask(next);
  const stateOf = (actor: Actor) => room.members.value.find(({ id }) => id === actor.id)?.state ?? 'disconnected';
  return (
    <>
      <h2 class="title">{task.title}</h2>
      <div class="row w q2 whose">
        {task.owner && (
          <span class="row">
            <Glyph who={{ ...task.owner, state: stateOf(task.owner) }} size={20} />
            <span>
              <span class={task.owner.kind === 'agent' ? 'mono ink' : 'ink'}>{task.owner.name}</span>{' '}
              {task.closed_at ? 'had it' : room.isMe(task.owner) ? '(you) have it' : 'owns it'}
            </span>
          </span>
        )}
        {!task.owner && !task.closed_at && <span>nobody has it yet</span>}
        {task.stale_since && <span title={formatExact(task.stale_since)}>but is gone: the task may be taken over</span>}
        {task.with.map((helper) => (
          <span class="row" key={helper.id}>
            <Glyph who={{ ...helper, state: stateOf(helper) }} size={20} />
            <span>
              {helper.name} {room.isMe(helper) ? '(you) help' : 'helps'}
            </span>
          </span>
        ))}
        <span class="q" title={formatExact(task.opened_at)}>
          opened by {task.opened_by.name}, <Time at={task.opened_at} relative />
        </span>
      </div>
      {about.loading && <div aria-busy="true" />}
      {open.map((message) => (
        <AskCard
          key={message.id}
          message={message}
          keys={message.id === first && isStanding}
          onAnswered={about.refresh}
        />
      ))}
      {task.closed_note && (
        <section class="ps" aria-label="How it ended">
          <h3>{task.state === 'done' ? 'Done' : 'Cancelled'}</h3>
          <p class="x">{task.closed_note}</p>
        </section>
      )}
      <TextSection task={task} field="stands" writable={editable} onChange={changed} />
      <TextSection task={task} field="about" writable={editable} onChange={changed} />
      {about.files.length > 0 && (
        <section class="ps" aria-labelledby="task-files">
          <h3 id="task-files">Files</h3>
          <div class="row w">
            {about.files.map(({ id, name, latest }) => (
              <a class="chip" key={id} href={hrefOf({ screen: 'board', board: room.name, tab: 'files', file: name })}>
                <Icon name="file" small />
                <span class="mono cut">{name}</span>
                <span class="nw">v{latest.version}</span>
              </a>
            ))}
          </div>
        </section>
      )}
      <MessagesAbout task={task} about={about} room={room} writable={writable} />
      <History task={task} asks={about.asks} log={log} room={room} />
      <ProblemLine error={about.error} onRetry={about.refresh} />
      {editable && <Actions task={task} room={room} onChange={changed} />}
    </>
  );
}
