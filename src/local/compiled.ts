/**
 * Loads packed files with what V8 compiled of them before. Node's compile cache keeps only what is compiled when a file is
 * loaded; most of a start goes into functions that are compiled when they are first called, and this keeps those too.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire, getCompileCacheDir } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { Script } from 'node:vm';

/** The last line of a packed file: its digest, by which code kept of another build is told apart. */
const DIGEST_LENGTH = 64;
/** What a long-lived process calls at its start, it has called by then. */
const STARTED_MS = 5_000;

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
  if (path && (!cachedData || script.cachedDataRejected)) keep(script, path, digest);
  return script;
}

function read(path: string, digest: string): Buffer | undefined {
  try {
    const kept = readFileSync(path);
    return kept.toString('latin1', 0, DIGEST_LENGTH) === digest ? kept.subarray(DIGEST_LENGTH) : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps what is compiled when the process ends, or has started. */
function keep(script: Script, path: string, digest: string): void {
  const write = (): void => {
    process.off('exit', write);
    clearTimeout(started);
    try {
      const fresh = `${path}.${process.pid}`;
      // V8 trusts what it reads: nothing of it may be lost with the power.
      writeFileSync(fresh, Buffer.concat([Buffer.from(digest), script.createCachedData()]), {
        mode: 0o600,
        flush: true,
      });
      renameSync(fresh, path);
    } catch {
      // The next process tries again.
    }
  };
  const started = setTimeout(write, STARTED_MS).unref();
  process.once('exit', write);
}
