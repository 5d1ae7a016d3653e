/** Saves a new key and its server on this machine. */
import type { z } from 'zod';
import type { Output } from '../../../cli/output.ts';
import { called, runtime } from '../../../cli/runtime.ts';
import { inSession } from '../../../cli/session/here.ts';
import type { replacedPerson } from '../../../cli/shapes.ts';
import { onOneLine } from '../../../cli/terminal/fields.ts';
import {
  type Credentials,
  credentialsPath,
  freeName,
  NOWHERE,
  readCredentials,
  type ServerEntry,
  seatsAt,
  updateCredentials,
} from '../../../local/keys/credentials.ts';
import { forgetKey, forgetPending, placeOf, saveKey, storeChoice } from '../../../local/keys/keystore.ts';
import { knownServers, usualServer } from '../../../local/servers.ts';

export interface Arrival {
  origin: string;
  serverId: string;
  person: { id: string; handle: string };
  key: { id: string; name: string; expires_at: string | null };
  token: string;
  /** `--store`; default: SERVICE_KEYSTORE. */
  store?: string | undefined;
}

interface Settled {
  stored: 'keychain' | 'file';
  /** Another key of this server was on this machine before. */
  replaced: boolean;
  /** Who was signed in before, if it was somebody else. */
  former: Former | null;
  /** It is the server that commands use when none is named. */
  standard: boolean;
  /** Where the key stands, in words. */
  place: string;
}

/** Another person whose key, or agents, were on this machine. */
type Former = z.infer<typeof replacedPerson>;

/** What is to be known of the person whose place somebody else took here. */
export const formerText = ({ handle, agents }: Former, replaced: boolean): string =>
  [
    `${handle} was signed in here before`,
    replaced ? `: the key of ${handle} was replaced, and is not revoked by that.` : '.',
    agents.length === 0 ? '' : ` Until ${handle} signs in again, these agents do not act here: ${agents.join(', ')}.`,
  ].join('');

/** Saves the key and what belongs to it; whatever led to it is over then. */
export async function settle(arrival: Arrival, out: Output): Promise<Settled> {
  const { env, folders } = runtime();
  const choice = storeChoice(arrival.store ?? env.SERVICE_KEYSTORE);
  const place = await saveKey(choice, arrival, { env, folders });
  const { stored, locked } = place;
  const { replaced, former, standard } = await remember(arrival, place);
  const path = credentialsPath(folders);
  if (stored === 'file') {
    const why = locked ? ': the system keychain is locked' : choice === 'auto' ? ': no system keychain here' : '';
    out.note(`Saved in ${path} (mode 0600)${why}.`);
    if (locked) out.note(`Once it is unlocked: service login ${nameOf(arrival.origin)} --move-to keychain`);
  }
  if (!standard)
    out.note(called(`Another server is chosen here; to use this one: service servers use ${nameOf(arrival.origin)}`));
  return { stored, replaced, former, standard, place: stored === 'keychain' ? 'the system keychain' : path };
}

async function remember(
  { origin, serverId, person, key, token }: Arrival,
  place: Awaited<ReturnType<typeof saveKey>>,
): Promise<Pick<Settled, 'replaced' | 'former' | 'standard'>> {
  const { env, folders } = runtime();
  const before = readCredentials(folders).servers[origin];
  const result = await updateCredentials(folders, (saved) => {
    makeRoom(saved, origin);
    // What an agent's session connects to takes no place from what the person uses.
    const aside = inSession() && knownServers(saved, folders, env).length > 0;
    const known = saved.servers[origin];
    const { pending: _over, former: _former, ...rest } = known ?? {};
    const entry: ServerEntry = {
      ...rest,
      server_id: serverId,
      name: known?.name ?? freeName(saved, origin),
      mode: 'team',
      // They are named among words of ours.
      person: { id: person.id, handle: onOneLine(person.handle) },
      key: {
        id: key.id,
        name: onOneLine(key.name),
        expires_at: key.expires_at,
        ...placeOf(place, token),
      },
      ...seatsAt(known, serverId, person.id),
      ...(aside ? {} : { logged_in_at: new Date().toISOString() }),
    };
    saved.servers[origin] = entry;
    return {
      replaced: known?.key != null,
      former: formerOf(known, person),
      standard: usualServer(saved, folders, env).origin === origin,
    };
  });
  // A locked keychain keeps the key before, which is not read any more.
  if (before) await forgetKey(origin, before, place).catch(() => {});
  if (before?.pending) await forgetPending(origin, before.server_id, before.pending);
  return result;
}

/** Of whom a key or tokens were here. */
function formerOf(known: ServerEntry | undefined, { id }: Arrival['person']): Former | null {
  if (!known?.person || known.person.id === id) return null;
  const agents = Object.values(known.seats).flatMap(({ token, name, board }) => (token ? [`${name}@${board}`] : []));
  return known.key || agents.length > 0 ? { ...known.person, agents } : null;
}

/** Another server may be where this machine's own one was: what is known about that one stands elsewhere then. */
function makeRoom(saved: Credentials, origin: string): void {
  const own = saved.servers[origin];
  if (own?.mode !== 'local') return;
  delete saved.servers[origin];
  saved.servers[NOWHERE] = { ...own, urls: (own.urls ?? []).filter((url) => url !== origin) };
  if (saved.default === origin) saved.default = NOWHERE;
}

function nameOf(origin: string): string {
  return readCredentials(runtime().folders).servers[origin]?.name ?? origin;
}
