/** The dialog for an upload that conflicts with a newer version: keep theirs, add mine, or add mine as another file. */
import { Suspense } from 'preact/compat';
import { useEffect, useState } from 'preact/hooks';
import type { FileDetail } from '../../contract/types.ts';
import { decodeText, MAX_TEXT_BYTES, readText } from '../api/bytes.ts';
import { Dialog } from '../parts/dialog.tsx';
import { lazy } from '../parts/lazy.ts';
import { ProblemLine } from '../parts/problem.tsx';
import { agoPhrase } from '../parts/time.tsx';
import { useAction } from '../state/action.ts';
import type { Room } from '../state/room.ts';
import { navigate } from '../state/route.ts';
import { sendOnce } from '../upload/send.ts';
import { isText } from './kind.ts';

const DiffTable = lazy(() => import('./diff-table.tsx'));

interface ConflictProps {
  file: FileDetail;
  room: Room;
  /** The file that the person wanted to upload. */
  mine: File;
  /** The version that it was based on. */
  base: number;
  onClose: () => void;
  /** Uploads the person's file as the version after this one. */
  onAddAfter: (over: number) => void;
}

/** Suggests another name: "notes/api-mine.md". */
const alternativeName = (name: string): string => name.replace(/(\.[^./]+)?$/, (end) => `-mine${end}`);

export function Conflict({ file, room, mine, base, onClose, onAddAfter }: ConflictProps) {
  const action = useAction();
  const [name, setName] = useState(alternativeName(file.name));
  const [texts, setTexts] = useState<[string, string] | null>(null);
  const { latest } = file;
  const comparable = isText(latest.media_type) && latest.size <= MAX_TEXT_BYTES && mine.size <= MAX_TEXT_BYTES;
  useEffect(() => {
    if (!comparable) return;
    const theirs = readText({ board: room.name, file: file.id, version: latest.version });
    const ours = mine.arrayBuffer().then((bytes) => decodeText(new Uint8Array(bytes)));
    Promise.all([theirs, ours]).then(setTexts, () => setTexts(null));
  }, [latest.version, mine]);
  const addBeside = async (): Promise<void> => {
    const done = await action.run(() => sendOnce(room.name, mine, { name, base: 0 }));
    if (!done) return;
    onClose();
    navigate({ screen: 'board', board: room.name, tab: 'files', file: name });
  };
  return (
    <Dialog label="The file changed meanwhile" class="fdlg" onClose={onClose}>
      <h2>{file.name} changed while you chose yours</h2>
      <p>
        {latest.by.name} added v{latest.version} {agoPhrase(latest.at)}. Yours was made after v{base}. Nothing is lost
        yet: choose how it goes on.
      </p>
      <div class="ways">
        <button type="button" class="b" onClick={onClose}>
          Keep v{latest.version}, leave mine out
        </button>
        <button type="button" class="b" onClick={() => onAddAfter(latest.version)}>
          Add mine as v{latest.version + 1}
        </button>
        <span class="row beside">
          <button type="button" class="b" aria-disabled={action.busy} onClick={() => void addBeside()}>
            Add mine as another file
          </button>
          <input
            class="in mono"
            aria-label="Name of the other file"
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </span>
      </div>
      <ProblemLine error={action.error} />
      {texts && (
        <Suspense fallback={null}>
          <DiffTable
            before={texts[0]}
            after={texts[1]}
            name={file.name}
            heads={[`v${latest.version}, ${latest.by.name}`, 'yours']}
          />
        </Suspense>
      )}
    </Dialog>
  );
}
