/** Which blob store an address names. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { shellArgument } from '../../contract/text.ts';
import type { Database } from '../db/tx.ts';
import { readMeta, setMeta, setMetaOnce } from '../settings/settings.store.ts';
import { prepareFolder } from '../upkeep/private-files.ts';
import { ServeError, unreachable } from '../upkeep/serve-error.ts';
import {
  addressIn,
  ENCODED,
  fromNote,
  lastFiles,
  ownFiles,
  pathIn,
  rememberFiles,
  requireDatabaseUrl,
  toNote,
} from '../upkeep/storage.ts';
import { diskStore, UnsafeFolder } from './disk.ts';
import { postgresStore } from './postgres.ts';
import { S3Store } from './s3.ts';
import type { BlobStore } from './store.ts';

interface StoreHome {
  dataDir: string;
  db: Database;
  /** Where that database is. */
  dbUrl: string;
  /** It is only looked into, beside the server that uses it. */
  beside?: boolean;
  /** A folder in which no server kept files is refused, and nothing is made there. */
  existing?: boolean;
  /** Nothing is put there, nor into the data folder. */
  readonly?: boolean;
  /** Called when it may not be used any more. */
  lost?(error: ServeError): void;
}

/** How long a start waits for a process that is just ending. */
const WAIT_MS = 2_000;
/** Held alone by a process that keeps files on its disk, shared by those that keep them elsewhere. */
const FILES = 'files on disk';

/** What goes together, said with every refusal. */
const POSSIBLE = `Name another place for the files: SQLite goes with disk:///absolute/path or s3://bucket/prefix; Postgres with disk:///absolute/path for one server process, with db: or s3://bucket/prefix for several. ${ENCODED}`;

/**
 * Opens the store at an address; undefined: the folder `files` of the data folder.
 * @throws ServeError `storage_unsupported`, `storage_unreachable`, `storage_differs`, `data_unsafe`.
 */
export async function openStore(address: string | undefined, home: StoreHome): Promise<BlobStore> {
  const { dataDir, db } = home;
  const place = placeOf(addressOf(address, dataDir), db.dialect.name === 'postgres');
  const last = db.dialect.shared ? await lastFilesOf(db, dataDir) : lastFiles(dataDir);
  if (address === undefined && last !== ownFiles(dataDir)) throw differs(dataDir, last);
  return openPlace(place, home);
}

/** Notes where the files are, for the next start: in the data folder, or in the database that several may share. */
export async function rememberPlace(
  address: string | undefined,
  { dataDir, db }: Pick<StoreHome, 'dataDir' | 'db'>,
): Promise<void> {
  const named = addressOf(address, dataDir);
  const place = placeOf(named, db.dialect.shared);
  const last = place.kind === 'disk' ? addressIn('disk', resolve(place.root), '') : named;
  if (!db.dialect.shared) rememberFiles(dataDir, last);
  else if ((await lastFilesOf(db, dataDir)) !== last)
    await db.write((tx) => setMeta(tx, 'last_files', toNote(last, ownFiles(dataDir))));
}

/** Not what was claimed for a start: that one may never have served. */
async function lastFilesOf(db: Database, dataDir: string): Promise<string> {
  const own = ownFiles(dataDir);
  return fromNote((await db.read((tx) => readMeta(tx, 'last_files'))) ?? own, own);
}

async function openPlace(place: Place, home: StoreHome): Promise<BlobStore> {
  const { dbUrl } = home;
  if (place.kind === 'disk') return openDisk(place.root, home);
  await claimFiles(home, place.name);
  const stage = stagingFolder(home);
  return place.kind === 'db' ? postgresStore(dbUrl, stage) : new S3Store({ ...place.options, stage });
}

/** What is wrong with where the database and the files are to be, as far as their addresses tell. */
export function storageFaults(
  db: string | undefined,
  files: string | undefined,
): { setting: 'db' | 'files'; error: ServeError }[] {
  const faults: ReturnType<typeof storageFaults> = [];
  const look = (setting: 'db' | 'files', parse: () => unknown): void => {
    try {
      parse();
    } catch (error) {
      if (!(error instanceof ServeError)) throw error;
      faults.push({ setting, error });
    }
  };
  if (db !== undefined) look('db', () => requireDatabaseUrl(db));
  const postgres = /^postgres(ql)?:/.test(db ?? '') || faults.length > 0;
  if (files !== undefined) look('files', () => placeOf(files, postgres));
  return faults;
}

type Place =
  | { kind: 'disk'; root: string }
  | { kind: 'db'; name: string }
  | { kind: 's3'; name: string; options: Omit<ConstructorParameters<typeof S3Store>[0], 'stage'> };

/** @throws ServeError `storage_unsupported` */
function placeOf(url: string, postgres: boolean): Place {
  if (url === 'db:') {
    if (postgres) return { kind: 'db', name: url };
    throw unsupported('Only Postgres keeps files in the database.');
  }
  if (url.startsWith('s3://')) return objectsAt(url);
  const root = /^disk:\/\/\/./.test(url) ? pathIn(url) : null;
  if (root !== null) return { kind: 'disk', root };
  throw unsupported('The files cannot be kept there.');
}

/** Where files are kept: as it was said, or the folder `files` of the data folder. */
export const addressOf = (address: string | undefined, dataDir: string): string => address ?? ownFiles(dataDir);

async function openDisk(root: string, home: StoreHome): Promise<BlobStore> {
  if (home.existing && !existsSync(join(root, 'sha256')))
    throw unreachable(
      `There are no files of a server in ${root}.`,
      'Name the folder or store in which they are, such as disk:///srv/service/files.',
    );
  await claimFiles(home, null);
  try {
    return await diskStore(root, home.readonly);
  } catch (error) {
    if (!(error instanceof UnsafeFolder)) throw error;
    throw new ServeError('data_unsafe', `${error.message}.`, 'Name another folder for the files.');
  }
}

/**
 * Of one database, either one process keeps files on its disk, or all processes share a place. Which one that is the database
 * notes, and only a process that runs alone changes it. @param place null: on the disk. @throws ServeError
 */
async function claimFiles(home: StoreHome, place: string | null): Promise<void> {
  const { db, beside, lost } = home;
  if (!db.dialect.shared || beside) return;
  const taken = apart(
    place === null
      ? 'Another server process uses this database, and cannot read files on the disk of this one.'
      : 'Another server process of this database keeps the files on its disk, where this one cannot read them.',
  );
  const held = await db.claim(FILES, WAIT_MS, { shared: place !== null, lost: () => lost?.(taken) });
  if (!held) throw taken;
  if (place === null) return;
  // Of processes that start together, one notes the first place.
  if (((await notedIn(db)) ?? (await noteFirst(db, place))) === place) return;
  await held();
  const alone = await db.claim(FILES, WAIT_MS);
  // Noted before it is let go, so that no other process notes another place meanwhile.
  if (alone) await note(db, place).finally(alone);
  else {
    const noted = await notedIn(db);
    // One that moves there, too, may have been faster.
    if (noted !== place)
      throw apart(`Another server process of this database keeps the files in ${noted}; this one would in ${place}.`);
  }
  await claimFiles(home, place);
}

/** @returns what is noted then */
const noteFirst = (db: Database, place: string): Promise<string | null> =>
  db.write(async (tx) => {
    await setMetaOnce(tx, 'files', place);
    return readMeta(tx, 'files');
  });

const notedIn = (db: Database): Promise<string | null> => db.read((tx) => readMeta(tx, 'files'));

const note = async (db: Database, place: string): Promise<void> => {
  await db.write((tx) => setMeta(tx, 'files', place));
};

const differs = (dataDir: string, last: string): ServeError =>
  new ServeError(
    'storage_differs',
    `The server in ${dataDir} keeps its files in ${last}.`,
    `Name it with --files or SERVICE_FILES. Where they are elsewhere now, name that place once, as the data folder: --files ${shellArgument(ownFiles(dataDir))}`,
  );

const apart = (message: string): ServeError =>
  new ServeError(
    'storage_unsupported',
    message,
    'Start every process with --files db: or SERVICE_FILES=db:, or with one s3://bucket/prefix; to move files that are elsewhere, stop all processes and run service storage copy.',
  );

/** `s3://bucket/prefix?endpoint=&region=&path_style=`. */
function objectsAt(address: string): Extract<Place, { kind: 's3' }> {
  const prefix = pathIn(address.replace(/\?[^#]*/, ''));
  if (prefix === null) throw unsupported('The address of the files is not a valid one.');
  const url = new URL(address);
  if (url.username !== '' || url.password !== '')
    throw unsupported(
      'Keys in the address of the files can be seen by everyone on this machine: set AWS_ACCESS_KEY_ID.',
    );
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN } = process.env;
  if (!accessKeyId || !secretAccessKey)
    throw unsupported('The files are to be kept in S3, but AWS_ACCESS_KEY_ID or AWS_SECRET_ACCESS_KEY is not set.');
  const region = url.searchParams.get('region') || process.env['AWS_REGION'] || 'us-east-1';
  const endpoint = url.searchParams.get('endpoint');
  if (url.hostname === '' || (endpoint !== null && !/^https?:\/\/[^/?#@]+\/?$/.test(endpoint)))
    throw unsupported('The address of the files names no bucket, or an invalid endpoint.');
  const bucket = url.hostname;
  const within = prefix.replaceAll(/^\/+|\/+$/g, '');
  const options = {
    bucket,
    prefix: within,
    endpoint: endpoint ?? `https://s3.${region}.amazonaws.com`,
    region,
    pathStyle: (url.searchParams.get('path_style') ?? String(endpoint !== null)) === 'true',
    accessKeyId,
    secretAccessKey,
    sessionToken: AWS_SESSION_TOKEN || undefined,
  };
  // How the bucket is asked, and at which address of the store, may differ from one process to another.
  return { kind: 's3', name: `s3://${bucket}/${within}`, options };
}

/** Where bytes wait that are not kept on this disk. */
function stagingFolder({ dataDir, readonly }: StoreHome): string {
  const folder = join(dataDir, 'files', 'tmp');
  if (readonly) return folder;
  prepareFolder(join(dataDir, 'files'));
  prepareFolder(folder);
  return folder;
}

const unsupported = (message: string): ServeError => new ServeError('storage_unsupported', message, POSSIBLE);
