/** A server and a floor, each in its own process on a new folder, and what the load needs of them. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Child, launchScript, launchServer, localKey } from '../faults/launch.ts';

/** Where the benchmarks keep their files; not part of the sources. */
export const benchDir = fileURLToPath(new URL('../../.bench', import.meta.url));

/** Whether what is found goes into the pages of the repository. */
export const forDocs = process.argv.includes('--docs');
export const outputDir = forDocs ? fileURLToPath(new URL('../../docs/bench', import.meta.url)) : benchDir;

export interface Served {
  child: Child;
  url: string;
  dataDir: string;
  end(): Promise<void>;
}

/** The product's server with its local person's key. */
export interface Product extends Served {
  key: string;
  /** A call as that person or with another token; fails unless it succeeds. */
  call<T>(method: string, path: string, body?: object, token?: string): Promise<T>;
}

export interface StartOptions {
  nodeFlags?: string[];
  /** A folder with data; it is kept at the end. Default: a new one, which goes with the server. */
  dataDir?: string;
  /** Default: SQLite in the folder. */
  db?: string;
}

export async function startProduct({ nodeFlags, dataDir, db }: StartOptions = {}): Promise<Product> {
  const folder = dataDir ?? newFolder('server');
  const child = launchServer({ dataDir: folder, nodeFlags, db });
  const url = await child.ready;
  const key = localKey(folder);
  return {
    child,
    url,
    dataDir: folder,
    key,
    end: () => end(child, dataDir === undefined ? folder : null),
    async call<T>(method: string, path: string, body?: object, token = key): Promise<T> {
      const response = await fetch(url + path, {
        method,
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return JSON.parse(text) as T;
    },
  };
}

export async function startFloor({ nodeFlags }: StartOptions = {}): Promise<Served> {
  const folder = newFolder('floor');
  const child = launchScript(fileURLToPath(new URL('floor.ts', import.meta.url)), [folder], nodeFlags);
  return { child, url: await child.ready, dataDir: folder, end: () => end(child, folder) };
}

/** A new folder for a server's data. */
export function newFolder(name: string): string {
  mkdirSync(benchDir, { recursive: true });
  return mkdtempSync(join(benchDir, `${name}-`));
}

async function end(child: Child, folder: string | null): Promise<void> {
  await child.stop();
  if (folder !== null) rmSync(folder, { recursive: true, force: true });
}
