/** The files that are on their way; what moves them is loaded with the first one. */
import { signal } from '@preact/signals';
import type { Where } from '../upload/send.ts';

export interface Upload {
  id: string;
  key: string;
  board: string;
  /** The draft it belongs to. */
  draft: string;
  file: File;
  where: Where;
  sent: number;
  /** Why it stopped; null: it is on its way. */
  error: unknown;
  stop: AbortController;
}

export const uploads = signal<readonly Upload[]>([]);
