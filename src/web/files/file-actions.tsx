/** What a person does with a file: a new version, another name, away with it. */
import { useRef, useState } from 'preact/hooks';
import type { FileDetail } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { hasCode } from '../api/errors.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Icon } from '../parts/icon.tsx';
import { Menu } from '../parts/menu.tsx';
import { ProblemLine } from '../parts/problem.tsx';
import { copy, toast } from '../parts/toast.tsx';
import type { Room } from '../state/room.ts';
import { go } from '../state/route.ts';
import { refusalOf, sendVersion } from './bytes.ts';
import { Conflict } from './conflict.tsx';
import { useWrite } from './use-write.ts';

interface ActionProps {
  file: FileDetail;
  room: Room;
  changed: () => Promise<void>;
}

export function FileActions(props: ActionProps) {
  const { file, room } = props;
  const [open, setOpen] = useState<'rename' | 'remove' | null>(null);
  const archived = room.board.value?.lifecycle === 'archived';
  const close = (): void => setOpen(null);
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
      {open === 'rename' && <Rename {...props} close={close} />}
      {open === 'remove' && <Remove file={file} room={room} close={close} />}
    </>
  );
}

function NewVersion({ file, room, changed }: ActionProps) {
  const write = useWrite();
  const input = useRef<HTMLInputElement>(null);
  /** The version that was the latest when the person chose their file. */
  const base = useRef(file.latest.version);
  const [chosen, setChosen] = useState<File | null>(null);
  const [refused, setRefused] = useState<string | null>(null);
  const { name, id } = file;

  const send = async (bytes: File, over: number): Promise<void> => {
    setChosen(bytes);
    setRefused(refusalOf(bytes));
    if (refusalOf(bytes) !== null) return;
    const done = await write.run(`${bytes.name} ${bytes.size} ${bytes.lastModified} over ${over}`, (key) =>
      sendVersion({ board: room.name, name, base: over, fileId: id, bytes, key }),
    );
    await changed();
    if (!done) return;
    setChosen(null);
    toast(`Added v${over + 1} of ${name}`);
    go({ screen: 'board', board: room.name, tab: 'files', file: id, version: over + 1, against: over });
  };
  const close = (): void => {
    setChosen(null);
    write.clear();
    input.current?.focus();
  };
  return (
    <>
      <label class={write.busy ? 'b pick busy' : 'b pick'}>
        <input
          ref={input}
          class="vh"
          type="file"
          disabled={write.busy}
          onClick={(event) => {
            base.current = file.latest.version;
            event.currentTarget.value = '';
          }}
          onChange={(event) => {
            const [bytes] = event.currentTarget.files ?? [];
            if (bytes) void send(bytes, base.current);
          }}
        />
        {write.busy ? 'Adding' : 'New version'}
      </label>
      {refused && (
        <p class="problem full" role="alert">
          {refused}
        </p>
      )}
      {chosen && hasCode(write.error, 'file_changed') && (
        <Conflict
          file={file}
          room={room}
          mine={chosen}
          base={base.current}
          close={close}
          put={(over) => void send(chosen, over)}
        />
      )}
      {chosen && write.error !== null && !hasCode(write.error, 'file_changed') && (
        <div class="full">
          <ProblemLine error={write.error}>
            <button type="button" class="b" onClick={() => void send(chosen, base.current)}>
              Try again
            </button>
          </ProblemLine>
        </div>
      )}
    </>
  );
}

function Rename({ file, room, changed, close }: ActionProps & { close: () => void }) {
  const write = useWrite();
  const [name, setName] = useState(file.name);
  const save = async (): Promise<void> => {
    const params = { board: room.name, file: file.id };
    if (
      name !== file.name &&
      !(await write.run(`rename ${name}`, (idempotencyKey) =>
        call('updateFile', { params, body: { name }, idempotencyKey }),
      ))
    )
      return;
    close();
    await changed();
    go({ screen: 'board', board: room.name, tab: 'files', file: name }, { replace: true });
  };
  return (
    <Dialog label={`Rename ${file.name}`} class="fdlg" close={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <h2>Rename {file.name}</h2>
        <label>
          New name
          <input class="in mono" value={name} maxLength={200} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <p class="q2">Versions and approvals stay with it. Messages that cite it keep the name they had.</p>
        {write.error !== null && <ProblemLine error={write.error} />}
        <div class="row">
          <button type="submit" class="b pri" disabled={write.busy || name.trim() === ''}>
            Rename
          </button>
          <button type="button" class="b" onClick={close}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Remove({ file, room, close }: { file: FileDetail; room: Room; close: () => void }) {
  const write = useWrite();
  const remove = async (): Promise<void> => {
    const base = file.latest.version;
    const done = await write.run(`remove ${base}`, (idempotencyKey) =>
      call('removeFile', { params: { board: room.name, file: file.id }, query: { base }, idempotencyKey }),
    );
    if (!done) return;
    close();
    toast(`Removed ${file.name}`);
    go({ screen: 'board', board: room.name, tab: 'files' });
  };
  return (
    <Dialog label={`Remove ${file.name}`} class="fdlg" close={close}>
      <h2>Remove {file.name} from the board?</h2>
      <p class="q2">
        It leaves the list, and its name is free. Its versions stay readable where messages and the record cite them.
      </p>
      {write.error !== null && <ProblemLine error={write.error} />}
      <div class="row">
        <button type="button" class="b bad" disabled={write.busy} onClick={() => void remove()}>
          Remove v{file.latest.version}
        </button>
        <button type="button" class="b" onClick={close}>
          Keep it
        </button>
      </div>
    </Dialog>
  );
}
