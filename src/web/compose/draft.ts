/** Drafts of messages, stored in this browser by person, board and thread. */
import { type Signal, signal } from '@preact/signals';
import type { Attempt } from '../state/attempts.ts';
import { listenToStorage, readStored, writeStorage } from '../state/storage.ts';

export interface AskDraft {
  /** The name of the member who is asked; empty until chosen. */
  to: string;
  options: string[];
  /** The index of the option that applies without an answer; null: the asker waits. */
  goingWith: number | null;
  /** Minutes after posting when that option applies. */
  minutes: number;
  /** The reference of the task it is about, or empty. */
  task: string;
}

interface AttachedFile {
  id: string;
  name: string;
  version: number;
}

export interface Draft {
  text: string;
  /** Targets as in the API; null: the default recipients. */
  to: string[] | null;
  urgent: boolean;
  expectsReply: boolean;
  ask: AskDraft | null;
  files: AttachedFile[];
  /** An attempt whose outcome is unknown; reusing its key prevents a second post. */
  attempt: Attempt | null;
}

const emptyDraft: Draft = {
  text: '',
  to: null,
  urgent: false,
  expectsReply: false,
  ask: null,
  files: [],
  attempt: null,
};

export const newAsk: AskDraft = { to: '', options: ['', ''], goingWith: null, minutes: 30, task: '' };

const drafts = new Map<string, Signal<Draft>>();

/** Returns the draft with this storage name. */
export function getDraft(name: string): Signal<Draft> {
  let found = drafts.get(name);
  if (!found) {
    found = signal(read(name));
    drafts.set(name, found);
  }
  return found;
}

const read = (name: string): Draft => ({ ...emptyDraft, ...readStored<Partial<Draft>>(name, {}) });

// Tabs that show one board share its drafts; otherwise each would overwrite what is typed in the other.
listenToStorage((name) => {
  const draft = drafts.get(name);
  if (draft) draft.value = read(name);
});

/** Whether a draft has nothing that could be posted. */
export const isEmpty = ({ text, files, ask }: Draft): boolean => text === '' && files.length === 0 && !ask;

/** Changes parts of a draft and stores it. An empty draft is removed from storage. */
export function changeDraft(name: string, change: Partial<Draft>): void {
  const draft = getDraft(name);
  const next = { ...draft.peek(), ...change };
  const empty = isEmpty(next);
  if (empty) next.attempt = null;
  draft.value = next;
  writeStorage(name, empty && next.to === null && !next.urgent && !next.expectsReply ? null : JSON.stringify(next));
}
