/**
 * Bytes in the database itself, in pieces of 1 MiB: several server processes share them without a further service. Its
 * connections are its own, because a large file takes longer than a write transaction of the server may.
 */
import { type FileHandle, open as openFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import pg from 'pg';
import { StorageFull } from '../db/dialect.ts';
import { translate } from '../db/postgres-connection.ts';
import { knownServer } from '../db/postgres-hosts.ts';
import { type Kept, stageIn, tidyStage } from './stage.ts';
import {
  BlobMissing,
  type BlobStore,
  type ByteRange,
  type Digest,
  type Entry,
  NoRoom,
  type Staged,
  type StageOptions,
} from './store.ts';

const CHUNK = 1_048_576;
const CONNECTIONS = 4;
const NOW = '(extract(epoch from clock_timestamp()) * 1000)::bigint';

/** Connects to the server that takes writes, which the database found before any file is asked for. */
const clientFor = (url: string): typeof pg.Client =>
  class extends pg.Client {
    constructor(options: pg.ClientConfig) {
      super({ ...options, connectionString: knownServer(url) ?? url });
    }
  };

export class PostgresStore implements BlobStore {
  readonly kind = 'db';
  readonly #pool: pg.Pool;
  readonly #stage: string;

  /** @param url of the server's database. @param stage a private local folder. */
  constructor(url: string, stage: string) {
    this.#stage = stage;
    this.#pool = new pg.Pool({ Client: clientFor(url), application_name: 'service files', max: CONNECTIONS });
    // A connection that is lost, whether somebody uses it or not; the next use opens another.
    this.#pool.on('connect', (client) => client.on('error', () => {}));
    this.#pool.on('error', () => {});
  }

  stage(source: AsyncIterable<Buffer>, options: StageOptions): Promise<Staged> {
    return stageIn(this.#stage, source, options, (kept) => this.#publish(kept));
  }

  async open(digest: Digest, range?: ByteRange): Promise<Readable> {
    const found = await this.stat(digest);
    if (!found) throw new BlobMissing(digest);
    const { start, end } = range ?? { start: 0, end: found.size - 1 };
    return Readable.from(this.#chunks(digest, start, end), { objectMode: false, highWaterMark: CHUNK });
  }

  async *#chunks(digest: Digest, start: number, end: number): AsyncGenerator<Buffer> {
    for (let n = Math.floor(start / CHUNK); n * CHUNK <= end; n++) {
      const { rows } = await this.#query<{ bytes: Buffer }>(
        'SELECT bytes FROM blob_chunks WHERE digest = $1 AND n = $2',
        [digest, n],
      );
      const bytes = rows[0]?.bytes;
      if (!bytes) throw new BlobMissing(digest);
      const from = Math.max(0, start - n * CHUNK);
      yield bytes.subarray(from, Math.min(bytes.length, end - n * CHUNK + 1));
    }
  }

  async stat(digest: Digest): Promise<Omit<Entry, 'digest'> | null> {
    const { rows } = await this.#query<{ size: string | null; at: string | null }>(
      'SELECT sum(octet_length(bytes)) AS size, max(at) AS at FROM blob_chunks WHERE digest = $1',
      [digest],
    );
    const [row] = rows;
    return row?.at == null ? null : { size: Number(row.size), modifiedAt: Number(row.at) };
  }

  async *list(): AsyncIterable<Entry> {
    for (let after = ''; ; ) {
      const { rows } = await this.#query<{ digest: string; size: string; at: string }>(
        `SELECT digest, sum(octet_length(bytes)) AS size, max(at) AS at FROM blob_chunks
         WHERE digest > $1 GROUP BY digest ORDER BY digest LIMIT 500`,
        [after],
      );
      for (const { digest, size, at } of rows) yield { digest, size: Number(size), modifiedAt: Number(at) };
      const last = rows.at(-1);
      if (!last) return;
      after = last.digest;
    }
  }

  async delete(digest: Digest): Promise<void> {
    await this.#query('DELETE FROM blob_chunks WHERE digest = $1', [digest]);
  }

  tidy(before: number): Promise<void> {
    return tidyStage(this.#stage, before);
  }

  close(): Promise<void> {
    return this.#pool.end();
  }

  #query<R extends pg.QueryResultRow>(sql: string, values: unknown[]): Promise<pg.QueryResult<R>> {
    return translate(this.#pool.query<R>(sql, values));
  }

  async #publish({ path, digest, size }: Kept): Promise<void> {
    if ((await this.stat(digest))?.size === size) return;
    const file = await openFile(path, 'r');
    try {
      const client = await translate(this.#pool.connect());
      try {
        await translate(writeChunks(client, file, { digest, size }));
      } catch (error) {
        await client.query('ROLLBACK').catch(() => {});
        throw error instanceof StorageFull ? new NoRoom('no room in the database', { cause: error }) : error;
      } finally {
        client.release();
      }
    } finally {
      await file.close();
    }
  }
}

/** All pieces in one transaction, an empty file as one empty piece; what lies there already is kept. */
async function writeChunks(
  client: pg.ClientBase,
  file: FileHandle,
  { digest, size }: Omit<Kept, 'path'>,
): Promise<void> {
  await client.query('BEGIN');
  await client.query('DELETE FROM blob_chunks WHERE digest = $1', [digest]);
  const buffer = Buffer.alloc(Math.min(CHUNK, Math.max(size, 1)));
  for (let n = 0; n === 0 || n * CHUNK < size; n++) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, n * CHUNK);
    await client.query(`INSERT INTO blob_chunks (digest, n, bytes, at) VALUES ($1, $2, $3, ${NOW})`, [
      digest,
      n,
      buffer.subarray(0, bytesRead),
    ]);
  }
  await client.query('COMMIT');
}
