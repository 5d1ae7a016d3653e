/** The form for a new task. */
import { useState } from 'preact/hooks';
import type { Task } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { FormDialog } from '../parts/form.tsx';
import type { Room } from '../state/room.ts';
import { useWrite } from '../state/write.ts';

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
  const [title, setTitle] = useState('');
  const [about, setAbout] = useState('');
  const [start, setStart] = useState(false);
  const write = useWrite();
  const send = (): void =>
    void write.run('create', async (key) => {
      const body = { title, start, ...(about.trim() ? { about } : {}) };
      onCreated(await call('createTask', { params: { board: room.name }, body, idempotencyKey: key }));
    });
  return (
    <FormDialog title="New task" write={write} action="Open the task" onSubmit={send} onClose={onClose}>
      <label>
        Title
        <input
          class="in"
          required
          maxLength={MAX_TITLE}
          value={title}
          onInput={(event) => setTitle(event.currentTarget.value)}
        />
      </label>
      <label>
        <span>
          What and why <span class="q">Markdown, may be left out</span>
        </span>
        <textarea
          class="in"
          rows={5}
          maxLength={MAX_ABOUT}
          value={about}
          onInput={(event) => setAbout(event.currentTarget.value)}
        />
      </label>
      <label class="check">
        <input type="checkbox" checked={start} onChange={(event) => setStart(event.currentTarget.checked)} />
        Start it myself
      </label>
    </FormDialog>
  );
}
