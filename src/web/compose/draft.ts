/** What is being written, kept in this browser for each person, board and thread until it is posted or cleared. */
import { type Signal, signal } from '@preact/signals';
import { readStorage, writeStorage } from '../state/storage.ts';

export interface AskDraft {
  /** The name of the one member who is asked; empty until chosen. */
  to: string;
  options: string[];
  /** The number of the option that the asker goes with without an answer, from 0; null: the asker waits. */
  goingWith: number | null;
  /** Minutes after posting at which the asker goes with it. */
  minutes: number;
  /** The reference of the task it is about; empty: none. */
  task: string;
}

interface Attached {
  id: string;
  name: string;
  version: number;
}

export interface Draft {
  text: string;
  /** Targets as the API takes them; null: those that the box proposes. */
  to: string[] | null;
  urgent: boolean;
  expectsReply: boolean;
  ask: AskDraft | null;
  files: Attached[];
  /** The key of an earlier try whose outcome nobody knows: with it, the text cannot be posted twice. */
  key: string | null;
}

const emptyDraft: Draft = {
  text: '',
  to: null,
  urgent: false,
  expectsReply: false,
  ask: null,
  files: [],
  key: null,
};

export const newAsk: AskDraft = { to: '', options: ['', ''], goingWith: null, minutes: 30, task: '' };

const drafts = new Map<string, Signal<Draft>>();

/** The draft of this name, as it was left. */
export function draftNamed(name: string): Signal<Draft> {
  let found = drafts.get(name);
  if (!found) {
    found = signal({ ...emptyDraft, ...read(name) });
    drafts.set(name, found);
  }
  return found;
}

function read(name: string): Partial<Draft> {
  try {
    return JSON.parse(readStorage(name) ?? '{}') as Partial<Draft>;
  } catch {
    return {};
  }
}

/** Changes parts of a draft, and keeps it. */
export function changeDraft(name: string, change: Partial<Draft>): void {
  const draft = draftNamed(name);
  const next = { ...draft.peek(), ...change };
  const empty = next.text === '' && next.files.length === 0 && !next.ask;
  if (empty) next.key = null;
  draft.value = next;
  writeStorage(name, empty && next.to === null && !next.urgent && !next.expectsReply ? null : JSON.stringify(next));
}
