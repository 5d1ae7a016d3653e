/** Since when agents can report, and the last time in which they could not. */
import { anyRow } from '../db/query.ts';
import { statement } from '../db/statement.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import { type Moment, type Outage, outageEnds, thereAfter } from './presence.rules.ts';

/** A server that is back sooner was restarted: agents repeat their presence in time. */
const RESTART_MS = 60_000;

const metaStatement = statement<{ name: string }, { value: string }>((db, p) =>
  db('meta').where('name', p.name).select('value'),
);

const lastOutage = async (tx: ReadTx): Promise<Outage | null> => {
  const row = await tx.first(metaStatement, { name: 'outage' });
  return row ? (JSON.parse(row.value) as Outage) : null;
};

/** The time of this transaction, and the outage that some may still have to come back from. */
export async function momentOf(tx: ReadTx): Promise<Moment> {
  const outage = await lastOutage(tx);
  return { now: tx.now, outage: outage !== null && tx.now < outageEnds(outage) ? outage : null };
}

const servedAt = async (tx: ReadTx): Promise<number> =>
  Number((await tx.first(metaStatement, { name: 'served_at' }))?.value ?? 0);

const save = (tx: WriteTx, name: 'served_at' | 'outage', value: unknown): Promise<number> =>
  tx.change((db) =>
    db('meta')
      .insert({ name, value: JSON.stringify(value) })
      .onConflict('name')
      .merge(),
  );

/** Notes the outage that ends now, if there was one: before a process serves, and when the database can be reached again. */
export async function noteReturn(tx: WriteTx): Promise<void> {
  const served = await servedAt(tx);
  if (served === 0 || tx.now - served <= RESTART_MS) return;
  const last = await lastOutage(tx);
  // Where it was back for a moment only, those of before had no time to report.
  const from = last !== null && served < outageEnds(last) ? last.from : served;
  await save(tx, 'outage', { from, to: tx.now } satisfies Outage);
}

/** Notes that agents can report now; left out while that would tell nothing of anybody, so that an idle server writes nothing. */
export async function noteServing(tx: WriteTx): Promise<void> {
  const served = await servedAt(tx);
  const last = await lastOutage(tx);
  if ((last !== null && served < outageEnds(last)) || (await isAnyThere(tx, { from: served })))
    await save(tx, 'served_at', tx.now);
}

/** Whether some agent would have to report again after an outage that began then. */
const isAnyThere = (tx: ReadTx, outage: Pick<Outage, 'from'>): Promise<boolean> =>
  anyRow(tx, (db) =>
    db('seat_reports')
      .whereNot('presence', 'no_session')
      .where('reported_at', '>', thereAfter(outage))
      .select('member_id')
      .limit(1),
  );
