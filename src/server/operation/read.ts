/** What surrounds a use case that only reads: one snapshot, with the credential read in it. */
import { Refusal } from '../../contract/errors.ts';
import { type OperationName, operations } from '../../contract/operations.ts';
import type { ReadTx } from '../db/tx.ts';
import { countingOnce, type Moment, refuseGone } from '../rates/work.ts';
import type { Call } from './call.ts';
import { authenticate, type Caller, type Credential } from './caller.ts';
import type { Engine } from './engine.ts';
import { setTerms } from './terms.ts';
import type { Cases, Offered, Opened, Sendable } from './usecase.ts';

/**
 * Runs `fn` with the caller of a credential and counts a use of the caller's key, also when `fn` refuses.
 * @param name the operation that the request counts for; null: none. @throws Refusal
 */
export async function reading<T>(
  { db, admit, used }: Engine,
  name: OperationName | null,
  credential: Credential,
  fn: (tx: ReadTx, caller: Caller, admitAs: (moment: Moment) => void) => Promise<T>,
  gone: Call['gone'] = () => {},
): Promise<T> {
  const count = name === null ? () => {} : countingOnce(admit, name);
  const { caller, now, value } = await db.read(
    async (tx) => {
      // A client that gave up while all connections were busy has asked again by now.
      refuseGone(gone);
      const found = await authenticate(tx, credential);
      const run = async (): Promise<T> => {
        const admitAs = (moment: Moment): void => count(found, tx.now, moment);
        admitAs('known');
        return fn(tx, found, admitAs);
      };
      return { caller: found, now: tx.now, value: await settle(run()) };
    },
    { ahead: true },
  );
  await used(caller, now);
  return value();
}

type Read<T> = Parameters<typeof reading<T>>[3];

/** Runs `fn` on the terms of the operation's row. */
const onTerms =
  <T>(name: OperationName, fn: Read<T>): Read<T> =>
  async (tx, caller, admitAs) => {
    setTerms(caller, operations[name]);
    return fn(tx, caller, admitAs);
  };

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

type Case<Kind extends keyof Cases<OperationName>> = Offered<Cases<OperationName>[Kind]>;

/** The answer of a read. */
export async function runRead(engine: Engine, { name, case: useCase }: Case<'read'>, call: Call) {
  const { credential, input, gone } = call;
  const run = onTerms(name, (tx, caller) => useCase.run(tx, caller, input as never));
  if (!useCase.ahead) return reading(engine, name, credential, run, gone);
  const caller = await reading(engine, name, credential, async (_tx, found) => found, gone);
  await useCase.ahead(caller, input as never);
  // The request was counted above.
  return engine.inTurn({ name, caller, gone }, () => reading(engine, null, credential, run, gone));
}

/** The answer of a read that may wait until there is one: found at once, or what it waits for. */
export async function runWait(
  engine: Engine,
  { name, case: useCase }: Case<'wait'>,
  call: Call,
): Promise<{ answer: unknown } | { later: Promise<unknown> }> {
  const { credential, input, gone } = call;
  const { wait } = input.query as { wait: number };
  const look = { row: operations[name], case: useCase, input: input as never, waits: wait > 0 };
  const count = countingOnce(engine.admit, name);
  const first = await engine.live.looks.look(credential, look, (caller, now) => {
    count(caller, now, 'known');
    if (wait > 0) count(caller, now, 'waiting');
  });
  const { caller, now, found } = first;
  await engine.used(caller, now);
  if (found instanceof Refusal) throw found;
  if (!found.empty || wait === 0) return { answer: found.answer };
  return { later: engine.live.wait(look, { ...first, found }, { seconds: wait, gone }) };
}

/** Decides whether a stream may start; the answer takes over the response. */
export function runStream(engine: Engine, { name, case: useCase }: Case<'stream'>, { credential, input }: Call) {
  const open = onTerms(name, async (tx, caller, admitAs) => {
    admitAs('waiting');
    const start = await useCase.run(tx, caller, input as never);
    return (response: Opened) => engine.live.open(caller, start, input.query, response);
  });
  return reading(engine, name, credential, open);
}

/** Bytes that the caller may read. */
export async function runDownload(engine: Engine, { name, case: useCase }: Case<'download'>, call: Call) {
  const read = onTerms(name, async (tx, found) => ({
    caller: found,
    bytes: await useCase.run(tx, found, call.input as never),
  }));
  const { caller, bytes } = await reading(engine, name, call.credential, read, call.gone);
  const sendable: Sendable = {
    ...bytes,
    open: (range) => engine.blobs.store.open(bytes.digest, range),
    watch: (cut) => engine.live.watchReader(caller, bytes.boardId, cut),
  };
  return sendable;
}
