/**
 * Bytes in the database itself, in pieces of 1 MiB: several server processes share them without a further service. Its
 * connections are its own, because a large file takes longer than a write transaction of the server may.
 */
import { type FileHandle, open as openFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import pg from 'pg';
import { StorageFull } from '../db/dialect.ts';
import { CONNECT_MS, limitSilence, translate } from '../db/postgres-connection.ts';
import { knownServer, serversToTry } from '../db/postgres-hosts.ts';
import { type Kept, stageIn, tidyStage } from './stage.ts';
import { BlobMissing, type BlobStore, type Digest, type Entry, NoRoom } from './store.ts';

const CHUNK = 1_048_576;
/** Most connections of a process for files. */
export const CONNECTIONS = 4;
/** A host that says nothing for this long while it is asked has lost its power or its network. */
const SILENCE_MS = 15_000;
const NOW = '(extract(epoch from clock_timestamp()) * 1000)::bigint';

/** Connects to the server that took writes when the database last asked; while none is known, to the first one named. */
const clientFor = (url: string) =>
  class extends pg.Client {
    readonly server: string | undefined;

    constructor(options: pg.ClientConfig = {}) {
      const [server] = serversToTry(url);
      super({ ...options, connectionString: server, connectionTimeoutMillis: CONNECT_MS });
      this.server = server;
    }
  };

/** @param url of the server's database. @param stage a private local folder. @param silence after which a connection is given up. */
export function postgresStore(url: string, stage: string, silence = SILENCE_MS): BlobStore {
  const Client = clientFor(url);
  const pool = new pg.Pool({ Client, application_name: 'service files', max: CONNECTIONS });
  // A connection that is lost, whether somebody uses it or not; the next use opens another.
  pool.on('connect', (client) => {
    client.on('error', () => {});
    limitSilence(client, silence);
  });
  pool.on('error', () => {});

  /** A connection that failed is not used again, nor one to a server that another one took over from. */
  const use = async <T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> => {
    const client = await translate(pool.connect());
    let sound = false;
    try {
      const value = await translate(work(client));
      sound = client instanceof Client && client.server === knownServer(url);
      return value;
    } finally {
      client.release(!sound);
    }
  };

  const rowsOf = async <R extends pg.QueryResultRow>(sql: string, values: unknown[]): Promise<R[]> =>
    (await use((client) => client.query<R>(sql, values))).rows;

  const stat = async (digest: Digest): Promise<Omit<Entry, 'digest'> | null> => {
    const [row] = await rowsOf<{ size: string | null; at: string | null }>(
      'SELECT sum(octet_length(bytes)) AS size, max(at) AS at FROM blob_chunks WHERE digest = $1',
      [digest],
    );
    return row?.at == null ? null : { size: Number(row.size), modifiedAt: Number(row.at) };
  };

  async function* chunks(digest: Digest, start: number, end: number): AsyncGenerator<Buffer> {
    for (let n = Math.floor(start / CHUNK); n * CHUNK <= end; n++) {
      const sql = 'SELECT bytes FROM blob_chunks WHERE digest = $1 AND n = $2';
      const [row] = await rowsOf<{ bytes: Buffer }>(sql, [digest, n]);
      if (!row) throw new BlobMissing(digest);
      const from = Math.max(0, start - n * CHUNK);
      yield row.bytes.subarray(from, Math.min(row.bytes.length, end - n * CHUNK + 1));
    }
  }

  const publish = async ({ path, digest, size }: Kept): Promise<void> => {
    if ((await stat(digest))?.size === size) return;
    const file = await openFile(path, 'r');
    try {
      await use((client) => writeChunks(client, file, { digest, size }));
    } catch (error) {
      throw error instanceof StorageFull ? new NoRoom('no room in the database', { cause: error }) : error;
    } finally {
      await file.close();
    }
  };

  return {
    kind: 'db',
    stage: (source, options) => stageIn(stage, source, options, publish),
    async open(digest, range) {
      const found = await stat(digest);
      if (!found) throw new BlobMissing(digest);
      const { start, end } = range ?? { start: 0, end: found.size - 1 };
      return Readable.from(chunks(digest, start, end), { objectMode: false, highWaterMark: CHUNK });
    },
    stat,
    async *list() {
      for (let after = ''; ; ) {
        const rows = await rowsOf<{ digest: string; size: string; at: string }>(
          `SELECT digest, sum(octet_length(bytes)) AS size, max(at) AS at FROM blob_chunks
           WHERE digest > $1 GROUP BY digest ORDER BY digest LIMIT 500`,
          [after],
        );
        for (const { digest, size, at } of rows) yield { digest, size: Number(size), modifiedAt: Number(at) };
        const last = rows.at(-1);
        if (!last) return;
        after = last.digest;
      }
    },
    async delete(digest, confirm) {
      await confirm?.();
      await rowsOf('DELETE FROM blob_chunks WHERE digest = $1', [digest]);
    },
    deleteIn: (tx, digest) => tx.change((db) => db('blob_chunks').where({ digest }).delete()),
    tidy: (before) => tidyStage(stage, before),
    close: () => pool.end(),
  };
}

/** All pieces in one transaction, an empty file as one empty piece; what lies there already is kept. */
async function writeChunks(client: pg.ClientBase, file: FileHandle, { digest, size }: Omit<Kept, 'path'>) {
  await client.query('BEGIN');
  await client.query('DELETE FROM blob_chunks WHERE digest = $1', [digest]);
  const buffer = Buffer.alloc(Math.min(CHUNK, Math.max(size, 1)));
  for (let n = 0; n === 0 || n * CHUNK < size; n++) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, n * CHUNK);
    const values = [digest, n, buffer.subarray(0, bytesRead)];
    await client.query(`INSERT INTO blob_chunks (digest, n, bytes, at) VALUES ($1, $2, $3, ${NOW})`, values);
  }
  await client.query('COMMIT');
}
