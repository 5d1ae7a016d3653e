/**
 * From the link of an invite, or from proposed work, to a session that takes part: one walk that looks what is done already,
 * does what can be done here, and says who has to do the rest. Safe to repeat. In a session no key of a person is read.
 */
import { runtime } from '../../../cli/runtime.ts';
import { askFor } from '../../../cli/session/ask-daemon.ts';
import { sessionHere } from '../../../cli/session/here.ts';
import { atServer } from '../../../cli/session/open-session.ts';
import { ClientError } from '../../../client/errors.ts';
import type { PairingRequest } from '../../../contract/types.ts';
import type { SessionHere } from '../../../harness/detect.ts';
import { Failure } from '../../../local/failure.ts';
import { entryAt, readCredentials } from '../../../local/keys/credentials.ts';
import { daemonStatus } from '../../daemon/lib/daemon.ts';
import { Init } from '../../init/lib/harness-setup.ts';
import type { InviteLink } from '../../invite/lib/invite-link.ts';
import { begun, type Deps } from '../../key/lib/pending-keys.ts';
import { failed, type Step, step } from './step.ts';
import type { View } from './view.ts';

interface SetupOptions extends Deps {
  handle: string | undefined;
  /** Name of the key. */
  name: string | undefined;
  /** Changes to programs are made. */
  yes: boolean;
}

export interface Target {
  origin: string;
  link: InviteLink | null;
  /** Id of the work that was proposed. */
  pairing: string | null;
}

/** @param look opens the eyes that are used once there is an account: a person's in a terminal, the daemon's in a session. */
export async function setUp(target: Target, options: SetupOptions, look: () => Promise<View>): Promise<Step[]> {
  const programs = await programsHere(options.yes);
  const steps = [programs.installed];
  const account = await accountOf(target, options);
  steps.push(account);
  if (account.state !== 'done') return [...steps, ...later(account)];
  const blind = sessionHere() !== null && !programs.known;
  const view = blind ? unseen : await look();
  const boards = await guarded('memberships', () => memberships(view, target, options));
  if (boards.name === 'account') return [programs.installed, boards, ...later(boards)];
  steps.push(boards, harness(programs));
  const found = await guarded('pairing', () => pairing(target, view));
  steps.push(found, await guarded('delivery', () => delivery(target, view)));
  return steps;
}

const UNSEEN = 'Seen once the delivery daemon knows this session.';

/** Of a session that the daemon does not know nothing can be asked. */
const unseen: View = {
  personId: null,
  boards: async () => null,
  pairings: async () => null,
  pairing: async () => null,
  accepts: null,
};

/** A step whose error is its outcome. */
async function guarded(name: Step['name'], run: () => Promise<Step>): Promise<Step> {
  try {
    return await run();
  } catch (error) {
    return failed(name, error);
  }
}

const later = (account: Step): Step[] =>
  (['memberships', 'harness', 'pairing', 'delivery'] as const).map((name) =>
    step(name, 'waiting', account.state === 'failed' ? 'There is no account.' : 'Follows the account.'),
  );

/** The account at the server: there already, or made by the invite. */
async function accountOf({ origin, link }: Target, options: SetupOptions): Promise<Step> {
  const known = entryAt(readCredentials(runtime().folders), origin)?.[1];
  if (known?.person && (known.key || known.mode === 'local'))
    return step('account', 'done', `@${known.person.handle} at ${origin}.`);
  if (!link) {
    return step('account', 'needs_you', `This machine has no account at ${origin}.`, `service login ${origin}`);
  }
  const { mayAsk } = await import('../../../cli/terminal/prompts.ts');
  const asks = mayAsk(options.out, options.noInput);
  if (options.handle === undefined && !asks && !begun(known, 'invite')) return chooseHandle(link, options);
  const { connectBy } = await import('../../connect/lib/connect.ts');
  try {
    const { record } = await connectBy(link, {
      ...options,
      displayName: undefined,
      yes: options.handle !== undefined || !asks,
    });
    const { handle } = (record as { person: { handle: string } }).person;
    return step('account', 'done', `@${handle} at ${origin}.`);
  } catch (error) {
    return unclear(error) && !begun(known, 'guest')
      ? step('account', 'waiting', 'Whether the account was made is not known yet; try again.')
      : failed('account', error);
  }
}

/** Nobody is asked here, and a handle is for good: it has to be said. */
async function chooseHandle(link: InviteLink, options: SetupOptions): Promise<Step> {
  try {
    const { previewOf } = await import('../../invite/lib/invite-link.ts');
    const { suggested_handle: suggested } = await previewOf(link, options);
    const choose = 'Choose the handle the account is to have, and run it again with --handle';
    return suggested === undefined
      ? step('account', 'needs_you', `${choose}.`, 'service setup --help')
      : step('account', 'needs_you', `${choose}; ${suggested} is suggested.`, `service setup - --handle ${suggested}`);
  } catch (error) {
    return failed('account', error);
  }
}

const unclear = (error: unknown): boolean =>
  (error instanceof Failure || error instanceof ClientError) && error.code === 'outcome_unknown';

/** It is the first look at the server: an account whose key has ended is seen here, and is no account. */
async function memberships(view: View, target: Target, options: SetupOptions): Promise<Step> {
  try {
    const boards = await view.boards();
    if (boards === null) return step('memberships', 'waiting', UNSEEN);
    return step('memberships', 'done', boards.length === 0 ? 'On no board yet.' : `On ${boards.join(', ')}.`);
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code === 'server_identity_changed') return failed('account', error);
    // The same of a person's key, and of the daemon's delegation in a session.
    if (code !== 'unauthorized' && code !== 'delegation_revoked') throw error;
    return (await anew(target, options)) ?? failed('account', error);
  }
}

/** What comes first where a key has ended and an invite that still works leads to another account. */
async function anew({ origin, link }: Target, options: SetupOptions): Promise<Step | null> {
  if (!link) return null;
  const { previewOf } = await import('../../invite/lib/invite-link.ts');
  if (!(await previewOf(link, options).catch(() => null))) return null;
  const handle = readCredentials(runtime().folders).servers[origin]?.person?.handle;
  const ended = `The key of @${handle} at ${origin} does not work any more: it was revoked or has expired.`;
  return step(
    'account',
    'needs_you',
    `${ended} Forget it, then run this again to come by the invite.`,
    `service logout ${origin}`,
  );
}

/** What the person has to trust or start anew before sessions are told of. */
function harness({ known, notes }: Programs): Step {
  if (known) return step('harness', 'done', 'Nothing has to be trusted or started anew.');
  return step('harness', 'needs_you', ['Start the program anew once it is set up.', ...notes].join(' '));
}

/** The work this is about: the one named, or the only one that waits for this person. */
async function theWork({ pairing: named }: Target, view: View): Promise<PairingRequest | null | 'unknown' | 'several'> {
  const requests = await view.pairings();
  if (requests === null) return 'unknown';
  if (named !== null) return requests.find(({ id }) => id === named) ?? view.pairing(named);
  const [only, another] = requests.filter((request) => request.recipient_id === view.personId);
  if (!only) return null;
  return another ? 'several' : only;
}

async function pairing(target: Target, view: View): Promise<Step> {
  const work = await theWork(target, view);
  if (work === 'unknown') return step('pairing', 'waiting', UNSEEN);
  if (work === 'several')
    return step(
      'pairing',
      'needs_you',
      'Several requests wait: accept the one that is meant.',
      `service pairing list${atServer(target.origin)}`,
    );
  if (work === null) return step('pairing', 'done', 'No work is proposed.');
  if (work.accepted || work.state === 'ready') return step('pairing', 'done', `${work.id} is accepted.`);
  if (work.closed_reason !== undefined)
    return step(
      'pairing',
      'failed',
      `${work.id} is ${work.state}.`,
      `service pairing show ${work.id}${atServer(target.origin)}`,
    );
  const accept = `service pairing accept ${work.id} --here${atServer(target.origin)}`;
  if (!view.accepts) return step('pairing', 'needs_you', 'Accept it in the session that is to do the work.', accept);
  const accepted = await view.accepts(work);
  return step('pairing', 'done', `${accepted.id} is accepted by this session.`);
}

/** Done only by what the two sessions have proven to each other. */
async function delivery(target: Target, view: View): Promise<Step> {
  const work = await theWork(target, view);
  if (work === 'unknown' || work === 'several' || work === null) {
    return step('delivery', 'waiting', 'Proven by the first work with somebody else.');
  }
  if (work.state === 'ready') return step('delivery', 'done', 'Both sessions have heard each other.');
  if (work.closed_reason !== undefined) return step('delivery', 'failed', `${work.id} is ${work.state}.`);
  return step(
    'delivery',
    'waiting',
    `Both sessions have to hear each other; ${work.id} is ${work.state}.`,
    `service pairing list${atServer(target.origin)}`,
  );
}

interface Programs {
  installed: Step;
  /** The daemon knows this session; in a terminal, any. */
  known: boolean;
  /** What the person has to trust in them. */
  notes: string[];
}

/** Looks what is to be set up, and does it where that was said. */
async function programsHere(apply: boolean): Promise<Programs> {
  const session = sessionHere();
  const known = session ? await isKnown(session) : await anyIsKnown();
  try {
    const init = await Init.of({ scope: 'global', harness: [], allow: false });
    return { installed: await setUpHere(init, apply, known), known, notes: init.notes() };
  } catch (error) {
    return { installed: failed('installed', error), known, notes: [] };
  }
}

async function setUpHere(init: Init, apply: boolean, known: boolean): Promise<Step> {
  const { harnesses } = await init.run(apply, []);
  const names = harnesses.filter(({ detected }) => detected).map(({ name }) => name);
  const changes = harnesses.flatMap((harness) => harness.changes);
  const bad = changes.filter(({ action }) => action === 'unreadable').map(({ path }) => path);
  if (bad.length > 0)
    return step('installed', 'failed', `Cannot be read or changed: ${bad.join(', ')}.`, 'service doctor');
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
