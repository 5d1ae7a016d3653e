/**
 * The door of a program that accepts prompts as its person's own. Our module in the program runs this process and submits
 * the texts that it prints, one line of JSON each, to the program's current session.
 */
import { sleep } from '../client/time.ts';
import { replaceInvisible } from '../daemon/bundle/invisible.ts';
import { nextFrame } from '../daemon/control/ask.ts';
import { open } from '../daemon/control/client.ts';
import type { Connection } from '../daemon/control/connection.ts';
import type { Carry } from '../daemon/protocol.ts';
import { type Env, folders } from '../local/folders.ts';
import { harnessProcess, isGone, type ProcessRef } from '../local/process-ref.ts';
import { deliver } from './say.ts';

/** Short pauses for a daemon that is being replaced; longer ones for a daemon that was stopped. */
const RECONNECT = { ms: 200, times: 25 };
const RETRY_MS = 5_000;
const CHECK_INTERVAL_MS = 2_000;

/** Ends with its program, or when another door of the same program is open. Starts no daemon. */
export async function serveDoor(harness: string, env: Env): Promise<0> {
  const program = harnessProcess();
  if (!program) return 0;
  for (let failures = 0; !isGone(program); failures++) {
    const connection = await connectDoor(harness, program, env);
    if (connection) {
      // A daemon that does not support doors is treated as absent.
      const outcome = await deliverAll(connection, program).catch(() => 'refused' as const);
      connection.close();
      if (outcome === 'released') return 0;
      if (outcome === 'over') failures = 0;
    }
    await sleep(failures < RECONNECT.times ? RECONNECT.ms : RETRY_MS);
  }
  return 0;
}

async function connectDoor(harness: string, program: ProcessRef, env: Env): Promise<Connection | null> {
  try {
    return await open({ state: folders(env).state, env, start: null, replaceBy: null }, 'door', {
      harness,
      process: program,
    });
  } catch {
    return null;
  }
}

/** Delivers texts until the connection closes or another door replaces this one. */
async function deliverAll(connection: Connection, program: ProcessRef): Promise<'over' | 'released'> {
  for (;;) {
    const frame = await nextFrame(connection, CHECK_INTERVAL_MS);
    if (frame === null && (connection.isClosed || isGone(program))) return 'over';
    if (frame?.event === 'bye') return 'over';
    if (frame?.event === 'release') return 'released';
    if (frame?.event === 'deliver') {
      const { as_user = false } = frame as Carry;
      await deliver(frame as Carry, connection, (text) => JSON.stringify({ text: replaceInvisible(text), as_user }));
    }
  }
}
