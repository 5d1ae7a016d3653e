/**
 * Loads what the build packed. To compile a file of a megabyte takes a fifth of a short command's time, so that the compiled
 * form is kept: from version 22 on Node does it, before that the build, beside the file. It serves the Node that built it;
 * any other finds that out by itself and compiles.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import module from 'node:module';
import { dirname } from 'node:path';
import vm from 'node:vm';

const cacheOf = (file) => `${file}.cache`;
/** As Node does it; what is compiled this way has no `import` of its own. */
const wrapped = (file) =>
  `(function(exports,require,module,__filename,__dirname,importHere){${readFileSync(file, 'utf8')}\n})`;

/** What a packed file exports. */
export function load(file) {
  module.enableCompileCache?.();
  const require = module.createRequire(file);
  if (module.enableCompileCache || !existsSync(cacheOf(file))) return require(file);
  const script = new vm.Script(wrapped(file), { filename: file, cachedData: readFileSync(cacheOf(file)) });
  const made = { exports: {} };
  script.runInThisContext()(made.exports, require, made, file, dirname(file), (name) => import(name));
  return made.exports;
}

/** Forgets the compiled form; to be called before the file changes. */
export const forget = (file) => rmSync(cacheOf(file), { force: true });

/** Keeps the compiled form of a file that is complete. */
export const keep = (file) =>
  writeFileSync(cacheOf(file), new vm.Script(wrapped(file), { filename: file }).createCachedData());
