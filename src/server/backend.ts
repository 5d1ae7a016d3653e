/** Joins the door to what is behind it: areas, transactions, live delivery. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Refusal } from '../contract/errors.ts';
import { openapi } from '../contract/openapi.ts';
import type { OperationName } from '../contract/operations.ts';
import type { Query, ServerInfo } from '../contract/types.ts';
import { type Areas, areas } from './areas.ts';
import type { Database } from './db/tx.ts';
import type { AnyInput, Backend } from './http/app.ts';
import { LastUse } from './identity/last-use.ts';
import type { RootKey } from './identity/root-key.ts';
import type { Live } from './live/live.ts';
import { authenticate, type Caller, credentialOf, gate } from './operation/caller.ts';
import { runWrite } from './operation/run.ts';
import type { Offered } from './operation/usecase.ts';
import { requirePlace, seeBoard, seeBoardById } from './views/place.ts';
import { recheckShown } from './views/replay.ts';

export interface BackendOptions {
  db: Database;
  root: RootKey;
  live: Live;
  info: ServerInfo;
}

export function createBackend({ db, root, live, info }: BackendOptions): Backend {
  const offered = areas(root);
  const engine = { db, root, recheck: recheckShown };
  const lastUse = new LastUse(db);
  return {
    async resolve(token) {
      const credential = credentialOf(token, root);
      const { caller, now } = await db.read(async (tx) => ({
        caller: await authenticate(tx, credential),
        now: tx.now,
      }));
      await lastUse.note(caller, now);
      return { credential, caller };
    },
    open: { getInfo: () => info },
    kindOf: (name) => (name === 'getInfo' ? 'open' : name === 'openStream' ? 'stream' : offeredOf(offered, name).kind),
    prepare(name, body) {
      const entry = name === 'openStream' || name === 'getInfo' ? null : offeredOf(offered, name);
      return entry?.kind === 'write' && entry.case.prepare ? entry.case.prepare(body as never) : body;
    },
    async read(name, credential, input) {
      const entry = offeredOf(offered, name);
      if (entry.kind !== 'read') throw new Error(`${name} is no read`);
      return db.read(async (tx) => entry.case.run(tx, await authenticate(tx, credential), input as never));
    },
    async wait(name, caller, input, gone) {
      const entry = offeredOf(offered, name);
      if (entry.kind !== 'wait') throw new Error(`${name} does not wait`);
      const { wait } = input.query as unknown as { wait: number };
      return live.wait(caller, wait, gone, (tx, fresh) => entry.case.run(tx, fresh, input as never));
    },
    async write(name, credential, input, keyed) {
      const entry = offeredOf(offered, name);
      if (entry.kind !== 'write') throw new Error(`${name} is no write`);
      return runWrite(engine, entry, credential, input, keyed);
    },
    stream: (caller, input, req, res) => openStream(db, live, caller, input, req, res),
    description: () => openapi(info.version),
  };
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
    gate(caller.kind, ['PK', 'BR']);
    live.openHints(caller, query, res);
    return;
  }
  if (query.boards || query.events) throw badStream(query.boards ? 'boards' : 'events', 'does not go with board');
  const resumed = lastEventId(req) ?? query.after;
  const start = await db.read(async (tx) => {
    const fresh = await authenticate(tx, caller.credential);
    const name = query.board ?? '';
    const sight = name.startsWith('brd_') ? await seeBoardById(tx, fresh, name) : await seeBoard(tx, fresh, name);
    const { board } = requirePlace(sight);
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

function badStream(field: string, problem: string, details: Record<string, unknown> = {}): Refusal {
  return new Refusal('invalid_request', `${field}: ${problem}.`, {
    hint: 'Read the board again and follow it from its head.',
    details: { field, problem, ...details },
  });
}
