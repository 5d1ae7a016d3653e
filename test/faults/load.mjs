// Loads the server to test: its sources, compiled files, or the packed file.
import { pathToFileURL } from 'node:url';
import { load as loadPacked } from '../../bin/load.js';

export const load = async (file) => (file.endsWith('.cjs') ? loadPacked(file) : import(pathToFileURL(file).href));
