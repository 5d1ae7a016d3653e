/** What this browser remembers: drafts, open threads, the theme. Without storage it lasts as long as the page. */
const memory = new Map<string, string>();

/** The text kept under a name; null without one. */
export function kept(name: string): string | null {
  try {
    return localStorage.getItem(name) ?? memory.get(name) ?? null;
  } catch {
    return memory.get(name) ?? null;
  }
}

/** Keeps a text under a name; null removes it. */
export function keep(name: string, text: string | null): void {
  if (text === null) memory.delete(name);
  else memory.set(name, text);
  try {
    if (text === null) localStorage.removeItem(name);
    else localStorage.setItem(name, text);
  } catch {
    // It is kept in memory.
  }
}
