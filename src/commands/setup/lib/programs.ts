/** Checks and sets up the agent programs of this machine, as a step of `service setup`. */
import { askFor } from '../../../cli/session/ask-daemon.ts';
import { sessionHere } from '../../../cli/session/here.ts';
import type { SessionHere } from '../../../harness/detect.ts';
import { Failure } from '../../../local/failure.ts';
import { daemonStatus } from '../../daemon/lib/daemon.ts';
import { Init } from '../../init/lib/harness-setup.ts';
import { failed, type Step, step } from './step.ts';

export interface Programs {
  installed: Step;
  /** The daemon knows this session; in a terminal, any. */
  known: boolean;
  /** What the person has to trust in them. */
  notes: string[];
}

/** Looks what is to be set up, and does it where that was said. */
export async function programsHere(apply: boolean): Promise<Programs> {
  const session = sessionHere();
  const known = session ? await isKnown(session) : await anyIsKnown();
  try {
    const init = await Init.of({ scope: 'global', harness: [], allow: false });
    return { installed: setUp(init, apply, known), known, notes: init.notes() };
  } catch (error) {
    return { installed: failed('installed', error), known, notes: [] };
  }
}

function setUp(init: Init, apply: boolean, known: boolean): Step {
  const { harnesses } = init.run(apply, []);
  const names = harnesses.filter(({ detected }) => detected).map(({ name }) => name);
  const changes = harnesses.flatMap((harness) => harness.changes);
  const bad = changes.filter(({ action }) => action === 'unreadable').map(({ path }) => path);
  if (bad.length > 0) return step('installed', 'failed', `Cannot be read: ${bad.join(', ')}.`, 'service doctor');
  if (names.length === 0) {
    return known
      ? step('installed', 'done', 'This session is known to the delivery daemon.')
      : step('installed', 'needs_you', 'No program of agents that could be set up is on this machine.');
  }
  const open = changes.filter(({ action }) => action === 'create' || action === 'update').map(({ path }) => path);
  const skipped = open.length === 0 || apply ? init.skipped() : [];
  if (skipped.length > 0)
    return step('installed', 'failed', `Skipped by its program: ${skipped.join(', ')}.`, 'service doctor');
  if (apply || open.length === 0) return step('installed', 'done', `Set up: ${names.join(', ')}.`);
  return step(
    'installed',
    'needs_you',
    `For ${names.join(', ')} would change: ${open.join(', ')}.`,
    'service init --yes',
  );
}

/** Of this session it was told. Starts nothing. */
async function isKnown(session: SessionHere): Promise<boolean> {
  try {
    await askFor(session, 'agents', {}, { start: false });
    return true;
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}

async function anyIsKnown(): Promise<boolean> {
  const status = await daemonStatus().catch(() => null);
  return (status?.sessions?.length ?? 0) > 0;
}
