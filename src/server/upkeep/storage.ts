/**
 * Which database a data folder belongs to, and where the files are. The folder keeps the server's secret and its owner's
 * key, which are worth nothing with another database; so a start without `--db` must not make an empty one beside them.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sqliteFile } from '../db/open.ts';
import { serversOf } from '../db/postgres-hosts.ts';
import { replacePrivate } from './private-files.ts';
import { ServeError, unreachable } from './serve-error.ts';

/** What names the database, and of SQLite the place of files. A command that would start a server reads both too. */
const STORAGE = 'storage';
const STORAGE_FILES = 'storage-files';
/** Noted instead of an address: a folder may be moved. */
const EMBEDDED = 'embedded';

const embedded = (dataDir: string): string => addressIn('sqlite', dataDir, 'service.db');

/** The folder `files` of a data folder. */
export const ownFiles = (dataDir: string): string => addressIn('disk', dataDir, 'files');

/** The address of something in a data folder, whose path may hold what ends the path of an address or is decoded in it. */
export const addressIn = (scheme: 'sqlite' | 'disk', dataDir: string, name: string): string =>
  `${scheme}://${join(dataDir, name).replaceAll(/[%?#]/g, encodeURIComponent)}`;

/** The path that an address names; null: none, or what follows it would be lost. */
export function pathIn(address: string): string | null {
  try {
    return /[?#]/.test(address) ? null : decodeURIComponent(new URL(address).pathname);
  } catch {
    return null;
  }
}

/** Said where an address is refused. */
export const ENCODED = 'In a path #, ? and % are written %23, %3F and %25.';

/**
 * The database to use: the one that is named, else the folder's own.
 * @throws ServeError `storage_unsupported` for a URL of another form; `storage_differs` when the folder was last used with
 *   a database that has to be named.
 */
export function storageOf(dataDir: string, named: string | undefined): string {
  if (named !== undefined) return requireDatabaseUrl(named);
  const last = lastUsed(dataDir);
  if (last === null || last === embedded(dataDir)) return embedded(dataDir);
  throw new ServeError(
    'storage_differs',
    `The server in ${dataDir} keeps its boards in ${last}.`,
    `Start it with --db ${last}, or use another data folder.`,
  );
}

/**
 * The same, of a database that is only looked into: SQLite would make one that is not there.
 * @throws ServeError `storage_unreachable` too.
 */
export function storageThere(dataDir: string, named: string | undefined): string {
  const url = storageOf(dataDir, named);
  if (url.startsWith('sqlite:') && !existsSync(sqliteFile(url)))
    throw unreachable(
      `There is no database at ${sqliteFile(url)}.`,
      'Restore it, or name another with --data or --db.',
    );
  return url;
}

/** @throws ServeError `storage_unsupported` for a URL of another form. */
export function requireDatabaseUrl(url: string): string {
  if (/^sqlite:\/\/\/./.test(url) && pathIn(url) !== null) return url;
  if (serversOf(url)) return url;
  throw new ServeError(
    'storage_unsupported',
    'The database must be sqlite:///absolute/path or postgres://host/name.',
    `Change --db or SERVICE_DB. ${ENCODED} In a user, password or parameter # is written %23, / %2F, ? %3F and @ %40; the name of the database has no @.`,
  );
}

/** Notes what this folder is used with, without a password, once the database has its tables. */
export function rememberStorage(dataDir: string, url: string): void {
  if (lastUsed(dataDir) !== withoutPassword(url)) note(dataDir, STORAGE, withoutPassword(url), embedded(dataDir));
}

/** The same of where files are kept, once something is served from there. */
export function rememberFiles(dataDir: string, address: string): void {
  if (lastFiles(dataDir) !== address) note(dataDir, STORAGE_FILES, address, ownFiles(dataDir));
}

/** A database's URL as it may be shown. */
export const withoutPassword = (url: string): string =>
  url.replace(/^([a-z]+:\/\/[^@/?:]*):[^/?]*@/, '$1@').replace(/\?.*$/, '');

/** The database that this folder was last used with, as it may be shown; null: with none. */
export const lastUsed = (dataDir: string): string | null => noted(dataDir, STORAGE, embedded(dataDir));

/** Where its files were last kept. */
export const lastFiles = (dataDir: string): string =>
  noted(dataDir, STORAGE_FILES, ownFiles(dataDir)) ?? ownFiles(dataDir);

function noted(dataDir: string, file: string, own: string): string | null {
  try {
    return fromNote(readFileSync(join(dataDir, file), 'utf8').trim(), own);
  } catch {
    return null;
  }
}

const note = (dataDir: string, file: string, address: string, own: string): void =>
  replacePrivate(join(dataDir, file), `${toNote(address, own)}\n`);

/** An address as it is noted. @param own what is in the data folder itself */
export const toNote = (address: string, own: string): string => (address === own ? EMBEDDED : address);

/** The address that was noted. */
export const fromNote = (noted: string, own: string): string => (noted === EMBEDDED ? own : noted);
