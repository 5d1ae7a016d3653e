/** Launch tickets: which seat a session that was started for it takes, once. */
import { unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { readPrivate } from '../../local/private-file.ts';
import { agentRef } from '../control/frames.ts';
import type { Core } from '../core.ts';
import type { Session } from './session.ts';

const LIFE_MS = 15 * 60_000;

/** Binds the seat of a ticket; a missing, used, late or foreign one binds nothing and is no error. */
export function useTicket(core: Core, session: Session, ticket: string): void {
  try {
    const path = join(core.paths.launches, `${ticket}.json`);
    const text = readPrivate(path);
    if (text === null) return;
    // It works once, also when what follows fails.
    unlinkSync(path);
    const { agent, harness, created_at } = JSON.parse(text) as Record<string, unknown>;
    if (harness !== session.row.harness || !(core.clock.now() - Date.parse(String(created_at)) < LIFE_MS)) return;
    const [seat, ...others] = core.saved.find(agentRef.parse(agent));
    if (seat && others.length === 0) core.seats.bind(session, seat);
  } catch {
    core.log.write('hook_error', { session: session.key, op: 'launch' }, 'warn');
  }
}
