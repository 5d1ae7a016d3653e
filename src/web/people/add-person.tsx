/** The form that adds a person of the server to the board. */
import type { BoardPerson } from '../../contract/types.ts';
import { readAll } from '../api/client.ts';
import { Command, serverCommand } from '../parts/command.tsx';
import { FormDialog, TextField } from '../parts/form.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../state/action.ts';
import { write } from '../state/attempts.ts';
import { useLoad } from '../state/load.ts';
import type { Room } from '../state/room.ts';
import { useStored } from '../state/storage.ts';

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
  const action = useAction();
  const send = (): void => {
    const named = handle.trim().replace(/^@/, '');
    void action.run(async () => {
      const body = { handle: named };
      await write('addBoardPerson', { params: { board: room.name }, body }, [room.name, named]);
      toast(`Added ${named}`);
      onChange();
      close();
    });
  };
  return (
    <FormDialog
      title="Add a person"
      write={action}
      action="Add"
      canSubmit={handle.trim() !== ''}
      onSubmit={send}
      onClose={onClose}
      onCancel={close}
    >
      <TextField label="Handle" required list="people-to-add" autocomplete="off" value={handle} onInput={setHandle} />
      <datalist id="people-to-add">
        {handles.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {handles.length > 0 && (
        <p class="q2">
          Not here yet: {handles.slice(0, 8).join(', ')}
          {handles.length > 8 ? ' and others' : ''}.
        </p>
      )}
      <p class="q2">Someone without an account comes by a link. This makes one, for this board and the server:</p>
      <Command line={serverCommand('invite', 'create', '--board', room.name)} />
      <p class="q2">A guest code lets them onto this board only.</p>
    </FormDialog>
  );
}
