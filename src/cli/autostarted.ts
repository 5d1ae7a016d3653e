/** Remembers which background programs this command started, so that its result can name them. */

const started: ('server' | 'daemon')[] = [];

/** Takes note of it, once for each. */
export function noteAutostart(what: 'server' | 'daemon'): void {
  if (!started.includes(what)) started.push(what);
}

/** As a part of a result; nothing where nothing was started. */
export const autostarted = (): { autostarted?: string[] } => (started.length > 0 ? { autostarted: [...started] } : {});
