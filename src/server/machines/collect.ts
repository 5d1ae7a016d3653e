/** The machine asks for its key until its person has decided. */
import { Refusal } from '../../contract/errors.ts';
import { firstFree } from '../boards/names.rules.ts';
import type { WriteTx } from '../db/tx.ts';
import { findKeyById } from '../keys/credentials.store.ts';
import { IDLE_SECONDS, makeKey } from '../keys/keys.steps.ts';
import { workingKeyNames } from '../keys/keys.store.ts';
import { keyWorks } from '../operation/caller.ts';
import type { OpenCase } from '../operation/usecase.ts';
import { lockPeople } from '../people/people.store.ts';
import { audit } from '../record/audit.steps.ts';
import type { RootKey } from '../text/root-key.ts';
import { timestamp } from '../text/time.ts';
import { keyView } from '../views/key.ts';
import { callerView } from '../views/person.ts';
import { countPoll, MAX_POLLS, type MachineRow, requestBySecret, setCollected } from './machines.store.ts';
import { machineRequestInvalid, POLL_SECONDS } from './refusals.rules.ts';

export const collectMachineKey = (root: RootKey, serverId: string): OpenCase<'collectMachineKey'> => ({
  async run(tx, _door, { body, requestId }, again) {
    const request = await requestBySecret(tx, root.digest(body.secret));
    if (!request || request.expires_at <= tx.now) throw machineRequestInvalid();
    // However long one request waits, it is one poll; the last one that is allowed may wait too.
    if (request.polls >= MAX_POLLS && !again) throw machineRequestInvalid();
    switch (request.state) {
      case 'pending':
        return pending(tx, request, body.wait_seconds, again);
      case 'approved':
        return { answer: await collect(tx, root, serverId, request, requestId) };
      case 'refused':
        throw new Refusal('machine_request_refused', 'The person refused this machine.', {
          hint: 'If that was a mistake, start again: service machine request URL --handle HANDLE.',
        });
      case 'collected':
        throw machineRequestInvalid();
    }
  },
});

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
    name: firstFree(request.label, taken, 40),
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
