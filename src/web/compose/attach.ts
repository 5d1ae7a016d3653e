/** Uploads files and attaches them to a draft. */
import { ClientError } from '../../client/errors.ts';
import { newIdempotencyKey } from '../../client/idempotency.ts';
import { attempt } from '../state/attempts.ts';
import { sendFile, toFileName, type UploadTarget } from '../upload/send.ts';
import { changeDraft, getDraft } from './draft.ts';
import { type Upload, uploads } from './uploads.ts';

export const MAX_FILES = 8;

const change = (id: string, parts: Partial<Upload>): void => {
  uploads.value = uploads.peek().map((upload) => (upload.id === id ? { ...upload, ...parts } : upload));
};

const remove = (id: string): void => {
  uploads.value = uploads.peek().filter((upload) => upload.id !== id);
};

/**
 * Uploads files, one after the other, and attaches each to the draft when it is stored. Returns how many were left out
 * because a message carries no more.
 */
export function attach(board: string, draft: string, files: readonly File[]): number {
  const used = getDraft(draft).peek().files.length + uploads.peek().filter((each) => each.draft === draft).length;
  const free = Math.max(0, MAX_FILES - used);
  for (const file of files.slice(0, free)) {
    const id = newIdempotencyKey();
    const where = { name: nameFor(file) };
    const upload: Upload = { id, board, draft, file, where, sent: 0, error: null, stop: new AbortController() };
    uploads.value = [...uploads.peek(), upload];
    void start(upload);
  }
  return Math.max(0, files.length - free);
}

/** Pasted images are all named `image.png` or similar, so they are named by their time. */
function nameFor({ name, lastModified }: File): string {
  if (!/^image\.\w+$/.test(name)) return toFileName(name);
  const stamp = new Date(lastModified).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
  return `pasted-${stamp}${name.slice(5)}`;
}

async function start({ id, board, draft, file, where, stop }: Upload): Promise<void> {
  try {
    const { signal } = stop;
    const onProgress = (sent: number): void => change(id, { sent });
    const send = (key: string) => sendFile(board, file, where, { key, signal, onProgress });
    // One at a time in a browser: together they would take all of its connections, and one that waits for a connection
    // would look like one of which nothing moves.
    const made = await navigator.locks.request('attach', { signal }, () =>
      attempt(`attach ${id}`, JSON.stringify(where), send),
    );
    const { files } = getDraft(draft).peek();
    changeDraft(draft, { files: [...files, { id: made.id, name: made.name, version: made.latest.version }] });
    remove(id);
  } catch (error) {
    if (!stop.signal.aborted) change(id, { error });
  }
}

/** Cancels an upload, or removes a failed one. */
export function cancel({ id, stop }: Upload): void {
  stop.abort();
  remove(id);
}

/** Uploads again. */
export function retry(upload: Upload, where: UploadTarget = upload.where): void {
  const next = { ...upload, where, sent: 0, error: null };
  change(upload.id, next);
  void start(next);
}

/**
 * The existing file with the same name, if that is why the upload failed.
 */
export function existingFile({ error }: Upload): { version: number; file_id: string } | null {
  if (!(error instanceof ClientError) || !['file_exists', 'file_changed'].includes(error.code)) return null;
  const { version, file_id } = error.details ?? {};
  return typeof version === 'number' && typeof file_id === 'string' ? { version, file_id } : null;
}

/** The next numbered name: `shot.png`, `shot-2.png`, `shot-3.png`. */
export function nextName(name: string): string {
  const [, stem = name, number, ending = ''] = /^(.*?)(?:-(\d{1,4}))?(\.[^.]*)?$/.exec(name) ?? [];
  return `${stem.slice(0, 180)}-${Number(number ?? 1) + 1}${ending}`;
}
