/** @param file a module that exports what `src/server/entry.ts` does */
export function load(file: string): Promise<typeof import('../../src/server/entry.ts')>;
