/** The form for a new task. */
import type { Task } from '../../contract/types.ts';
import { FormDialog, TextField } from '../parts/form.tsx';
import { useAction } from '../state/action.ts';
import { write } from '../state/attempts.ts';
import type { Room } from '../state/room.ts';
import { useStored } from '../state/storage.ts';

const MAX_TITLE = 120;
const MAX_ABOUT = 4_000;

export function NewTask({
  room,
  onClose,
  onCreated,
}: {
  room: Room;
  onClose: () => void;
  onCreated: (task: Task) => void;
}) {
  const [draft, setDraft, drop] = useStored(`new-task:${room.name}`, { title: '', about: '', start: false });
  const { title, about, start } = draft;
  const action = useAction();
  const cancel = (): void => {
    drop();
    onClose();
  };
  const send = (): void =>
    void action.run(async () => {
      const body = { title, start, ...(about.trim() ? { about } : {}) };
      const task = await write('createTask', { params: { board: room.name }, body });
      drop();
      onCreated(task);
    });
  return (
    <FormDialog
      title="New task"
      write={action}
      action="Open the task"
      onSubmit={send}
      onClose={onClose}
      onCancel={cancel}
    >
      <TextField
        label="Title"
        required
        maxLength={MAX_TITLE}
        value={title}
        onInput={(title) => setDraft({ ...draft, title })}
      />
      <TextField
        label="What and why"
        note="Markdown, may be left out"
        rows={5}
        maxLength={MAX_ABOUT}
        value={about}
        onInput={(about) => setDraft({ ...draft, about })}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={start}
          onChange={(event) => setDraft({ ...draft, start: event.currentTarget.checked })}
        />
        Start it myself
      </label>
    </FormDialog>
  );
}
