/** Whether agents' programs tell the daemon of their sessions. Starts nothing. */

import type { SessionHere } from '../../harness/detect.ts';
import { Failure } from '../../local/failure.ts';
import { askFor } from '../ask-daemon.ts';
import { daemonStatus } from '../daemon.ts';

/** Of this session it was told. */
export async function isKnownHere(session: SessionHere): Promise<boolean> {
  try {
    await askFor(session, 'agents', {}, { start: false });
    return true;
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}

/** Of any session it was told. */
export async function anySession(): Promise<boolean> {
  const status = await daemonStatus().catch(() => null);
  return (status?.sessions?.length ?? 0) > 0;
}
