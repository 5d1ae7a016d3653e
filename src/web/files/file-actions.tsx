/** The actions of a file: new version, rename, remove. */
import { useRef, useState } from 'preact/hooks';
import type { FileDetail } from '../../contract/types.ts';
import { hasCode } from '../api/errors.ts';
import { Confirm } from '../parts/confirm.tsx';
import { FormDialog, TextField } from '../parts/form.tsx';
import { Icon } from '../parts/icon.tsx';
import { Menu } from '../parts/menu.tsx';
import { copy, toast } from '../parts/toast.tsx';
import { useAction } from '../state/action.ts';
import { write } from '../state/attempts.ts';
import type { Room } from '../state/room.ts';
import { navigate, place } from '../state/route.ts';
import { useStored } from '../state/storage.ts';
import { Conflict } from './conflict.tsx';
import { briefOption } from './kind.ts';
import { UploadButton, useUpload } from './upload-button.tsx';

interface ActionProps {
  file: FileDetail;
  /** The version that the person saw last, which a new one replaces. */
  base: number;
  room: Room;
  onChange: () => Promise<void>;
}

export function FileActions(props: ActionProps) {
  const { file, room } = props;
  const [open, setOpen] = useState<'rename' | 'remove' | null>(null);
  const archived = room.board.value?.lifecycle === 'archived';
  const onClose = (): void => setOpen(null);
  return (
    <>
      {!archived && <NewVersion {...props} />}
      <Menu button={<Icon name="dots" />} label="More">
        <button type="button" role="menuitem" onClick={() => void copy(location.href, 'the address')}>
          <Icon name="link" />
          Copy its address
        </button>
        {!archived && (
          <button type="button" role="menuitem" onClick={() => setOpen('rename')}>
            <Icon name="file" />
            Rename
          </button>
        )}
        {!archived && (
          <button type="button" role="menuitem" onClick={() => setOpen('remove')}>
            <Icon name="x" />
            Remove
          </button>
        )}
      </Menu>
      {open === 'rename' && <Rename {...props} onClose={onClose} />}
      {open === 'remove' && <Remove file={file} room={room} close={onClose} />}
    </>
  );
}

function NewVersion({ file, base: seen, room, onChange }: ActionProps) {
  const upload = useUpload(room.name);
  /** The version that was seen when the person opened the file chooser. */
  const base = useRef(seen);
  const { name, id } = file;
  const send = async (bytes: File, over: number): Promise<void> => {
    const here = place.peek();
    const done = await upload.send(bytes, { name, base: over, file_id: id, ...briefOption(name) });
    await onChange();
    if (!done) return;
    toast(`Added v${over + 1} of ${name}`);
    if (place.peek() === here)
      navigate({ screen: 'board', board: room.name, tab: 'files', file: id, version: over + 1, against: over });
  };
  const conflict = hasCode(upload.error, 'file_changed') ? upload.bytes : null;
  return (
    <>
      <UploadButton
        label="New version"
        upload={upload}
        onOpen={() => {
          base.current = seen;
        }}
        onFile={(bytes) => void send(bytes, base.current)}
        hideError={conflict !== null}
      />
      {conflict && (
        <Conflict
          file={file}
          room={room}
          mine={conflict}
          base={base.current}
          onClose={upload.cancel}
          onAddAfter={(over) => void send(conflict, over)}
        />
      )}
    </>
  );
}

function Rename({ file, room, onChange, onClose }: ActionProps & { onClose: () => void }) {
  const action = useAction();
  const [name, setName, close] = useStored(`rename:${file.id}`, file.name, onClose);
  const save = async (): Promise<void> => {
    const params = { board: room.name, file: file.id };
    if (name !== file.name && !(await action.run(() => write('updateFile', { params, body: { name } })))) return;
    close();
    await onChange();
    navigate({ screen: 'board', board: room.name, tab: 'files', file: name }, { replace: true });
  };
  return (
    <FormDialog
      title={`Rename ${file.name}`}
      write={action}
      action="Rename"
      onSubmit={() => void save()}
      onClose={onClose}
      onCancel={close}
    >
      <TextField label="New name" class="in mono" required value={name} maxLength={200} onInput={setName} />
      <p class="q2">Versions and approvals stay with it. Messages that cite it keep the name they had.</p>
    </FormDialog>
  );
}

function Remove({ file, room, close }: { file: FileDetail; room: Room; close: () => void }) {
  const { id, name, latest } = file;
  const remove = async (): Promise<void> => {
    await write('removeFile', { params: { board: room.name, file: id }, query: { base: latest.version } });
    toast(`Removed ${name}`);
    navigate({ screen: 'board', board: room.name, tab: 'files' });
  };
  return (
    <Confirm
      title={`Remove ${name} from the board?`}
      action={`Remove v${latest.version}`}
      onConfirm={remove}
      onClose={close}
    >
      <p class="q2">
        It leaves the list, and its name is free. Its versions stay readable where messages and the record cite them.
      </p>
    </Confirm>
  );
}
