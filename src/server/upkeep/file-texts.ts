/** Reading the texts of files into the index: after the fact, because their bytes may lie far away. */
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Logger } from 'pino';
import type { Clock } from '../db/clock.ts';
import type { Database } from '../db/tx.ts';
import { indexText } from '../search/index.steps.ts';
import { unreadTexts } from '../search/texts.store.ts';
import { fileText } from '../text/file-scan.ts';
import { redact } from '../text/redaction.ts';
import { inTime } from './in-time.ts';

/** Opens stored bytes by their digest. */
export type OpenBytes = (digest: string) => Promise<Readable>;

const PAGE = 50;
/** How long a search waits for texts that were just written. */
const PATIENCE_MS = 1_500;
/** When bytes that could not be read are tried again. */
const AGAIN_MS = 5_000;

export class FileTexts {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #open: OpenBytes;
  #running: Promise<void> | null = null;
  #stopped = false;
  /** Digests that could not be read, with the time from which on they are tried again. */
  readonly #failed = new Map<string, number>();

  constructor(db: Database, clock: Clock, log: Logger, open: OpenBytes) {
    this.#db = db;
    this.#clock = clock;
    this.#log = log;
    this.#open = open;
  }

  /** Reads what is to be read; ends sooner where that takes long, and goes on meanwhile. */
  async soon(): Promise<void> {
    await inTime(this.#clock, PATIENCE_MS, this.all());
  }

  /** Reads everything that is to be read and can be. */
  async all(): Promise<void> {
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
    await this.#running;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running?.catch(() => {});
  }

  async #run(): Promise<void> {
    for (let after = ''; !this.#stopped; ) {
      const page = await this.#db.read((tx) => unreadTexts(tx, after, PAGE));
      for (const { file_id, digest } of page) if (!this.#stopped) await this.#take(file_id, digest);
      const last = page.at(-1);
      if (!last || page.length < PAGE) return;
      after = last.file_id;
    }
  }

  async #take(fileId: string, digest: string): Promise<void> {
    if ((this.#failed.get(digest) ?? 0) > this.#clock.now()) return;
    let text: string;
    try {
      text = searchable(await this.#read(digest));
      this.#failed.delete(digest);
    } catch (error) {
      this.#failed.set(digest, this.#clock.now() + AGAIN_MS);
      this.#log.warn({ err: error, digest }, 'a file cannot be read for the search index');
      return;
    }
    await this.#db.write((tx) => indexText(tx, fileId, digest, text));
  }

  async #read(digest: string): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for await (const chunk of await this.#open(digest)) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    if (`sha256:${createHash('sha256').update(bytes).digest('hex')}` === digest) return bytes;
    throw new Error('the stored bytes are not those of the version');
  }
}

/** As messages are: without secrets, also those that a file may hold. No engine keeps a NUL in a text. */
const searchable = (bytes: Buffer): string => redact(fileText(bytes) ?? '').text.replaceAll('\0', ' ');
