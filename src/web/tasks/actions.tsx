/**
 * The actions of a task: start, take over, join, drop, retitle, finish and cancel.
 */
import { useState } from 'preact/hooks';
import type { Task } from '../../contract/types.ts';
import { FormDialog, TextField } from '../parts/form.tsx';
import { Icon } from '../parts/icon.tsx';
import { Menu } from '../parts/menu.tsx';
import { ProblemLine } from '../parts/problem.tsx';
import { useAction } from '../state/action.ts';
import { write } from '../state/attempts.ts';
import type { Room } from '../state/room.ts';
import { useStored } from '../state/storage.ts';

const MAX_NOTE = 2_000;
const MAX_TITLE = 120;

type DialogName = 'done' | 'cancel' | 'title';

export function Actions({ task, room, onChange }: { task: Task; room: Room; onChange: (task: Task) => void }) {
  const [dialog, setAsked] = useState<DialogName | null>(null);
  const { busy, error, run } = useAction();
  const params = { board: room.name, task: task.id };
  const takesPart = (task.owner !== null && room.isMe(task.owner)) || task.with.some((actor) => room.isMe(actor));
  const ownsBoard = room.members.value.some((member) => member.access === 'admin' && room.isMe(member));
  const mayTake =
    task.owner !== null &&
    !room.isMe(task.owner) &&
    (ownsBoard || task.stale_since !== undefined || room.isMyAgent(task.owner));
  const others = [...(task.owner ? [task.owner] : []), ...task.with].filter((actor) => !room.isMe(actor));
  const drop = (member?: string): void =>
    void run(async () => onChange(await write('dropTask', { params, body: member === undefined ? {} : { member } })));
  return (
    <div class="pf">
      <ProblemLine error={error} />
      <div class="row w">
        {task.owner === null && (
          <button
            type="button"
            class="b pri"
            aria-disabled={busy}
            onClick={() => void run(async () => onChange(await write('startTask', { params })))}
          >
            Start
          </button>
        )}
        {mayTake && (
          <button
            type="button"
            class={task.stale_since ? 'b pri' : 'b'}
            aria-disabled={busy}
            onClick={() =>
              void run(async () => onChange(await write('startTask', { params, body: { take_over: true } })))
            }
          >
            Take over
          </button>
        )}
        <button type="button" class="b" onClick={() => setAsked('done')}>
          <Icon name="task" />
          Done
        </button>
        {!takesPart && (
          <button
            type="button"
            class="b"
            aria-disabled={busy}
            onClick={() => void run(async () => onChange(await write('joinTask', { params })))}
          >
            Join
          </button>
        )}
        {takesPart && (
          <button type="button" class="b" aria-disabled={busy} onClick={() => drop()}>
            Give it up
          </button>
        )}
        <span class="sp" />
        <Menu button={<Icon name="dots" />} label="More to do with the task" opensUp>
          {others.map((actor) => (
            <button type="button" role="menuitem" key={actor.id} onClick={() => drop(actor.id)}>
              Drop {actor.name}
            </button>
          ))}
          <button type="button" role="menuitem" onClick={() => setAsked('title')}>
            New title
          </button>
          <button type="button" role="menuitem" onClick={() => setAsked('cancel')}>
            Cancel the task
          </button>
        </Menu>
      </div>
      {dialog === 'title' && <Retitle task={task} onClose={() => setAsked(null)} changed={onChange} />}
      {(dialog === 'done' || dialog === 'cancel') && (
        <Finish task={task} cancelled={dialog === 'cancel'} onClose={() => setAsked(null)} changed={onChange} />
      )}
    </div>
  );
}

interface FormProps {
  task: Task;
  onClose: () => void;
  changed: (task: Task) => void;
}

function Finish({ task, cancelled, onClose, changed }: FormProps & { cancelled: boolean }) {
  const [note, setNote, close] = useStored(`finish:${task.id}`, '', onClose);
  const action = useAction();
  const send = (): void => {
    const params = { board: task.board, task: task.id };
    void action.run(async () => {
      const next = await write('finishTask', { params, body: { note, cancelled } });
      close();
      changed(next);
    });
  };
  const title = cancelled ? `Cancel ${task.ref}` : `${task.ref} is done`;
  return (
    <FormDialog
      title={title}
      write={action}
      action={cancelled ? 'Cancel the task' : 'Finish it'}
      cancelLabel="Back"
      canSubmit={note.trim() !== ''}
      onSubmit={send}
      onClose={onClose}
      onCancel={close}
    >
      <TextField
        label={cancelled ? 'Why' : 'What was done'}
        rows={4}
        required
        maxLength={MAX_NOTE}
        value={note}
        onInput={setNote}
      />
      <p class="q2">A task that has ended stays so; what is left becomes a new one.</p>
    </FormDialog>
  );
}

function Retitle({ task, onClose, changed }: FormProps) {
  const [title, setTitle, close] = useStored(`title:${task.id}`, task.title, onClose);
  const action = useAction();
  const send = (): void => {
    const params = { board: task.board, task: task.id };
    void action.run(async () => {
      changed(await write('updateTask', { params, body: { title } }));
      close();
    });
  };
  return (
    <FormDialog
      title={`New title for ${task.ref}`}
      write={action}
      action="Save"
      cancelLabel="Back"
      canSubmit={title.trim() !== ''}
      onSubmit={send}
      onClose={onClose}
      onCancel={close}
    >
      <TextField label="Title" required maxLength={MAX_TITLE} value={title} onInput={setTitle} />
    </FormDialog>
  );
}
