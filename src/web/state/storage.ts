/** Values stored in this browser, such as drafts and the theme. Falls back to memory where localStorage fails. */
import { session } from '../api/session.ts';

const memory = new Map<string, string>();

/** The name of a value that other people who sign in with this browser must not see. */
export const ownName = (name: string): string => `${name}:${session.peek()?.person.id}`;

/** Returns the text stored under a name, or null. */
export function readStorage(name: string): string | null {
  try {
    return localStorage.getItem(name) ?? memory.get(name) ?? null;
  } catch {
    return memory.get(name) ?? null;
  }
}

/** Stores a text under a name; null removes it. */
export function writeStorage(name: string, text: string | null): void {
  if (text === null) memory.delete(name);
  else memory.set(name, text);
  try {
    if (text === null) localStorage.removeItem(name);
    else localStorage.setItem(name, text);
  } catch {
    // The copy in memory remains.
  }
}
