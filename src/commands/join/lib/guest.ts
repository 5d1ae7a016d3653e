/** Becomes a guest of a server by a join line. One code makes one guest, even if an answer is lost. */
import { randomBytes } from 'node:crypto';
import { called } from '../../../cli/runtime.ts';
import { ClientError } from '../../../client/errors.ts';
import { retryDelay } from '../../../client/retry.ts';
import type { JoinLine } from '../../../contract/join-line.ts';
import type { Answer, BodyIn } from '../../../contract/types.ts';
import { Failure } from '../../../local/failure.ts';
import type { Pending, ServerEntry } from '../../../local/keys/credentials.ts';
import { readPending } from '../../../local/keys/keystore.ts';
import { canonicalOrigin } from '../../../local/origin.ts';
import {
  abandon,
  begin,
  checkIdentity,
  clientFor,
  type Deps,
  digestOf,
  entryToConnect,
  isUnclear,
  land,
  machineLabel,
} from '../../key/lib/pending-keys.ts';
import { type Joining, joinedText, seated } from './join.ts';

interface GuestOptions extends Deps {
  /** Name of the agent. */
  name: string | undefined;
  harness: string | undefined;
  confirm(question: string): Promise<void>;
}

type Come = BodyIn<'joinAsGuest'> & { client_token: string };
type Guest = Answer<'joinAsGuest'>;

const ATTEMPTS = 5;
/** How long a code can work at most, in milliseconds: so long the key of a join whose answer was lost is kept. */
const CODE_MS = 604_800_000;

/** Makes the person a guest by a code, or finds out that an earlier try already did. */
export async function joinAsGuest(line: JoinLine, options: GuestOptions): Promise<Joining> {
  const origin = canonicalOrigin(line.origin);
  const digest = digestOf(line.code.toUpperCase().replaceAll(/[- ]/g, ''));
  const entry = entryToConnect(origin);
  const begun = begunHere(origin, entry);
  const earlier = begun?.digest === digest ? begun : null;
  if (entry && begun && !earlier) {
    // With another code: it may have worked although nobody heard so, and its guest must not become two.
    const key = await readPending(entry.server_id, begun);
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
  const token = (earlier && (await readPending(serverId, earlier))) ?? `abh_${randomBytes(32).toString('base64url')}`;
  const expires_at = new Date(open.environment.now() + CODE_MS).toISOString();
  await begin({ origin, serverId, token }, { kind: 'guest', digest, handle: '', label, expires_at });
  const { name, harness } = options;
  const body = { code: line.code, key_name: label, name, harness, client_token: token };
  const guest = await come(origin, body, options, earlier !== null);
  return guest ? arrive(origin, guest, token, options) : arriveAlone(origin, serverId, token, options);
}

/** The guest's join that was begun here. @throws Failure while another way there waits for its answer. */
function begunHere(origin: string, entry: ServerEntry | undefined): Pending | null {
  const pending = entry?.pending;
  if (!pending || Date.parse(pending.expires_at) <= Date.now()) return null;
  if (pending.kind === 'guest') return pending;
  throw new Failure('outcome_unknown', `Another way onto ${origin} was begun here and waits for its answer.`, {
    hint:
      pending.kind === 'invite'
        ? 'Find out what became of it first: service connect --resume'
        : `Finish it first: service machine collect ${origin}`,
  });
}

/**
 * Sends the same join until its outcome is clear; the server answers a repeat with another agent token.
 * @returns null when the guest is there, but the time in which the agent's token could be had again is over.
 */
async function come(origin: string, body: Come, options: GuestOptions, sentBefore: boolean): Promise<Guest | null> {
  const client = clientFor(origin, undefined, options);
  const { random, sleep } = client.environment;
  let unclear = sentBefore;
  for (let attempt = 1; ; attempt++) {
    try {
      return (await client.call('joinAsGuest', { body })).data;
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      const again = isUnclear(error);
      unclear ||= again;
      if (again && attempt < ATTEMPTS) {
        await sleep(retryDelay(error, attempt + 1, random));
        continue;
      }
      if (!unclear) {
        await abandon(origin);
        throw error;
      }
      if (!again && (await opens(origin, body.client_token, options))) return null;
      throw stillUnclear(origin, error);
    }
  }
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
  const arrived = await land({ origin, serverId, person, key, token }, options);
  const joined = await seated(guest, serverId, options.out);
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
  const arrived = await land(
    { origin, serverId, person, key: { id: 'unknown', name: machineLabel(''), expires_at: null }, token },
    options,
  );
  const hint = called(`Ask there for another code: service code guest ${me.name}`);
  options.out.warn('agent_token_lost', 'Your key works, but the token of the agent that came along is lost.', hint);
  return { record: { ...arrived.record, guest: true }, replayed: false, text: () => arrived.text };
}
