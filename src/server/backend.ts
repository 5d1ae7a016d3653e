/** Joins the door to what is behind it: areas, transactions, live delivery. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { Refusal } from '../contract/errors.ts';
import { isChallenge, PROOF_HEADER, PROOF_LABEL, proofSalt } from '../contract/local-proof.ts';
import { openapi } from '../contract/openapi.ts';
import { type OperationName, operations } from '../contract/operations.ts';
import type { Query, ServerInfo } from '../contract/types.ts';
import { requirePlace, seeBoard } from './access/place.ts';
import { recheckShown } from './access/replay.ts';
import { type Areas, areas } from './areas.ts';
import type { Blobs } from './blobs/blobs.ts';
import type { Database, ReadTx } from './db/tx.ts';
import type { AnyInput, Backend } from './http/app.ts';
import type { Site } from './http/site.ts';
import type { Live } from './live/live.ts';
import { authenticate, type Caller, type Credential, credentialOf, isPerson } from './operation/caller.ts';
import type { LastUse } from './operation/last-use.ts';
import { runOpen, runWrite } from './operation/run.ts';
import { termsOf } from './operation/terms.ts';
import { runUpload, type UploadEngine } from './operation/upload.ts';
import { UploadSlots } from './operation/uploads.ts';
import type { Offered } from './operation/usecase.ts';
import type { Admit } from './rates/work.ts';
import type { RootKey } from './text/root-key.ts';
import type { Indexer } from './upkeep/search-indexer.ts';

export interface BackendOptions {
  db: Database;
  root: RootKey;
  live: Live;
  info: ServerInfo;
  lastUse: LastUse;
  indexer: Indexer;
  site: Site;
  /** Limits on what signed-in callers ask for. */
  admit: Admit;
  blobs: Blobs;
  log: Logger;
}

export function createBackend({
  db,
  root,
  live,
  info,
  lastUse,
  indexer,
  site,
  admit,
  blobs,
  log,
}: BackendOptions): Backend {
  const offered = areas({
    root,
    serverId: info.server_id,
    address: site,
    searchable: (searched) => indexer.searchable(searched),
    report: (message, about) => log.error(about, message),
  });
  const engine: UploadEngine = {
    blobs,
    slots: new UploadSlots(),
    report: (message, about) => log.error(about, message),
    db,
    root,
    admit,
    recheck: recheckShown,
    used: (caller, now) => lastUse.note(caller, now),
    hold: (first, gone, look) => live.hold(first, gone, look),
  };
  /** Runs a read with its caller, and counts it as a use of the caller's key. @param name null: no request of its own. */
  const reading = async <T>(
    name: OperationName | null,
    credential: Credential,
    fn: (tx: ReadTx, caller: Caller) => Promise<T>,
  ): Promise<T> => {
    const { caller, now, value } = await db.read(async (tx) => {
      const found = await authenticate(tx, credential);
      const run = async (): Promise<T> => {
        if (name !== null) {
          admit(name, found, tx.now);
          found.terms = termsOf(operations[name]);
        }
        return fn(tx, found);
      };
      return { caller: found, now: tx.now, value: await settle(run()) };
    });
    await lastUse.note(caller, now);
    return value();
  };
  // It takes a tenth of a second to make, and is the same for all.
  let description: object | null = null;
  return {
    credential: (token) => credentialOf(token, root),
    resolve: (credential, name) =>
      reading(name ?? null, credential, async (_tx, { person }) => ({ personId: person.person_id })),
    csrfToken: (session) => root.csrfToken(session),
    info: () => info,
    proof(challenge): Record<string, string> {
      if (site.mode !== 'local' || !isChallenge(challenge)) return {};
      const proof = root.derive(PROOF_LABEL, proofSalt(challenge, site.baseUrl()));
      return { [PROOF_HEADER]: proof.toString('base64url') };
    },
    kindOf: (name) => (name === 'getInfo' ? 'info' : name === 'openStream' ? 'stream' : offeredOf(offered, name).kind),
    prepare(name, body) {
      const entry = name === 'openStream' || name === 'getInfo' ? null : offeredOf(offered, name);
      const prepares = entry?.kind === 'write' || entry?.kind === 'open';
      return prepares && entry.case.prepare ? entry.case.prepare(body as never) : body;
    },
    async read(name, credential, input) {
      const entry = offeredOf(offered, name);
      if (entry.kind !== 'read') throw new Error(`${name} is no read`);
      if (entry.case.ahead) {
        const caller = await reading(name, credential, async (_tx, found) => found);
        await entry.case.ahead(caller, input as never);
      }
      const counted = entry.case.ahead ? null : name;
      return reading(counted, credential, (tx, caller) => entry.case.run(tx, caller, input as never));
    },
    async wait(name, credential, input, gone) {
      const entry = offeredOf(offered, name);
      if (entry.kind !== 'wait') throw new Error(`${name} does not wait`);
      const { wait } = input.query as unknown as { wait: number };
      const first = await reading(name, credential, async (tx, caller) => {
        if (wait > 0) admit(name, caller, tx.now, 'waiting');
        return { caller, found: await entry.case.run(tx, caller, input as never) };
      });
      if (!first.found.empty || wait === 0) return first.found.answer;
      return live.wait(first.caller, first.found, wait, gone, { case: entry.case, input: input as never });
    },
    async write(name, credential, input, keyed) {
      const entry = offeredOf(offered, name);
      if (entry.kind !== 'write') throw new Error(`${name} is no write`);
      return runWrite(engine, entry, credential, input, keyed);
    },
    async upload(name, credential, input, incoming) {
      const entry = offeredOf(offered, name);
      if (entry.kind !== 'upload') throw new Error(`${name} takes no bytes`);
      return runUpload(engine, entry, credential, input as never, incoming);
    },
    async download(name, credential, input) {
      const entry = offeredOf(offered, name);
      if (entry.kind !== 'download') throw new Error(`${name} sends no bytes`);
      const found = await reading(name, credential, async (tx, caller) => ({
        caller,
        bytes: await entry.case.run(tx, caller, input as never),
      }));
      return {
        ...found.bytes,
        open: (range) =>
          blobs.store.open(found.bytes.digest, range).catch((error: unknown) => {
            log.error({ err: error, digest: found.bytes.digest }, 'blob_missing');
            throw error;
          }),
        watch: (cut) => live.watchCredential(found.caller, cut),
      };
    },
    async open(name, door, input, gone) {
      const entry = offeredOf(offered, name);
      if (entry.kind !== 'open') throw new Error(`${name} asks for a credential`);
      return runOpen(engine, entry, door, input, gone);
    },
    async stream(credential, input, req, res) {
      const caller = await reading('openStream', credential, async (tx, found) => {
        admit('openStream', found, tx.now, 'waiting');
        return found;
      });
      await openStream(db, live, caller, input, req, res);
    },
    description: () => {
      description ??= openapi(info.version);
      return description;
    },
  };
}

/** Lets a read end its transaction before its refusal is thrown: a refused request is a use of the key all the same. */
async function settle<T>(running: Promise<T>): Promise<() => T> {
  try {
    const value = await running;
    return () => value;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return () => {
      throw error;
    };
  }
}

function offeredOf(offered: Areas, name: OperationName): Offered {
  return offered[name as keyof Areas];
}

/** Both modes of the stream start with what is refused before the first byte. */
async function openStream(
  db: Database,
  live: Live,
  caller: Caller,
  input: AnyInput,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const query = input.query as unknown as Query<'openStream'>;
  if (query.board === undefined) {
    if (!isPerson(caller)) throw new Error('only a person gets this far without a board');
    live.openHints(caller, query, res);
    return;
  }
  if (query.boards || query.events) throw badStream(query.boards ? 'boards' : 'events', 'does not go with board');
  const resumed = lastEventId(req) ?? query.after;
  const start = await db.read(async (tx) => {
    const fresh = await authenticate(tx, caller.credential);
    const { board } = requirePlace(await seeBoard(tx, fresh, query.board ?? ''));
    return { board: { id: board.id, name: board.name }, head: board.head_seq, after: resumed ?? board.head_seq };
  });
  if (start.after > start.head) throw badStream('after', 'lies beyond the newest event', { head_seq: start.head });
  live.openBoard(caller, start, query, res);
}

/** What an `EventSource` sends by itself when it reconnects; it takes the place of `after`. */
function lastEventId(req: IncomingMessage): number | undefined {
  const value = req.headers['last-event-id'];
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || !/^\d{1,15}$/.test(value))
    throw badStream('Last-Event-ID', 'must be a whole number');
  return Number(value);
}

const NOT_WITH_BOARD = 'Give board alone to follow one log, or leave it out for the hints of several boards.';
const STREAM_HINTS: Record<string, string> = { boards: NOT_WITH_BOARD, events: NOT_WITH_BOARD };

function badStream(field: string, problem: string, details: Record<string, unknown> = {}): Refusal {
  return new Refusal('invalid_request', `${field}: ${problem}.`, {
    hint: STREAM_HINTS[field] ?? 'Read the board again and follow it from its head.',
    details: { field, problem, ...details },
  });
}
