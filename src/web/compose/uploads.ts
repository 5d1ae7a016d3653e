/** Running and failed uploads of drafts. Separate from attach.ts, which is loaded on demand. */
import { signal } from '@preact/signals';
import type { UploadTarget } from '../upload/send.ts';

export interface Upload {
  id: string;
  board: string;
  /** The storage name of its draft. */
  draft: string;
  file: File;
  where: UploadTarget;
  sent: number;
  /** Why it failed; null while it runs. */
  error: unknown;
  stop: AbortController;
}

export const uploads = signal<readonly Upload[]>([]);
