/**
 * Loads packed files with V8's code cache. Node's compile cache contains only what is compiled when a file is loaded; this
 * cache also contains functions that are compiled when they are first called, which take most of a start.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire, getCompileCacheDir } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { Script } from 'node:vm';

/** A packed file ends with its digest, which identifies the build of cached code. */
const DIGEST_LENGTH = 64;
/** Time after which a long-lived process has called its start-up functions. */
const WRITE_DELAY_MS = 5_000;

const loaded = new Map<string, { exports: unknown }>();

/** Loads a packed file, and through it those that it needs from the same folder. */
export function loadCompiled(file: string): unknown {
  const known = loaded.get(file);
  if (known) return known.exports;
  const module = { exports: {} };
  loaded.set(file, module);
  const require = createRequire(file);
  const folder = dirname(file);
  const load = (id: string): unknown => (id.startsWith('./') ? loadCompiled(join(folder, id)) : require(id));
  compile(file).runInThisContext()(module.exports, Object.assign(load, require), module, file, folder);
  return module.exports;
}

function compile(file: string): Script {
  // Packed files are ASCII, which is read fastest this way.
  const text = readFileSync(file, 'latin1');
  const digest = text.slice(-DIGEST_LENGTH);
  const cache = getCompileCacheDir();
  const path = cache && join(cache, basename(file));
  const cachedData = path && read(path, digest);
  const script = new Script(`(function (exports, require, module, __filename, __dirname) {${text}\n})`, {
    filename: file,
    ...(cachedData && { cachedData }),
  });
  if (path && (!cachedData || script.cachedDataRejected)) saveCompiled(script, path, digest);
  return script;
}

function read(path: string, digest: string): Buffer | undefined {
  try {
    const cached = readFileSync(path);
    return cached.toString('latin1', 0, DIGEST_LENGTH) === digest ? cached.subarray(DIGEST_LENGTH) : undefined;
  } catch {
    return undefined;
  }
}

/** Saves the compiled code at the exit of the process, or after its start. */
function saveCompiled(script: Script, path: string, digest: string): void {
  const write = (): void => {
    process.off('exit', write);
    clearTimeout(started);
    try {
      const fresh = `${path}.${process.pid}`;
      // V8 trusts the cache, so it must be complete even after a power cut.
      writeFileSync(fresh, Buffer.concat([Buffer.from(digest), script.createCachedData()]), {
        mode: 0o600,
        flush: true,
      });
      renameSync(fresh, path);
    } catch {
      // The next process tries again.
    }
  };
  const started = setTimeout(write, WRITE_DELAY_MS).unref();
  process.once('exit', write);
}
