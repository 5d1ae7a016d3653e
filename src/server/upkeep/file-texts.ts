/** Reading the texts of files into the index: after the fact, because their bytes may lie far away. */
import { hash } from 'node:crypto';
import { addAbortSignal, type Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Logger } from 'pino';
import { type Clock, inTime } from '../db/clock.ts';
import type { Database } from '../db/tx.ts';
import { indexText } from '../search/index.steps.ts';
import { unreadTexts } from '../search/texts.store.ts';
import { fileText } from '../text/file-scan.ts';
import { redact } from '../text/redaction.ts';

/** Opens stored bytes by their digest. Once the signal is aborted nobody waits for them any more. */
export type OpenBytes = (digest: string, signal: AbortSignal) => Promise<Readable>;

const PAGE = 50;
/** How long a search waits for texts that were just written. */
const PATIENCE_MS = 1_500;
/** When what could not be read or written is tried again: twice as late each time. */
const AGAIN_MS = 5_000;
const LATEST_MS = 3_600_000;
/** How long reading one file may take. */
const READ_MS = 30_000;

/** What reads the texts that are to be read. */
export function fileTexts(db: Database, clock: Clock, log: Logger, open: OpenBytes) {
  let running: Promise<void> | null = null;
  const stopping = new AbortController();
  /** Digests of what could not be read or written, with the time from which on they are tried again and how long that was. */
  const failed = new Map<string, { again: number; wait: number }>();

  const take = async (fileId: string, digest: string): Promise<void> => {
    const before = failed.get(digest);
    if (before && before.again > clock.now()) return;
    const limit = new AbortController();
    const cancel = clock.after(READ_MS, () => limit.abort());
    try {
      const signal = AbortSignal.any([stopping.signal, limit.signal]);
      const source = await open(digest, signal);
      const text = searchable(await wholeOf(addAbortSignal(signal, source), digest));
      await db.write((tx) => indexText(tx, fileId, digest, text));
      failed.delete(digest);
    } catch (error) {
      if (stopping.signal.aborted) return;
      const wait = before ? Math.min(2 * before.wait, LATEST_MS) : AGAIN_MS;
      failed.set(digest, { again: clock.now() + wait, wait });
      if (!before) log.warn({ err: error, digest }, 'a file cannot be taken into the search index');
    } finally {
      cancel();
    }
  };

  const run = async (): Promise<void> => {
    for (let after = ''; !stopping.signal.aborted; ) {
      const page = await db.read((tx) => unreadTexts(tx, after, PAGE));
      for (const { file_id, digest } of page) if (!stopping.signal.aborted) await take(file_id, digest);
      const last = page.at(-1);
      if (!last || page.length < PAGE) return;
      after = last.file_id;
    }
  };

  /** Reads everything that is to be read and can be. */
  const all = async (): Promise<void> => {
    // A run that has begun may have read its list before the latest write.
    await running?.catch(() => {});
    running ??= run().finally(() => {
      running = null;
    });
    await running;
  };

  return {
    all,
    /** Ends sooner where that takes long, and goes on meanwhile. */
    soon: () => inTime(clock, PATIENCE_MS, all()),
    async stop(): Promise<void> {
      stopping.abort();
      await running?.catch(() => {});
    },
  };
}

async function wholeOf(source: Readable, digest: string): Promise<Buffer> {
  const bytes = await buffer(source);
  if (`sha256:${hash('sha256', bytes, 'hex')}` === digest) return bytes;
  throw new Error('the stored bytes are not those of the version');
}

/** As messages are: without secrets, also those that a file may hold. No engine keeps a NUL in a text. */
const searchable = (bytes: Buffer): string => redact(fileText(bytes) ?? '').text.replaceAll('\0', ' ');
