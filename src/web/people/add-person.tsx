/** The form that adds a person of the server to the board. */
import type { BoardPerson } from '../../contract/types.ts';
import { call, readAll } from '../api/client.ts';
import { FormDialog } from '../parts/form.tsx';
import { toast } from '../parts/toast.tsx';
import { useLoad } from '../state/load.ts';
import type { Room } from '../state/room.ts';
import { useStored } from '../state/storage.ts';
import { useWrite } from '../state/write.ts';

interface Props {
  room: Room;
  people: BoardPerson[];
  onClose: () => void;
  onChange: () => void;
}

export function AddPerson({ room, people, onClose, onChange }: Props) {
  const [handle, setHandle, close] = useStored(`add-person:${room.name}`, '', onClose);
  const here = new Set(people.map(({ id }) => id));
  // If loading fails, a handle can still be typed.
  const known = useLoad(() => readAll('listPeople', 'people', { query: { limit: 500 } })).value ?? [];
  const handles = known.flatMap(({ handle, server_role, id }) =>
    server_role === 'guest' || here.has(id) ? [] : [handle],
  );
  const write = useWrite();
  const send = (): void => {
    const named = handle.trim().replace(/^@/, '');
    void write.run(`add ${named}`, async (key) => {
      await call('addBoardPerson', { params: { board: room.name }, body: { handle: named }, idempotencyKey: key });
      toast(`Added ${named}`);
      onChange();
      close();
    });
  };
  return (
    <FormDialog
      title="Add a person"
      write={write}
      action="Add"
      canSubmit={handle.trim() !== ''}
      onSubmit={send}
      onClose={onClose}
      onCancel={close}
    >
      <label>
        Handle
        <input
          class="in"
          required
          list="people-to-add"
          autocomplete="off"
          value={handle}
          onInput={(event) => setHandle(event.currentTarget.value)}
        />
      </label>
      <datalist id="people-to-add">
        {handles.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <p class="q2">
        {handles.length > 0
          ? `Not here yet: ${handles.slice(0, 8).join(', ')}${handles.length > 8 ? ' and others' : ''}.`
          : 'Someone without an account comes by a guest code.'}
      </p>
    </FormDialog>
  );
}
