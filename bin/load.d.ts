/** What a packed file exports. @param file its whole path */
// biome-ignore lint/suspicious/noExplicitAny: whatever the file says
export function load(file: string): any;
/** Forgets the compiled form; to be called before the file changes. */
export function forget(file: string): void;
/** Keeps the compiled form of a file that is complete. */
export function keep(file: string): void;
