/**
 * Watches that no secret is at rest or in a log: whatever secret any answer contained, or a test's client was made with, is
 * looked for in everything a test server leaves when it stops: files, every table, every line of its log.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { Database } from '../../src/server/db/tx.ts';
import { looked } from './whole.ts';

/** What a stopped server leaves. */
interface Left {
  dataDir: string;
  databaseUrl: string | undefined;
  /** What `readAsItCloses` read of the database; else it is read on a connection for this alone. */
  tables?: Places | undefined;
  log: readonly string[];
}

/** Bytes by the name of the place where they were found. */
type Places = [string, Buffer][];

const TOKEN = /ab[habcdilp]_[A-Za-z0-9_-]{43}/g;
/** What each token begins with, and how long it is: one may begin within what looks like another. */
const TOKEN_START = /ab[habcdilp]_/g;
const TOKEN_LENGTH = 47;
const SHORT_CODE = /"code":"([0-9A-Z]{3}-[0-9A-Z]{3})"/g;
const CSRF = /"csrf_token":"([^"]+)"/g;

/** Files that hold a secret for its owner, who alone can read them. */
const KEPT_FOR_THEIR_OWNER = ['local-key', 'admin-key', 'recovery-key', 'server-secret'];

const watches = new Set<Watch>();

/** Takes the secrets of a text, such as an answer, for all servers that run. */
export function noteSecrets(text: string): void {
  for (const watch of watches) watch.note(text);
}

export class Watch {
  readonly #secrets = new Map<string, string>();

  constructor() {
    watches.add(this);
  }

  note(text: string): void {
    for (const [token] of text.matchAll(TOKEN)) this.#secrets.set(token, token.slice(0, 4));
    for (const [, code] of text.matchAll(SHORT_CODE)) this.#secrets.set(code as string, 'short code');
    for (const [, token] of text.matchAll(CSRF)) this.#secrets.set(token as string, 'csrf token');
  }

  /** Ends the watch; answers what was found where. Called when the server has stopped. */
  async end(left: Left): Promise<string[]> {
    watches.delete(this);
    looked.servers++;
    for (const kind of this.#secrets.values()) looked.secrets[kind] = (looked.secrets[kind] ?? 0) + 1;
    const found: string[] = [];
    for (const [place, bytes] of await placesOf(left))
      for (const [secret, kind] of this.#in(bytes)) found.push(`${kind} ${secret.slice(0, 8)}… in ${place}`);
    return found;
  }

  /** Those that these bytes hold. Tokens have a form, so that thousands of them are looked for at once. */
  #in(bytes: Buffer): [string, string][] {
    const text = bytes.toString('latin1');
    const tokens = new Set(
      Array.from(text.matchAll(TOKEN_START), ({ index }) => text.slice(index, index + TOKEN_LENGTH)),
    );
    return [...this.#secrets].filter(([secret, kind]) =>
      kind.startsWith('ab') ? tokens.has(secret) : bytes.includes(secret),
    );
  }
}

/** Everything that is written down somewhere, by name. */
export const placesOf = async (left: Left): Promise<Places> => [
  ...filesOf(left.dataDir),
  ...(left.databaseUrl === undefined ? [] : (left.tables ?? (await tablesAt(left.databaseUrl)))),
  ['log', Buffer.from(left.log.join(''))],
];

function filesOf(folder: string): Places {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !KEPT_FOR_THEIR_OWNER.includes(entry.name))
    .map(({ name, parentPath }) => [name, readFileSync(join(parentPath, name))]);
}

/**
 * Lets a server that stops read its own tables when it closes its database, after all that it writes: to open another
 * connection costs Postgres several times as much as to read them. @returns what was read; undefined: nothing, or not all
 */
export function readAsItCloses(db: Database): () => Places | undefined {
  let read: Places | undefined;
  const close = db.close.bind(db);
  db.close = async () => {
    read = await db
      .read((tx) => tablesOf(async (sql) => (await tx.query<Row>((knex) => knex.raw(sql))) as Row[]))
      .catch(() => undefined);
    await close();
  };
  return () => read;
}

async function tablesAt(url: string): Promise<Places> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await tablesOf(async (sql) => (await client.query<Row>(sql)).rows);
  } finally {
    await client.end();
  }
}

type Row = Record<string, unknown>;

/** Every row of every table, texts and bytes as they are. */
async function tablesOf(query: (sql: string) => Promise<Row[]>): Promise<Places> {
  // A table without a page holds no row; to open each costs more than to read them.
  const tables = await query(
    "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND pg_relation_size(oid) > 0",
  );
  const found: Places = [];
  for (const { name } of tables) {
    const rows = await query(`SELECT * FROM "${name}"`);
    found.push([String(name), Buffer.concat(rows.flatMap((row) => Object.values(row)).map(bytesOf))]);
  }
  return found;
}

const bytesOf = (value: unknown): Buffer =>
  Buffer.isBuffer(value) ? value : Buffer.from(typeof value === 'object' ? JSON.stringify(value) : String(value));
