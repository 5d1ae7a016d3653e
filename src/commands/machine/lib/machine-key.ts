/** Requests a key for this machine: the person approves a short code on another machine. */
import { called, runtime } from '../../../cli/runtime.ts';
import { requireSavable } from '../../../cli/session/savable.ts';
import { askText, mayAsk, missing } from '../../../cli/terminal/prompts.ts';
import { show } from '../../../cli/terminal/terminal.ts';
import { ClientError } from '../../../client/errors.ts';
import { serverInfo } from '../../../client/features.ts';
import type { Answer } from '../../../contract/types.ts';
import { Failure } from '../../../local/failure.ts';
import { type Pending, readCredentials, type ServerEntry } from '../../../local/keys/credentials.ts';
import { readPending } from '../../../local/keys/keystore.ts';
import { canonicalOrigin } from '../../../local/origin.ts';
import {
  type BroughtKey,
  checkIdentity,
  clientFor,
  type Deps,
  dropPendingKey,
  isUnclear,
  keyHasEnded,
  machineLabel,
  refuseBegun,
  refuseConnected,
  savePendingKey,
  saveReceivedKey,
  userHandle,
  type Waiting,
  waitingHere,
} from '../../key/lib/pending-keys.ts';

interface MachineOptions extends Deps {
  handle: string | undefined;
  label: string | undefined;
}

type Begun = Awaited<ReturnType<typeof requestKey>>;

type Key = Extract<Answer<'collectMachineKey'>, { key: unknown }>;

const WAIT_SECONDS = 25;
/** Requests to begin with: one that was lost dies by itself. */
const STARTS = 3;

/** Asks the server for a code, and keeps the secret that goes with it. */
export async function requestKey(url: string, options: MachineOptions) {
  const origin = canonicalOrigin(url);
  const entry = readCredentials(runtime().folders).servers[origin];
  refuseBegun(origin, entry, ['invite', 'guest']);
  const saved = entry?.person?.handle;
  const handle = options.handle ?? saved ?? (await askHandle(options));
  const label = options.label ?? machineLabel(handle);
  const client = clientFor(origin, undefined, options);
  const { server_id: serverId } = await serverInfo(client);
  checkIdentity(origin, entry, serverId);
  // Another key replaces one that has ended. Whose it is to be is asked for by the handle, which may have changed.
  if (entry && !(await keyHasEnded(origin, entry, options))) refuseConnected(origin, entry);
  if (options.handle === undefined && saved !== undefined)
    options.out.note(called(`Asks as ${saved}, as this machine knows you; by another handle: --handle HANDLE`));
  for (let start = 1; ; start++) {
    try {
      const { data } = await client.call('createMachineRequest', { body: { handle, label } });
      const { code, secret, expires_at } = data;
      await savePendingKey({ origin, serverId, token: secret }, { kind: 'machine', handle, label, code, expires_at });
      return { origin, handle, code, expires_at };
    } catch (error) {
      if (error instanceof ClientError && isUnclear(error) && start < STARTS) continue;
      throw error;
    }
  }
}

/** Asks, says how it is approved, and waits for the key. */
export async function bringKey(url: string, options: MachineOptions): Promise<BroughtKey> {
  const begun = await requestKey(url, options);
  printApprovalSteps(begun, options.out.quiet);
  return collectKey(waitingRequest(begun.origin), options);
}

async function askHandle(options: MachineOptions): Promise<string> {
  if (!mayAsk(options.out, options.noInput))
    throw missing('The handle of the person this machine is for', '--handle NAME');
  const handle = await askText('Your handle there', userHandle());
  if (handle === '') throw missing('Your handle there', '--handle NAME');
  return handle;
}

/** Says how the request is approved, and that it is waited for: on standard error, whatever is printed in the end. */
export function printApprovalSteps({ origin, handle, code, expires_at }: Begun, quiet: boolean): void {
  if (quiet) return;
  const minutes = Math.max(1, Math.round((Date.parse(expires_at) - Date.now()) / 60_000));
  show(
    process.stderr,
    [
      `On a machine where ${handle} is signed in:  ${called(`service machine approve ${code} --server ${origin}`)}`,
      `Waiting for approval, ${minutes} ${minutes === 1 ? 'minute' : 'minutes'} left…`,
      '',
    ].join('\n'),
  );
}

/** The request that waits here: of this server, or the only one. */
export function waitingRequest(url: string | undefined): Waiting {
  const ofMachine = ({ pending }: ServerEntry) => (pending?.kind === 'machine' ? pending : null);
  return waitingHere(url === undefined ? null : canonicalOrigin(url), ofMachine, {
    several: (origin) => ({
      message: 'Requests wait at several servers.',
      hint: `Name one: service machine collect ${origin}`,
    }),
    none: () =>
      new Failure('machine_request_invalid', 'No request of this machine is waiting.', {
        hint: 'Start one: service machine request URL --handle HANDLE',
      }),
  });
}

/** Asks for the key until it comes, is refused or the time is over; then saves it. */
export async function collectKey({ origin, entry, pending }: Waiting, deps: Deps): Promise<BroughtKey> {
  const secret = await readPending(origin, entry.server_id, pending);
  if (secret === null)
    throw new Failure('config_corrupt', 'The secret of the request is gone.', { hint: 'Start again.' });
  await requireSavable();
  const { server_id: serverId, person, key } = await untilDecided(origin, secret, pending, deps);
  return saveReceivedKey({ origin, serverId, person, key, token: key.token }, deps);
}

async function untilDecided(origin: string, secret: string, pending: Pending, deps: Deps): Promise<Key> {
  const client = clientFor(origin, undefined, deps);
  const { sleep, now } = client.environment;
  const { features } = await serverInfo(client);
  const waits = Array.isArray(features) && features.includes('collect_wait');
  let unclear = false;
  for (;;) {
    const started = now();
    let pause = 1_000;
    try {
      const body = { secret, ...(waits ? { wait_seconds: WAIT_SECONDS } : {}) };
      const { data } = await client.call('collectMachineKey', { body });
      if ('key' in data) return data;
      if (!waits) pause = Math.min(10, Math.max(1, data.poll_interval_seconds)) * 1000;
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      unclear ||= isUnclear(error);
      // The server decides when the time is over; one that cannot be reached is asked for a minute longer.
      const late = now() > Date.parse(pending.expires_at) + 60_000;
      if (late || !(isUnclear(error) || error.transient)) throw await theEnd(origin, pending, error, unclear);
      pause = Math.max(pause, (error.retryAfter ?? 2) * 1000);
    }
    await sleep(Math.max(0, started + pause - now()));
  }
}

/** A request that can lead nowhere any more is not kept. */
async function theEnd(origin: string, { label }: Pending, error: ClientError, unclear: boolean): Promise<Error> {
  if (error.code !== 'machine_request_invalid' && error.code !== 'machine_request_refused') return error;
  await dropPendingKey(origin);
  if (!unclear || error.code === 'machine_request_refused') return error;
  return new Failure('outcome_unknown', 'The answer with the key may have been lost.', {
    hint: `Ask again: service machine request ${origin}; then revoke "${label}" if service key list shows one unused`,
    details: { reason: error.code },
  });
}
