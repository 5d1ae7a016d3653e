/** Files on their way to the board, to be attached to the message that is being written. */
import { ClientError } from '../../client/errors.ts';
import { newIdempotencyKey } from '../../client/idempotency.ts';
import { sendFile, type Where } from '../upload/send.ts';
import { changeDraft, draftNamed } from './draft.ts';
import { type Upload, uploads } from './uploads.ts';

/** The most files that one message has. */
const MOST_FILES = 8;

const change = (id: string, parts: Partial<Upload>): void => {
  uploads.value = uploads.peek().map((upload) => (upload.id === id ? { ...upload, ...parts } : upload));
};

const remove = (id: string): void => {
  uploads.value = uploads.peek().filter((upload) => upload.id !== id);
};

/** Sends files to the board and attaches them to a draft as they arrive. */
export function attach(board: string, draft: string, files: readonly File[]): void {
  const room =
    MOST_FILES - draftNamed(draft).peek().files.length - uploads.peek().filter((each) => each.draft === draft).length;
  for (const file of files.slice(0, Math.max(0, room))) {
    const id = newIdempotencyKey();
    const where = { name: pathOf(file) };
    const upload: Upload = {
      id,
      key: id,
      board,
      draft,
      file,
      where,
      sent: 0,
      error: null,
      stop: new AbortController(),
    };
    uploads.value = [...uploads.peek(), upload];
    void start(upload);
  }
}

/** The name that a file gets on the board: its own, of the characters that a path may have. */
function pathOf({ name, lastModified }: File): string {
  // What is pasted has no name of its own.
  if (/^image\.\w+$/.test(name)) {
    const stamp = new Date(lastModified).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
    return `pasted-${stamp}${name.slice(5)}`;
  }
  const plain = name
    .normalize('NFKD')
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '');
  return plain.slice(-200).replace(/^[^A-Za-z0-9]+/, '') || 'file';
}

async function start({ id, key, board, draft, file, where, stop }: Upload): Promise<void> {
  try {
    const made = await sendFile(board, file, where, {
      key,
      signal: stop.signal,
      progress: (sent) => change(id, { sent }),
    });
    const { files } = draftNamed(draft).peek();
    changeDraft(draft, { files: [...files, { id: made.id, name: made.name, version: made.latest.version }] });
    remove(id);
  } catch (error) {
    if (!stop.signal.aborted) change(id, { error });
  }
}

/** Stops an upload, or forgets one that failed. */
export function cancel({ id, stop }: Upload): void {
  stop.abort();
  remove(id);
}

/** Sends it again: under the same key while nobody knows whether it arrived. */
export function again(upload: Upload, where: Where = upload.where): void {
  const refused = upload.error instanceof ClientError && upload.error.status !== undefined;
  const next = { ...upload, where, sent: 0, error: null, key: refused ? newIdempotencyKey() : upload.key };
  change(upload.id, next);
  void start(next);
}

/**
 * What the server says of the file that already has the name of an upload; null: the upload stopped for another reason.
 */
export function taken({ error }: Upload): { version: number; file_id: string } | null {
  if (!(error instanceof ClientError) || !['file_exists', 'file_changed'].includes(error.code)) return null;
  const { version, file_id } = error.details ?? {};
  return typeof version === 'number' && typeof file_id === 'string' ? { version, file_id } : null;
}

/** The same name with a number: `shot.png`, `shot-2.png`, `shot-3.png`. */
export function nextName(name: string): string {
  const [, stem = name, number, ending = ''] = /^(.*?)(?:-(\d{1,4}))?(\.[^.]*)?$/.exec(name) ?? [];
  return `${stem.slice(0, 180)}-${Number(number ?? 1) + 1}${ending}`;
}
