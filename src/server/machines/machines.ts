/** A machine asks for a key before anybody has signed in on it; a person decides by its short code; the machine collects the key. */
import { Refusal } from '../../contract/errors.ts';
import { firstFree } from '../boards/names.rules.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import { findKeyById } from '../keys/credentials.store.ts';
import { IDLE_SECONDS, makeKey } from '../keys/keys.steps.ts';
import { workingKeyNames } from '../keys/keys.store.ts';
import { type Caller, keyWorks } from '../operation/caller.ts';
import type { OpenCase, ReadCase, WriteCase } from '../operation/usecase.ts';
import { lockPeople } from '../people/people.store.ts';
import { audit } from '../record/audit.steps.ts';
import { network } from '../text/address.ts';
import { newId, newSecret } from '../text/ids.ts';
import type { RootKey } from '../text/root-key.ts';
import { newShortCode, readShortCode } from '../text/short-code.ts';
import { timestamp } from '../text/time.ts';
import { keyView } from '../views/key.ts';
import { callerView } from '../views/person.ts';
import {
  codeInUse,
  countPoll,
  decide,
  insertRequest,
  liveRequests,
  MAX_POLLS,
  type MachineRow,
  pendingByCode,
  requestBySecret,
  setCollected,
} from './machines.store.ts';

/** Seconds between two polls of a machine. */
const POLL_SECONDS = 2;
const LIFETIME_MS = 300_000;
const MAX_LIVE = 1_000;
const MAX_LIVE_OF_ADDRESS = 20;
const DRAWS = 5;

export const createMachineRequest: OpenCase<'createMachineRequest'> = {
  prepare: (body) => ({ ...body, handle: body.handle.trim().replace(/^@/, '').toLowerCase() }),

  async run(tx, source, { body, deps: { root } }) {
    await tx.serialise('machine_requests');
    await requireRoom(tx, source.subject);
    const { code, digest } = await drawCode(tx, root);
    const secret = newSecret('collect');
    const expiresAt = tx.now + LIFETIME_MS;
    // Whether anybody has the handle is not looked at: the answer must not tell.
    await insertRequest(tx, {
      id: newId('mrq', tx.now),
      code_digest: digest,
      secret_digest: root.digest(secret),
      handle: body.handle,
      label: body.label,
      requested_from: source.address,
      created_at: tx.now,
      expires_at: expiresAt,
      state: 'pending',
      decided_by: null,
      decided_key: null,
      polls: 0,
    });
    return { answer: { code, secret, expires_at: timestamp(expiresAt), poll_interval_seconds: POLL_SECONDS } };
  },
};

/** @throws Refusal `rate_limited` while too many requests are undecided, on the server or of one client. */
async function requireRoom(tx: WriteTx, client: string | null): Promise<void> {
  const live = await liveRequests(tx);
  if (live.length >= MAX_LIVE) throw tooMany(tx, live);
  if (client === null) return;
  const own = live.filter((row) => network(row.requested_from) === client);
  if (own.length >= MAX_LIVE_OF_ADDRESS) throw tooMany(tx, own);
}

function tooMany(tx: WriteTx, live: { expires_at: number }[]): Refusal {
  const soonest = Math.min(...live.map((row) => row.expires_at));
  const seconds = Math.min(Math.max(Math.ceil((soonest - tx.now) / 1000), 1), 60);
  return new Refusal('rate_limited', 'Too many machines are waiting for approval.', {
    hint: 'Approve or refuse those that wait, or try again later.',
    retryAfter: seconds,
    details: { bucket: 'machine_requests', retry_after_seconds: seconds },
  });
}

async function drawCode(tx: WriteTx, root: RootKey): Promise<{ code: string; digest: Buffer }> {
  for (let draw = 0; draw < DRAWS; draw++) {
    const code = newShortCode();
    const digest = root.digest(code);
    if (!(await codeInUse(tx, digest))) return { code, digest };
  }
  throw new Refusal('unavailable', 'No free code was found.', { hint: 'Try again.', retryAfter: 1 });
}

export const lookUpMachineRequest: ReadCase<'lookUpMachineRequest'>['run'] = async (
  tx,
  caller,
  { body, deps: { root } },
) => view(await requestFor(tx, caller, root, body.code), 'pending', caller);

type Decision = WriteCase<'approveMachineRequest'> & WriteCase<'refuseMachineRequest'>;

/** Of two decisions at once, the one that comes second finds nothing to decide. */
const deciding = (state: 'approved' | 'refused'): Decision => ({
  async run(tx, caller, { body, requestId, deps: { root } }) {
    const request = await requestFor(tx, caller, root, body.code);
    const { id: target, label, requested_from } = request;
    const by = { personId: caller.person.person_id, keyId: caller.key.key_id };
    if ((await decide(tx, target, state, by)) === 0) throw machineRequestInvalid();
    tx.publish(`machine:${target}`);
    if (state === 'approved') {
      const details = { label, requested_from };
      await audit(tx, { action: 'machine.approved', by: caller, target, requestId, details });
    }
    return { answer: view(request, state, caller) };
  },
});

export const approveMachineRequest = deciding('approved');
export const refuseMachineRequest = deciding('refused');

/** The pending request behind a code, if it asks for the caller by the handle they have now. @throws Refusal */
async function requestFor(tx: ReadTx, caller: Caller, root: RootKey, typed: string): Promise<MachineRow> {
  const code = readShortCode(typed);
  const request = code === null ? undefined : await pendingByCode(tx, root.digest(code));
  const { handle, person_created_at } = caller.person;
  // Who takes a handle later is not whom a request for it meant.
  if (request?.handle !== handle || request.created_at < person_created_at) throw machineRequestInvalid();
  return request;
}

const view = (row: MachineRow, state: 'pending' | 'approved' | 'refused', caller: Caller) => ({
  label: row.label,
  state,
  requested_from: row.requested_from,
  created_at: timestamp(row.created_at),
  expires_at: timestamp(row.expires_at),
  person: callerView(caller),
});

export const collectMachineKey: OpenCase<'collectMachineKey'> = {
  async run(tx, _door, { body, requestId, deps: { root, info } }, again) {
    const request = await requestBySecret(tx, root.digest(body.secret));
    if (!request || request.expires_at <= tx.now) throw machineRequestInvalid();
    // However long one request waits, it is one poll; the last one that is allowed may wait too.
    if (request.polls >= MAX_POLLS && !again) throw machineRequestInvalid();
    switch (request.state) {
      case 'pending':
        return pending(tx, request, body.wait_seconds, again);
      case 'approved':
        return { answer: await collect(tx, root, info.server_id, request, requestId) };
      case 'refused':
        throw new Refusal('machine_request_refused', 'The person refused this machine.', {
          hint: 'If that was a mistake, start again: service machine request URL --handle HANDLE.',
        });
      case 'collected':
        throw machineRequestInvalid();
    }
  },
};

async function pending(tx: WriteTx, request: MachineRow, waitSeconds: number, again: boolean) {
  if (!again) await countPoll(tx, request.id);
  const ms = Math.min(waitSeconds * 1000, request.expires_at - tx.now);
  return {
    status: 202,
    answer: {
      state: 'pending' as const,
      expires_at: timestamp(request.expires_at),
      poll_interval_seconds: POLL_SECONDS,
    },
    ...(waitSeconds === 0 ? {} : { hold: { key: `machine:${request.id}`, ms } }),
  };
}

/** Makes the key and uses the request up. @throws Refusal `machine_request_invalid` when approver or their key ended since. */
async function collect(tx: WriteTx, root: RootKey, serverId: string, request: MachineRow, requestId: string) {
  await lockPeople(tx);
  const approver = await findKeyById(tx, request.decided_key ?? '');
  if (!approver || !keyWorks(approver, tx.now)) throw machineRequestInvalid();
  const taken = await workingKeyNames(tx, approver.person_id);
  const { row, token } = await makeKey(tx, root, {
    personId: approver.person_id,
    name: firstFree(request.label, taken),
    origin: 'machine',
    ends: { idleSeconds: IDLE_SECONDS },
    parentKeyId: approver.key_id,
  });
  if ((await setCollected(tx, request.id)) === 0) throw machineRequestInvalid();
  await audit(tx, {
    action: 'key.created',
    by: { person: approver, key: approver },
    target: row.id,
    requestId,
    details: { name: row.name, origin: row.origin, machine_request: request.id },
  });
  return {
    server_id: serverId,
    person: callerView({ person: approver }),
    key: { ...(await keyView(tx, row)), token },
  };
}

/** The one answer for a code or secret that is wrong, expired, decided, used up or somebody else's. */
const machineRequestInvalid = (): Refusal =>
  new Refusal('machine_request_invalid', 'This code does not work.', {
    hint: 'Start again on the new machine: service machine request URL --handle HANDLE.',
  });
