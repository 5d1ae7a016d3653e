/** A machine asks for a key; nobody has signed in on it yet. */
import { Refusal } from '../../contract/errors.ts';
import type { WriteTx } from '../db/tx.ts';
import type { OpenCase } from '../operation/usecase.ts';
import { network } from '../text/address.ts';
import { newId, newSecret } from '../text/ids.ts';
import type { RootKey } from '../text/root-key.ts';
import { newShortCode } from '../text/short-code.ts';
import { timestamp } from '../text/time.ts';
import { codeInUse, insertRequest, liveRequests } from './machines.store.ts';
import { POLL_SECONDS } from './refusals.rules.ts';

const LIFETIME_MS = 300_000;
const MAX_LIVE = 1_000;
const MAX_LIVE_OF_ADDRESS = 20;
const DRAWS = 5;

export const createMachineRequest = (root: RootKey): OpenCase<'createMachineRequest'> => ({
  prepare: (body) => ({ ...body, handle: body.handle.trim().replace(/^@/, '').toLowerCase() }),

  async run(tx, source, { body }) {
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
});

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
