/** Gives those time who could not report, because no server was there to take it. */
import type { ReadTx, WriteTx } from '../db/tx.ts';
import { readMeta, setMeta } from '../settings/settings.store.ts';
import { anyThere, keepThere } from './reports.store.ts';

/** A server that is back sooner was restarted: agents repeat their presence in time. */
const RESTART_MS = 60_000;

const servedAt = async (tx: ReadTx): Promise<number> => Number((await readMeta(tx, 'served_at')) ?? 0);

/** Ends an outage, if there was one: before a process serves, and when the database can be reached again. */
export async function noteReturn(tx: WriteTx): Promise<void> {
  // Of several processes that are back at once, the first does it.
  await tx.serialise('served_at');
  const served = await servedAt(tx);
  if (served === 0 || tx.now - served <= RESTART_MS) return;
  await keepThere(tx, served);
  await noteServing(tx, tx.now);
}

/** Whether it matters to anybody that agents can report now. */
export const servesAnybody = async (tx: ReadTx): Promise<boolean> => anyThere(tx, await servedAt(tx));

/** @param now when agents could report, in milliseconds since the epoch */
export const noteServing = (tx: WriteTx, now: number): Promise<number> => setMeta(tx, 'served_at', String(now));
