/** Values stored in this browser, such as drafts and the theme. Falls back to memory where localStorage fails. */
import { useState } from 'preact/hooks';
import { session } from '../api/session.ts';

const memory = new Map<string, string>();

/** The name of a value that other people who sign in with this browser must not see. */
export const ownName = (name: string): string => `${name}:${session.peek()?.person.id}`;

/** The name of a person's messages to a board that are not sent yet; without a board, how those names begin. */
export const unsentName = (person: string, boardId = ''): string => `unsent:${person}:${boardId}`;

/** Returns the text stored under a name, or null. */
export function readStorage(name: string): string | null {
  const kept = memory.get(name);
  if (kept !== undefined) return kept;
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** The value stored as JSON under a name; `otherwise` where there is none, or it cannot be read. */
export function readStored<T>(name: string, otherwise: T): T {
  try {
    return (JSON.parse(readStorage(name) ?? 'null') as T | null) ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** Stores a text under a name; null removes it. */
export function writeStorage(name: string, text: string | null): void {
  memory.delete(name);
  try {
    if (text === null) localStorage.removeItem(name);
    else localStorage.setItem(name, text);
  } catch {
    if (text !== null) memory.set(name, text);
  }
}

/** The names that begin with a text, of which something is stored. */
export function storedNames(beginning: string): string[] {
  const names = [...memory.keys()];
  try {
    names.push(...Object.keys(localStorage));
  } catch {
    // Then all is in memory.
  }
  return names.filter((name) => name.startsWith(beginning));
}

/** Calls `listener` with each name under which another tab of this browser stored or removed a text. */
export const listenToStorage = (listener: (name: string) => void): void =>
  addEventListener('storage', ({ key }) => {
    if (key !== null) listener(key);
  });

/**
 * Like `useState`, for what a person writes: it outlives the end of the session and a reload of the page, until it is
 * dropped because it was sent or given up. @param dropped is called then, for example to close the form.
 */
export function useStored<T>(
  name: string,
  initial: T,
  dropped?: () => void,
): [value: T, set: (value: T) => void, drop: () => void] {
  const [stored] = useState(() => ownName(name));
  const [value, setValue] = useState(() => readStored(stored, initial));
  const set = (next: T): void => {
    setValue(next);
    writeStorage(stored, JSON.stringify(next));
  };
  const drop = (): void => {
    writeStorage(stored, null);
    dropped?.();
  };
  return [value, set, drop];
}
