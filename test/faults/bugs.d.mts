/** Places of one source file of the server, and what is put there. */
export const bugs: Record<string, { file: string; find: string | RegExp; put: string | ((found: string) => string) }>;
