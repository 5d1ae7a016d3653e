/** Adds a file to the board. */
import { toast } from '../parts/toast.tsx';
import type { Room } from '../state/room.ts';
import { navigate } from '../state/route.ts';
import { briefOf } from './kind.ts';
import { UploadButton, useUpload } from './upload-button.tsx';

/** A name the server takes, as near as possible to that of the person's own file. */
const nameOf = (file: File): string => file.name.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replace(/^[.-]+/, '') || 'file';

export function NewFile({ room }: { room: Room }) {
  const upload = useUpload(room.name);
  const add = async (bytes: File): Promise<void> => {
    const name = nameOf(bytes);
    if (!(await upload.send(bytes, { name, base: 0, ...briefOf(name) }))) return;
    toast(`Added ${name}`);
    navigate({ screen: 'board', board: room.name, tab: 'files', file: name });
  };
  return <UploadButton label="Add a file" upload={upload} take={(bytes) => void add(bytes)} />;
}
