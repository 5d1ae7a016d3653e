/**
 * Telling a pooler that hands out connections per transaction from one that does so per session. Behind the first, prepared
 * statements, locks by name and notifications belong to the client that comes next, and fail without a word.
 */
import type pg from 'pg';
import { connect, translate } from './postgres-connection.ts';

/** Each transaction may run on another connection of the engine. */
export class PooledByTransaction extends Error {
  override readonly name = 'PooledByTransaction';
  constructor() {
    super('a pooler hands out the connections to the database per transaction');
  }
}

/** More than two, because a pooler may be several processes with connections of their own. */
const CLIENTS = 4;
/** How often each of them asks who serves it. */
const ROUNDS = 3;

/** Whether a client talks to the engine itself: a pooler answers with a process number of its own when a connection begins. */
export const isDirect = async (client: pg.ClientBase): Promise<boolean> =>
  (await backendOf(client)) === (client as pg.ClientBase & { processID: number | null }).processID;

/**
 * Clients that stay connected ask which process of the engine serves them. Per session each keeps one of its own. Per
 * transaction several are given the one that was just freed, or each the next one: so each asks twice in a row.
 * @throws PooledByTransaction
 */
export async function requireSessions(url: string): Promise<void> {
  const clients: pg.Client[] = [];
  try {
    while (clients.length < CLIENTS) clients.push(await connect(url, 'service-probe'));
    const served = new Map<pg.Client, number>();
    for (let round = 0; round < ROUNDS; round++)
      for (const client of clients)
        for (let time = 0; time < 2; time++) {
          const pid = await backendOf(client);
          if ((served.get(client) ?? pid) !== pid) throw new PooledByTransaction();
          served.set(client, pid);
        }
    if (new Set(served.values()).size < CLIENTS) throw new PooledByTransaction();
  } finally {
    for (const client of clients) await client.end();
  }
}

async function backendOf(client: pg.ClientBase): Promise<number> {
  const { rows } = await translate(client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid'));
  return rows[0]?.pid ?? 0;
}
