/** A person looks up the machine behind a short code and approves or refuses a key for it. */
import type { ReadTx, WriteTx } from '../db/tx.ts';
import type { Caller } from '../operation/caller.ts';
import type { ReadCase, WriteCase } from '../operation/usecase.ts';
import { audit } from '../record/audit.steps.ts';
import type { RootKey } from '../text/root-key.ts';
import { readShortCode } from '../text/short-code.ts';
import { timestamp } from '../text/time.ts';
import { callerView } from '../views/person.ts';
import { decide, type MachineRow, pendingByCode } from './machines.store.ts';
import { machineRequestInvalid } from './refusals.rules.ts';

export const lookUpMachineRequest =
  (root: RootKey): ReadCase<'lookUpMachineRequest'>['run'] =>
  async (tx, caller, { body }) =>
    view(await requestFor(tx, caller, root, body.code), 'pending', caller);

export const approveMachineRequest = (root: RootKey): WriteCase<'approveMachineRequest'> => ({
  async run(tx, caller, { body, requestId }) {
    const request = await requestFor(tx, caller, root, body.code);
    await settle(tx, caller, request, 'approved');
    await audit(tx, {
      action: 'machine.approved',
      by: caller,
      target: request.id,
      requestId,
      details: { label: request.label, requested_from: request.requested_from },
    });
    return { answer: view(request, 'approved', caller) };
  },
});

export const refuseMachineRequest = (root: RootKey): WriteCase<'refuseMachineRequest'> => ({
  async run(tx, caller, { body }) {
    const request = await requestFor(tx, caller, root, body.code);
    await settle(tx, caller, request, 'refused');
    return { answer: view(request, 'refused', caller) };
  },
});

/** The pending request behind a code, if it asks for the caller by the handle they have now. @throws Refusal */
async function requestFor(tx: ReadTx, caller: Caller, root: RootKey, typed: string): Promise<MachineRow> {
  const code = readShortCode(typed);
  const request = code === null ? undefined : await pendingByCode(tx, root.digest(code));
  if (request?.handle !== caller.person.handle) throw machineRequestInvalid();
  return request;
}

/** Of two decisions at once, the one that comes second finds nothing to decide. */
async function settle(tx: WriteTx, caller: Caller, { id }: MachineRow, state: 'approved' | 'refused'): Promise<void> {
  const by = { personId: caller.person.person_id, keyId: caller.key.key_id };
  if ((await decide(tx, id, state, by)) === 0) throw machineRequestInvalid();
  tx.publish(`machine:${id}`);
}

const view = (row: MachineRow, state: 'pending' | 'approved' | 'refused', caller: Caller) => ({
  label: row.label,
  state,
  requested_from: row.requested_from,
  created_at: timestamp(row.created_at),
  expires_at: timestamp(row.expires_at),
  person: callerView(caller),
});
