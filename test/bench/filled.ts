/**
 * Data folders with a long board. Posting a million messages would take an hour, so one real message is posted and then
 * copied inside the database, with the running counts and hashes a real one would have.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Sqlite from 'better-sqlite3';
import { envelopeText } from '../../src/contract/chain.ts';
import type { EventActor } from '../../src/contract/types.ts';
import type { EventRow } from '../../src/server/record/events.store.ts';
import { hashText } from '../../src/server/text/hash.ts';
import { benchDir, type Product, startProduct } from './world.ts';

const migrations = fileURLToPath(new URL('../../migrations', import.meta.url));
const self = fileURLToPath(import.meta.url);
const PER_TRANSACTION = 50_000;

type Row = Record<string, string | number | bigint | Buffer | null>;

export const BOARD = 'long';

/**
 * A data folder whose board `long` has this many events and an agent, whose token lies beside it. It is kept for the next
 * run as long as schema and this file stay the same.
 */
export async function filledFolder(events: number): Promise<{ dataDir: string; agentToken: string }> {
  const dataDir = join(benchDir, 'cache', `${events}-${version()}`);
  const done = join(dataDir, 'filled');
  if (!existsSync(done)) {
    rmSync(dataDir, { recursive: true, force: true });
    mkdirSync(dataDir, { recursive: true });
    process.stdout.write(`filling a board with ${events} events …\n`);
    const agentToken = await seed(dataDir);
    fill(join(dataDir, 'service.db'), events);
    writeFileSync(done, agentToken);
  }
  return { dataDir, agentToken: readFileSync(done, 'utf8') };
}

/** Resolves when a search finds the whole board: until then it is told to come again, and what was indexed stays. */
export async function indexed({ call }: Product): Promise<void> {
  for (;;) {
    try {
      await call('GET', `/v1/search?board=${BOARD}&q=chrysanthemum`);
      return;
    } catch (error) {
      if (!/503|rate_limited/.test(String(error))) throw error;
    }
  }
}

function version(): string {
  const hash = createHash('sha256').update(readFileSync(self));
  for (const name of readdirSync(migrations).sort()) hash.update(readFileSync(join(migrations, name)));
  return hash.digest('hex').slice(0, 12);
}

/** The board, an agent on it and one message. */
async function seed(dataDir: string): Promise<string> {
  const product: Product = await startProduct({ dataDir });
  try {
    await product.call('POST', '/v1/boards', { name: BOARD, preset: 'starter' });
    const { token } = await product.call<{ token: string }>('POST', '/v1/join', { board: BOARD, role: 'member' });
    await product.call('POST', `/v1/boards/${BOARD}/messages`, { body: 'The build is green again. '.repeat(4) });
    return token;
  } finally {
    await product.end();
  }
}

function fill(file: string, events: number): void {
  const db = new Sqlite(file);
  db.pragma('synchronous = OFF');
  db.pragma('cache_size = -1000000');
  const board = db.prepare('SELECT * FROM boards WHERE name = ?').get(BOARD) as Row;
  const event = db.prepare('SELECT * FROM events WHERE board_id = ? ORDER BY seq DESC LIMIT 1').get(board['id']) as Row;
  const message = db
    .prepare('SELECT * FROM messages WHERE board_id = ? AND seq = ?')
    .get(board['id'], event['seq']) as Row;
  const first = Number(event['seq']);
  const insertEvent = inserter(db, 'events', event);
  const insertMessage = inserter(db, 'messages', message);
  let prev = event['hash'] as Buffer;
  let at = Number(event['at']);
  for (let from = first + 1; from <= events; from += PER_TRANSACTION) {
    db.transaction(() => {
      for (let seq = from; seq < Math.min(from + PER_TRANSACTION, events + 1); seq++) {
        const copies = seq - first;
        const id = idOf('msg', seq);
        at += 1_000;
        const data = (event['data'] as string).replaceAll(message['id'] as string, id);
        const row = {
          ...(event as EventRow),
          seq,
          id: idOf('evt', seq),
          at,
          data,
          data_hash: sha256(data),
          prev_hash: prev,
        };
        const hash = hashOf(row);
        insertEvent({ ...row, hash });
        insertMessage({ ...message, ...countsAfter(message, copies), id, seq, at });
        prev = hash;
      }
    })();
  }
  const last = countsAfter(message, events - first);
  db.prepare(
    'UPDATE boards SET head_seq = ?, head_hash = ?, head_at = ?, message_count = ?, everyone_count = ?, last_message_at = ? WHERE id = ?',
  ).run(events, prev, at, last.nth, last.nth_everyone, at, board['id']);
  db.prepare('UPDATE members SET sent_count = ?, sent_everyone_count = ? WHERE id = ?').run(
    last.nth_of_sender,
    last.nth_everyone_of_sender,
    message['sender_id'],
  );
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Search leaves out what was not hashed as the server does it. */
const hashOf = (event: Omit<EventRow, 'hash'>): Buffer =>
  sha256(
    envelopeText({
      ...event,
      actor: JSON.parse(event.actor) as EventActor,
      at: new Date(event.at).toISOString(),
      data_hash: hashText(event.data_hash),
      prev_hash: hashText(event.prev_hash),
    }),
  );

function inserter(db: Sqlite.Database, table: string, template: Row): (row: Row) => void {
  const names = Object.keys(template);
  const statement = db.prepare(
    `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map((name) => `@${name}`).join(', ')})`,
  );
  return (row) => void statement.run(row);
}

/** The running counts of a message to everyone that comes this many messages of the same sender later. */
function countsAfter(message: Row, later: number) {
  const after = (name: string): number => Number(message[name]) + later;
  return {
    nth: after('nth'),
    nth_everyone: after('nth_everyone'),
    nth_of_sender: after('nth_of_sender'),
    nth_everyone_of_sender: after('nth_everyone_of_sender'),
  };
}

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Ids in the order of their numbers, as those of a real board are in the order of time. */
function idOf(prefix: string, n: number): string {
  let digits = '';
  for (let rest = n; digits.length < 21; rest = Math.floor(rest / 32)) digits = ALPHABET[rest % 32] + digits;
  return `${prefix}_01K5A${digits}`;
}
