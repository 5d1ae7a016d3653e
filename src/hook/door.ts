/**
 * Entry to a program that accepts prompts as its person's own: our module in the program runs this for as long as it
 * lives, and submits what it prints, one line of JSON per text. It serves the session that the program has at the time.
 */
import { sleep } from '../client/time.ts';
import { replaceInvisible } from '../daemon/bundle/invisible.ts';
import { confirmReceived, nextFrame } from '../daemon/control/ask.ts';
import { open } from '../daemon/control/client.ts';
import type { Connection } from '../daemon/control/connection.ts';
import type { Carry } from '../daemon/protocol.ts';
import { type Env, folders } from '../local/folders.ts';
import { harnessProcess, isGone, type ProcessRef } from '../local/process-ref.ts';
import { textFor, write } from './say.ts';

/** A daemon that was replaced comes back soon; one that was stopped may stay away for long. */
const SOON = { ms: 200, times: 25 };
const PAUSE_MS = 5_000;
const LOOK_MS = 2_000;

/** Ends with its program, or when another door of the same program is open. Starts no daemon. */
export async function serveDoor(harness: string, env: Env): Promise<0> {
  const program = harnessProcess();
  if (!program) return 0;
  for (let failed = 0; !isGone(program); failed++) {
    const connection = await connected(harness, program, env);
    if (connection) {
      // A daemon that does not support doors is treated as absent.
      const outcome = await served(connection, program).catch(() => 'refused' as const);
      connection.close();
      if (outcome === 'released') return 0;
      if (outcome === 'over') failed = 0;
    }
    await sleep(failed < SOON.times ? SOON.ms : PAUSE_MS);
  }
  return 0;
}

async function connected(harness: string, program: ProcessRef, env: Env): Promise<Connection | null> {
  try {
    return await open({ state: folders(env).state, env, start: null, replaceBy: null }, 'door', {
      harness,
      process: program,
    });
  } catch {
    return null;
  }
}

/** Until the connection is over, or another door has taken the place of this one. */
async function served(connection: Connection, program: ProcessRef): Promise<'over' | 'released'> {
  for (;;) {
    const frame = await nextFrame(connection, LOOK_MS);
    if (frame === null && (connection.isClosed || isGone(program))) return 'over';
    if (frame?.event === 'bye') return 'over';
    if (frame?.event === 'release') return 'released';
    if (frame?.event === 'deliver') await deliver(frame as Carry, connection);
  }
}

async function deliver(carry: Carry, connection: Connection): Promise<void> {
  const text = replaceInvisible(textFor(carry));
  if (text === '') return;
  await write(process.stdout, `${JSON.stringify({ text, as_user: carry.as_user === true })}\n`);
  if (carry.handoff_id) await confirmReceived(connection, carry.handoff_id);
}
