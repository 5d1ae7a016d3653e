/** Looks whether Postgres has room for all connections that a server may open. */
import type { Logger } from 'pino';
import { CONNECTIONS } from '../blobs/postgres.ts';
import type { StoreKind } from '../blobs/store.ts';
import { POOL_SIZE } from '../db/postgres.ts';
import type { Database } from '../db/tx.ts';

/** Beside the pool: for wake-ups, for locks by name, and to ask a database that was lost. */
const BESIDE = 3;

interface Uses {
  dbPool?: number | undefined;
  /** Processes that serve with these settings; 0: another one of them looks. */
  processes?: number | undefined;
  files: StoreKind;
}

/** Warns where they are too many: those of a busy moment then wait, and nobody else gets any. */
export async function warnOfConnections(db: Database, { dbPool = POOL_SIZE, processes = 1, files }: Uses, log: Logger) {
  if (!db.dialect.shared) return;
  const most = await db.read((tx) =>
    tx.query<{ max_connections: number; reserved: number }>((knex) =>
      knex.raw(
        `SELECT current_setting('max_connections')::int AS max_connections,
         current_setting('superuser_reserved_connections')::int + coalesce(current_setting('reserved_connections', true), '0')::int AS reserved`,
      ),
    ),
  );
  const [{ max_connections, reserved } = { max_connections: Number.POSITIVE_INFINITY, reserved: 0 }] = most;
  const needed = processes * (dbPool + BESIDE + (files === 'db' ? CONNECTIONS : 0));
  if (needed > max_connections - reserved)
    log.warn(
      { needed, max_connections, reserved, processes, pool: dbPool },
      'the database takes fewer connections than this server may open: raise max_connections, or lower SERVICE_DB_POOL or SERVICE_WORKERS',
    );
}
