/** Signs in with a key, which is checked with its server before it is saved. */
import { runtime } from '../../../cli/runtime.ts';
import { ANOTHER_KEY } from '../../../cli/session/ended-key.ts';
import { pinLocal, useLocalServer } from '../../../cli/session/local-server.ts';
import { clientOptions } from '../../../cli/session/open-session.ts';
import { hasPipedInput, readAny } from '../../../cli/stdin.ts';
import { onOneLine } from '../../../cli/terminal/fields.ts';
import { askSecret, mayAsk, missing } from '../../../cli/terminal/prompts.ts';
import { showTime, type TimeStyle } from '../../../cli/terminal/time.ts';
import { Client } from '../../../client/client.ts';
import { ClientError } from '../../../client/errors.ts';
import { pages } from '../../../client/pages.ts';
import type { AccessKey } from '../../../contract/types.ts';
import { Failure } from '../../../local/failure.ts';
import { localEntry, readCredentials, updateCredentials } from '../../../local/keys/credentials.ts';
import { canonicalOrigin, looksLikeUrl } from '../../../local/origin.ts';
import { localServer, namedServer, usualServer } from '../../../local/servers.ts';
import { type Deps, refuseBegun } from '../../key/lib/pending-keys.ts';
import { formerText, settle } from '../../key/lib/save-key.ts';

interface SignInOptions extends Deps {
  url: string | undefined;
  store: string | undefined;
}

/** What is printed, and how a person is told. */
interface SignedIn {
  record: object;
  text(times: TimeStyle): string;
}

/** The key, from a pipe or typed unseen. */
async function readSecret(origin: string, { out, noInput }: Deps): Promise<string> {
  // What starts this program may leave it an empty pipe.
  const piped = hasPipedInput() ? (await readAny('-', out, 'a key')).trim() : '';
  if (piped) return piped;
  if (mayAsk(out, noInput)) return askSecret('Key (abh_…)');
  const another = `where you are signed in on another machine only: service machine request ${origin}`;
  throw missing('The key', `Pipe it in: service login ${origin} < key.txt; ${another}`);
}

function notTaken(error: unknown, origin: string): unknown {
  if ((error as { code?: unknown }).code !== 'unauthorized') return error;
  const message = `${origin} does not take this key: it was revoked, has expired or is of another server.`;
  return new Failure('unauthorized', message, { hint: `${ANOTHER_KEY} --server ${origin}` });
}

/** What speaks TLS ends a connection that begins in plain text without a word. */
function maybeSecure(error: unknown, origin: string): unknown {
  const { code, delivery } = error as Partial<ClientError>;
  if (code !== 'server_unreachable' || delivery !== 'unclear' || !origin.startsWith('http:')) return error;
  return new Failure(code, `${origin} ended the connection without an answer; it may speak TLS.`, {
    hint: `Then its address begins with https: service login ${origin.replace('http:', 'https:')}`,
  });
}

/** Signs in to a server, or accepts this machine's own server again. */
export async function signIn(options: SignInOptions): Promise<SignedIn> {
  const { env, folders } = runtime();
  const saved = readCredentials(folders);
  const usual = usualServer(saved, folders, env);
  const named =
    options.url ?? (env.SERVICE_SERVER || (!usual.local ? usual.origin : saved.default ? 'local' : undefined));
  if (named === 'local') return signInLocally(options);
  if (!named) throw missing('The address of the server', 'service login https://team.example.com');
  const origin = looksLikeUrl(named) ? canonicalOrigin(named) : namedServer(named, saved, folders, env).origin;
  refuseBegun(origin, saved.servers[origin], ['invite', 'guest']);
  const token = checked(await readSecret(origin, options));
  const client = new Client({ origin, token, ...clientOptions(options) });
  const { data: info } = await client.call('getInfo').catch((error) => {
    throw maybeSecure(error, origin);
  });
  if (info.server_id === localEntry(saved)?.[1].server_id) return signInLocally(options);
  const { person, key, previousUse } = await checkKey(client).catch((error) => {
    throw notTaken(error, origin);
  });
  // Signing in again with the key that is here already tells nothing about another machine.
  const again = key !== null && saved.servers[origin]?.key?.id === key.id;
  const known = key ?? { id: 'unknown', name: 'unknown', expires_at: null };
  const arrival = { origin, serverId: info.server_id, person, key: known, token, store: options.store };
  const { stored, replaced, former, standard, place } = await settle(arrival, options.out);
  const { server_id } = info;
  const withKey = key ? ` with key "${onOneLine(key.name)}",` : ', key';
  const who = onOneLine(`${person.handle} (${person.server_role})`);
  const signedIn = `Signed in to ${origin} as ${who}${withKey} saved in ${place}.`;
  const text = former ? `${signedIn}\n${formerText(former, replaced)}` : signedIn;
  const record = { server_id, person, key, stored, previous_use: previousUse, replaced, default: standard };
  return {
    record: former ? { ...record, replaced_person: former } : record,
    text: (times) =>
      again || previousUse === null
        ? text
        : `${text}\nLast used ${showTime(previousUse, times)}, maybe by another machine: one revocation would then cut both.`,
  };
}

/** The local server's key stands in its own folder; signing in means accepting who it is now. */
async function signInLocally({ out }: SignInOptions): Promise<SignedIn> {
  const { env, folders } = runtime();
  const known = { ...localServer(readCredentials(folders), folders, env), entry: null };
  const { origin } = await useLocalServer(known, { out, autostart: true }, false);
  const entry = await pinLocal(origin, true);
  if (!entry?.person)
    throw new Failure('login_required', 'The local server has no key for you.', { hint: 'service server logs' });
  const { person, server_id } = entry;
  const standard = await updateCredentials(folders, (saved) => {
    const own = localEntry(saved)?.[1];
    if (own) own.logged_in_at = new Date().toISOString();
    return usualServer(saved, folders, env).local;
  });
  return {
    record: { server_id, person, stored: 'local-file', replaced: true, default: standard },
    text: () => `Signed in to ${origin} as ${person.handle} (admin), key saved in ${folders.data}.`,
  };
}

function checked(token: string): string {
  if (/^abh_[A-Za-z0-9_-]{32,}$/.test(token)) return token;
  const what = token.startsWith('aba_') ? "That is an agent's token, not a person's key." : 'That is not a key.';
  throw new Failure('key_invalid', what, { hint: 'A key begins with abh_' });
}

interface CheckedKey {
  person: { id: string; handle: string; display_name: string | null; server_role: string };
  /** Null for a guest, who cannot look at keys. */
  key: AccessKey | null;
  /** When it was used before this; null: never, or not told. */
  previousUse: string | null;
}

/** @throws ClientError `unauthorized` for a key that does not work. */
async function checkKey(client: Client): Promise<CheckedKey> {
  try {
    return await ownKey(client);
  } catch (error) {
    if (!(error instanceof ClientError) || error.code !== 'guest_not_allowed') throw error;
    const { data: me } = await client.call('getMe');
    const person = {
      id: me.id,
      handle: me.name,
      display_name: me.display_name,
      server_role: me.server_role ?? 'guest',
    };
    return { person, key: null, previousUse: null };
  }
}

async function ownKey(client: Client): Promise<CheckedKey> {
  let checked: CheckedKey | undefined;
  for await (const page of pages(client, 'listKeys', { query: { state: 'working', limit: 500 } })) {
    // Of the first page: to the second this check itself is a use.
    checked ??= { person: page.person, key: null, previousUse: page.current_key_previous_use };
    checked.key ??= page.keys.find((key) => key.id === page.current_key_id) ?? null;
  }
  return checked as CheckedKey;
}
