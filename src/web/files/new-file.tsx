/** Adds a file to the board. */
import { useState } from 'preact/hooks';
import { ProblemLine } from '../parts/problem.tsx';
import { toast } from '../parts/toast.tsx';
import type { Room } from '../state/room.ts';
import { go } from '../state/route.ts';
import { refusalOf, sendVersion } from './bytes.ts';
import { useWrite } from './use-write.ts';

/** A name the server takes, as near as possible to that of the person's own file. */
const nameOf = (file: File): string => file.name.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replace(/^[.-]+/, '') || 'file';

export function NewFile({ room }: { room: Room }) {
  const write = useWrite();
  const [refused, setRefused] = useState<string | null>(null);
  const add = async (bytes: File): Promise<void> => {
    setRefused(refusalOf(bytes));
    if (refusalOf(bytes) !== null) return;
    const name = nameOf(bytes);
    const done = await write.run(`${name} ${bytes.size} ${bytes.lastModified}`, (key) =>
      sendVersion({ board: room.name, name, base: 0, bytes, key }),
    );
    if (!done) return;
    toast(`Added ${name}`);
    go({ screen: 'board', board: room.name, tab: 'files', file: name });
  };
  return (
    <>
      <label class={write.busy ? 'b pick busy' : 'b pick'}>
        <input
          class="vh"
          type="file"
          disabled={write.busy}
          onClick={(event) => {
            event.currentTarget.value = '';
          }}
          onChange={(event) => {
            const [bytes] = event.currentTarget.files ?? [];
            if (bytes) void add(bytes);
          }}
        />
        {write.busy ? 'Adding' : 'Add a file'}
      </label>
      {(refused !== null || write.error !== null) && (
        <div class="full">{refused ? <p role="alert">{refused}</p> : <ProblemLine error={write.error} />}</div>
      )}
    </>
  );
}
