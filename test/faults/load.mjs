// Loads the server to test: its sources or the packed file.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

export const load = async (file) =>
  file.endsWith('.cjs') ? createRequire(file)(file) : import(pathToFileURL(file).href);
