/**
 * What surrounds a write whose body is bytes. It is refused before the body is read wherever that is possible; then the
 * bytes are kept aside, looked through and made durable, and only then does a transaction name them.
 *
 * Under a key the bytes are part of what makes two requests the same. So a refusal that is kept waits for them, and a
 * repeat is hashed before it is answered; neither is stored. The hash of a request is that of its head followed by that
 * of its bytes: with the first half a different request is told before its body.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { Refusal } from '../../contract/errors.ts';
import { type OperationName, operations } from '../../contract/operations.ts';
import { MAX_FILE } from '../../contract/values.ts';
import { shareBlob } from '../blobs/blobs.store.ts';
import { MaybeCollected } from '../blobs/blobs.ts';
import { type Digest, hexOf, NoRoom, type Staged, StoreDown, TooManyBytes } from '../blobs/store.ts';
import { type FileSecrets, scanFile } from '../text/file-scan.ts';
import type { Call, Incoming } from './call.ts';
import { authenticate, orRefusal, type Shown } from './caller.ts';
import type { Engine } from './engine.ts';
import { findKept } from './idempotency.store.ts';
import { reading } from './read.ts';
import { invalidField, keyConflict } from './refusals.rules.ts';
import {
  again,
  busy,
  findReplay,
  full,
  type Kept,
  keep,
  keepRefusal,
  noteUse,
  type Reply,
  replyOf,
  type Seen,
} from './run-write.ts';
import { setTerms } from './terms.ts';
import type { Cases, Offered } from './usecase.ts';

/** A second request under one key waits this long for the first. */
const KEY_WAIT_MS = 30_000;

type Upload = Offered<Cases<OperationName>['upload']>;

/** Runs an upload once, or answers what its first run answered. @throws Refusal */
export async function runUpload(engine: Engine, offered: Upload, call: Call): Promise<Reply> {
  const { credential, input, incoming } = call;
  const run: Run = { engine, offered, credential, input, incoming, seen: null };
  // Before it takes a place or waits for a key: one that does not work takes nothing from those that do.
  const caller = await reading(engine, offered.name, credential, async (_tx, found) => found);
  const release = engine.takeUploadSlot(caller);
  try {
    const { key } = incoming;
    if (key === null) return await first(run);
    const free = await engine.db.claim(`upload ${credential.digest.toString('hex')} ${key}`, KEY_WAIT_MS);
    if (!free) throw inProgress();
    try {
      return await first(run);
    } finally {
      await free();
    }
  } finally {
    release();
    await noteUse(engine, run.seen);
  }
}

interface Run extends Pick<Call, 'credential' | 'input' | 'incoming'> {
  engine: Engine;
  offered: Upload;
  seen: Seen;
}

const shownIn = ({ seen }: Run): Shown => seen?.caller.shown ?? {};

/** What is to be done, decided before the first byte of the body. */
async function first(run: Run): Promise<Reply> {
  const { engine, offered, credential, input, incoming } = run;
  const refused = await engine.db.read(async (tx): Promise<Refusal | 'repeat' | null> => {
    const caller = await authenticate(tx, credential);
    run.seen = { caller, now: tx.now };
    if (incoming.key !== null) {
      const row = await findKept(tx, credential.digest, incoming.key);
      if (row && row.expires_at > tx.now) {
        if (!incoming.headHash.equals(row.request_hash.subarray(0, incoming.headHash.length))) throw keyConflict();
        return 'repeat';
      }
    }
    setTerms(caller, operations[offered.name]);
    return orRefusal(() => offered.case.check(tx, caller, input as never).then(() => null));
  });
  if (refused === 'repeat') return repeat(run);
  if (refused === null) return store(run);
  if (incoming.key === null || !refused.kept) throw refused;
  return keepRefusal(await hashed(run), credential, refused, shownIn(run));
}

/** The kept answer, if these are the same bytes. */
async function repeat(run: Run): Promise<Reply> {
  const { engine, credential } = run;
  const kept = await hashed(run);
  const reply = await again(() =>
    engine.db.write(async (tx) => findReplay(kept, tx, await authenticate(tx, credential))),
  );
  // It passed its end while the bytes came.
  if (!reply) throw busy();
  return reply;
}

/** Reads the body to its end and keeps nothing of it but its hash. */
async function hashed(run: Run): Promise<Kept> {
  const { incoming } = run;
  requireSize(incoming.length ?? 0);
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of incoming.bytes()) {
    size += chunk.length;
    requireSize(size);
    hash.update(chunk);
  }
  const digest = hash.digest();
  requireDigest(incoming, digest);
  return keptBy(run, digest);
}

const keptBy = ({ engine, offered, incoming: { key, headHash } }: Run, digest: Buffer): Kept => ({
  engine,
  offered: { name: offered.name, case: {} },
  key: key ?? '',
  requestHash: Buffer.concat([headHash, digest]),
});

async function store(run: Run): Promise<Reply> {
  const { engine, incoming } = run;
  const { blobs } = engine;
  requireSize(incoming.length ?? 0);
  try {
    await blobs.requireRoom(incoming.length ?? 0);
    const staged = await blobs.store.stage(incoming.bytes(), { maxBytes: MAX_FILE, scan: scanFile() });
    try {
      requireDigest(incoming, digestBytes(staged.digest));
      return await name(run, staged);
    } finally {
      await staged.discard();
    }
  } catch (error) {
    if (error instanceof TooManyBytes) throw tooLarge();
    if (error instanceof NoRoom) throw full(error);
    if (error instanceof StoreDown) {
      engine.report('store_unusable', { err: error });
      throw storeDown(error);
    }
    throw error;
  }
}

const storeDown = (cause: unknown): Refusal =>
  new Refusal('unavailable', 'The server cannot store files right now; nothing was changed.', {
    hint: 'Tell the operator of the server: its log says why, and service doctor looks for it.',
    retryAfter: 1,
    cause,
  });

const digestBytes = (digest: Digest): Buffer => Buffer.from(hexOf(digest), 'hex');

async function name(run: Run, staged: Staged): Promise<Reply> {
  const { engine, credential, incoming } = run;
  const kept = incoming.key === null ? null : keptBy(run, digestBytes(staged.digest));
  try {
    if (staged.secrets) throw hasSecret(staged.secrets);
    for (;;) {
      try {
        await engine.blobs.publish(staged);
        return await write(run, staged, kept);
      } catch (error) {
        if (!(error instanceof MaybeCollected)) throw error;
      }
    }
  } catch (error) {
    if (!(error instanceof Refusal) || !kept || !error.kept) throw error;
    return keepRefusal(kept, credential, error, shownIn(run));
  }
}

function write(run: Run, { digest, size }: Staged, kept: Kept | null): Promise<Reply> {
  const { engine, offered, credential, input } = run;
  return again(() =>
    engine.db.write(async (tx) => {
      const caller = await authenticate(tx, credential);
      run.seen = { caller, now: tx.now };
      const replay = kept && (await findReplay(kept, tx, caller));
      if (replay) return replay;
      if (!(await shareBlob(tx, digest))) throw new MaybeCollected();
      setTerms(caller, operations[offered.name]);
      const outcome = await offered.case.run(tx, caller, input as never, { digest, size });
      const reply = replyOf(outcome, operations[offered.name].ok[0]);
      if (kept) await keep(kept, tx, caller, reply);
      return reply;
    }),
  );
}

function requireSize(bytes: number): void {
  if (bytes > MAX_FILE) throw tooLarge();
}

const tooLarge = (): Refusal =>
  new Refusal('file_too_large', `A file may have at most ${MAX_FILE} bytes.`, {
    hint: 'Put it elsewhere and link to it.',
    details: { limit: MAX_FILE },
    headers: { Connection: 'close' },
  });

function requireDigest({ digest }: Incoming, found: Buffer): void {
  if (digest === null || timingSafeEqual(digest, found)) return;
  const hint = 'They were damaged on the way: upload again.';
  throw invalidField('Content-Digest', 'is not that of the bytes that came', hint);
}

const hasSecret = ({ kinds, line }: FileSecrets): Refusal =>
  new Refusal(
    'file_has_secret',
    `The file holds a credential (${kinds.map((each) => each.kind).join(', ')}), first on line ${line}; nothing was stored.`,
    {
      hint: 'Take it out and upload again; the bytes of files are never changed.',
      details: { kinds, line },
    },
  );

const inProgress = (): Refusal =>
  new Refusal('idempotency_in_progress', 'The same request is still running.', { hint: 'Try again.', retryAfter: 1 });
