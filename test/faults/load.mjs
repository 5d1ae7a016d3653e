// Loads the server to test: its sources, compiled files, or the packed file, whose names only `require` finds in no time.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

export const load = async (file) =>
  file.endsWith('.cjs') ? createRequire(file)(file) : import(pathToFileURL(file).href);
