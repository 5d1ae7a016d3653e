/** The button that adds a file to the board. */
import { toast } from '../parts/toast.tsx';
import type { Room } from '../state/room.ts';
import { navigate, place } from '../state/route.ts';
import { toFileName } from '../upload/send.ts';
import { briefOption } from './kind.ts';
import { UploadButton, useUpload } from './upload-button.tsx';

export function NewFile({ room }: { room: Room }) {
  const upload = useUpload(room.name);
  const add = async (bytes: File): Promise<void> => {
    const name = toFileName(bytes.name);
    const here = place.peek();
    if (!(await upload.send(bytes, { name, base: 0, ...briefOption(name) }))) return;
    toast(`Added ${name}`);
    // A person who has gone on to something else is left there.
    if (place.peek() === here) navigate({ screen: 'board', board: room.name, tab: 'files', file: name });
  };
  return <UploadButton label="Add a file" upload={upload} onFile={(bytes) => void add(bytes)} />;
}
