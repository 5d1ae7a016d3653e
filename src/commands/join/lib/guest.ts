/** Becomes a guest of a server by a join line. One code makes one guest, even if an answer is lost. */
import { called } from '../../../cli/runtime.ts';
import { onOneLine } from '../../../cli/terminal/fields.ts';
import { ClientError } from '../../../client/errors.ts';
import { WEEK } from '../../../contract/durations.ts';
import type { JoinLine } from '../../../contract/join-line.ts';
import { shellArgument } from '../../../contract/text.ts';
import type { Answer } from '../../../contract/types.ts';
import { Failure } from '../../../local/failure.ts';
import { readPending } from '../../../local/keys/keystore.ts';
import { canonicalOrigin } from '../../../local/origin.ts';
import { saveSeat } from '../../agent/lib/new-seat.ts';
import {
  begun,
  checkIdentity,
  clientFor,
  type Deps,
  digestOf,
  entryToConnect,
  machineLabel,
  newKey,
  refuseBegun,
  savePendingKey,
  saveReceivedKey,
  sendUntilClear,
} from '../../key/lib/pending-keys.ts';
import { type Joining, joinedText, seated } from './join.ts';

interface GuestOptions extends Deps {
  /** Name of the agent. */
  name: string | undefined;
  harness: string | undefined;
  confirm(question: string): Promise<void>;
}

type Guest = Answer<'joinAsGuest'>;

/** How long a code can work at most, in milliseconds: so long the key of a join whose answer was lost is kept. */
const CODE_MS = WEEK;

/** Makes the person a guest by a code, or finds out that an earlier try already did. */
export async function joinAsGuest(line: JoinLine, options: GuestOptions): Promise<Joining> {
  const origin = canonicalOrigin(line.origin);
  const digest = digestOf(line.code.toUpperCase().replaceAll(/[- ]/g, ''));
  const entry = entryToConnect(origin);
  refuseBegun(origin, entry, ['invite']);
  const before = begun(entry, 'guest');
  const earlier = before?.digest === digest ? before : null;
  if (entry && before && !earlier) {
    // With another code: it may have worked although nobody heard so, and its guest must not become two.
    const key = await readPending(origin, entry.server_id, before);
    if (key !== null && (await opens(origin, key, options))) return arriveAlone(origin, entry.server_id, key, options);
  }
  if (!earlier) {
    await options.confirm(
      `Come onto the board ${line.board} of ${origin} as a guest? That makes an account of yours there, whose key is kept on this machine.`,
    );
  }
  const open = clientFor(origin, undefined, options);
  const { server_id: serverId } = (await open.call('getInfo')).data;
  checkIdentity(origin, entry, serverId);
  const label = earlier?.label ?? machineLabel('');
  const token = (earlier && (await readPending(origin, serverId, earlier))) ?? newKey();
  const expires_at = new Date(open.environment.now() + CODE_MS).toISOString();
  await savePendingKey({ origin, serverId, token }, { kind: 'guest', digest, handle: '', label, expires_at });
  const { name, harness } = options;
  const body = { code: line.code, key_name: label, name, harness, client_token: token };
  // Null: the guest is there, but the time in which the agent's token could be had again is over.
  const guest = await sendUntilClear<Guest | null>(open, origin, {
    sentBefore: earlier !== null,
    send: async () => (await open.call('joinAsGuest', { body })).data,
    find: async (answered) => (answered && (await opens(origin, token, options)) ? null : undefined),
    unclear: (cause) => stillUnclear(origin, cause),
  });
  return guest ? arrive(origin, guest, token, options) : arriveAlone(origin, serverId, token, options);
}

/** Whether a key works. */
async function opens(origin: string, token: string, options: GuestOptions): Promise<boolean> {
  try {
    await clientFor(origin, token, options).call('getMe');
    return true;
  } catch (error) {
    if (error instanceof ClientError) return false;
    throw error;
  }
}

const stillUnclear = (origin: string, cause: ClientError): Failure =>
  new Failure('outcome_unknown', `Whether ${origin} took you as a guest could not be found out.`, {
    hint: 'The key is kept: repeat the same command within 10 minutes, or ask for another code.',
    details: { origin, reason: cause.code },
  });

async function arrive(origin: string, guest: Guest, token: string, options: GuestOptions): Promise<Joining> {
  const { server_id: serverId, person, key } = guest;
  const arrived = await saveReceivedKey({ origin, serverId, person, key, token }, options);
  // The key was said to be in the same file.
  const out = arrived.record.stored === 'file' ? undefined : options.out;
  await saveSeat({ url: origin, local: false }, guest, { out });
  const joined = seated(guest, options.out);
  options.out.base.server = { name: new URL(origin).host, url: origin };
  return {
    record: { ...arrived.record, ...joined, guest: true },
    replayed: false,
    text: (again) => [arrived.text, joinedText(joined, origin, again)].join('\n'),
  };
}

/** The guest's key works, but the token of the agent that came along was in an answer that nobody got. */
async function arriveAlone(origin: string, serverId: string, token: string, options: GuestOptions): Promise<Joining> {
  const client = clientFor(origin, token, options);
  const { data: me } = await client.call('getMe');
  const person = { id: me.id, handle: me.name, server_role: me.server_role ?? 'guest' };
  const arrived = await saveReceivedKey(
    { origin, serverId, person, key: { id: 'unknown', name: machineLabel(''), expires_at: null }, token },
    options,
  );
  const hint = called(`Ask there for another code: service code guest ${shellArgument(onOneLine(me.name))}`);
  options.out.warn('agent_token_lost', 'Your key works, but the token of the agent that came along is lost.', hint);
  return { record: { ...arrived.record, guest: true }, replayed: false, text: () => arrived.text };
}
