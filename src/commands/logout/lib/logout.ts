/** Signs out: revokes this machine's key on its server and forgets it here. */
import { asProblem, EXIT, Exit } from '../../../cli/errors.ts';
import type { Output } from '../../../cli/output.ts';
import { noteDone, runtime } from '../../../cli/runtime.ts';
import { nameEndedKey } from '../../../cli/session/ended-key.ts';
import type { Session } from '../../../cli/session/open-session.ts';
import { serverOfPerson } from '../../../cli/session/open-session.ts';
import { plural } from '../../../cli/terminal/fields.ts';
import { ClientError } from '../../../client/errors.ts';
import type { ErrorBody } from '../../../contract/errors.ts';
import type { AccessKey } from '../../../contract/types.ts';
import { Failure, usage } from '../../../local/failure.ts';
import { readCredentials } from '../../../local/keys/credentials.ts';
import { knownServers } from '../../../local/servers.ts';
import { forgetKeyIn, forgetKeyOf, onlyKey, readKeys, requireForgettable } from '../../key/lib/keys.ts';

type SignedOut = ReturnType<typeof nothing>;

/** What was done, and how a person is told. */
export interface SignOut {
  record: SignedOut;
  text: string;
}

/** The other servers this machine has a key of; its own stays with its owner. */
export function signedInElsewhere(): string[] {
  const { env, folders } = runtime();
  const saved = readCredentials(folders);
  return knownServers(saved, folders, env)
    .filter(({ local, entry }) => !local && entry?.key != null)
    .map(({ origin }) => origin);
}

/** Ends every browser session of the person. */
export async function signBrowsersOut({ client, server }: Session): Promise<SignOut> {
  const { data } = await client.call('endAllBrowserSessions');
  return {
    record: { ...nothing(server), ended_sessions: data.ended },
    text: `Ended ${plural(data.ended, 'browser session', 'browser sessions')} on ${server.url}.`,
  };
}

/** Revokes the key in use, after a question that says what stops with it, and forgets it. */
export async function signOut(session: Session, ask: (question: string) => Promise<void>): Promise<SignOut> {
  const { server, choice } = session;
  await requireForgettable(session);
  const keys = await keysOf(session);
  const key = keys?.keys.find(({ id }) => id === keys.current_key_id);
  if (!keys || !key) {
    const forgotten = await forgetKeyIn(session);
    return {
      record: { ...nothing(server), forgotten },
      text: `The key for ${server.url} had ended already; it is forgotten.`,
    };
  }
  await ask(`Revoke key "${key.name}" on ${server.url}? That stops ${stops(key)}.${onlyKey(keys, server)}`);
  const { warning } = await revoke(session, key);
  if (warning) choice.out.warn('no_admin_key', warning, '');
  const forgotten = await forgetKeyIn(session);
  if (server.local)
    choice.out.note('This machine’s own server makes you another key when it starts: service server restart');
  return {
    record: {
      ...nothing(server),
      revoked: true,
      ended_sessions: key.browser_sessions,
      agents_ended: key.agent_seats,
      forgotten,
    },
    text: `Signed out of ${server.url}: key "${key.name}" revoked, ${stops(key)} stopped.`,
  };
}

/** Forgets a key without a word to its server. @param named as given; default: the server in use. */
export async function forgetOnly(named: string | undefined, out: Output): Promise<SignOut> {
  const chosen = serverOfPerson(named);
  if (chosen.local) throw usage('The key of this machine’s own server stands in its data folder, and stays there.');
  const server = { name: chosen.name, url: chosen.origin };
  out.base.server = server;
  const forgotten = await forgetKeyOf(server.url, out);
  const text = forgotten
    ? `Forgot the key for ${server.url}; it still works there.`
    : `There is no key for ${server.url} here.`;
  return { record: { ...nothing(server), forgotten }, text };
}

/** Leaves several servers, each on its own: one that fails keeps no other from being left. */
export async function leaveAll(servers: string[], leave: (url: string) => Promise<SignOut>) {
  const left: SignedOut[] = [];
  const failed: { server: { url: string }; error: ErrorBody['error'] }[] = [];
  const texts: string[] = [];
  let exit = 0;
  for (const url of servers) {
    try {
      const { record, text } = await leave(url);
      left.push(record);
      texts.push(text);
      // To forget a key that had ended asks no server.
      noteDone();
    } catch (thrown) {
      if (thrown instanceof Exit) {
        if (texts.length === 0) throw thrown;
        // A question was answered with no: what came of the servers before it is told all the same.
        exit = thrown.code;
        break;
      }
      const { body, exit: code } = asProblem(thrown);
      failed.push({ server: { url }, error: body.error });
      texts.push(`${url}: ${body.error.message}${body.error.hint ? ` (${body.error.hint})` : ''}`);
      exit = code;
    }
  }
  const sum = (field: 'ended_sessions' | 'agents_ended') => left.reduce((total, record) => total + record[field], 0);
  const all = (field: 'revoked' | 'forgotten') => failed.length === 0 && left.every((record) => record[field]);
  const record = {
    revoked: all('revoked'),
    ended_sessions: sum('ended_sessions'),
    agents_ended: sum('agents_ended'),
    forgotten: all('forgotten'),
    servers: [...left, ...failed],
  };
  return { record, text: texts.join('\n') || 'There is no key of another server here.', exit };
}

const nothing = ({ name, url }: { name: string; url: string }) => ({
  server: { name, url },
  revoked: false,
  ended_sessions: 0,
  agents_ended: 0,
  forgotten: false,
});

const stops = (key: AccessKey): string =>
  `${plural(key.browser_sessions, 'browser session', 'browser sessions')} and ${plural(key.agent_seats, 'agent', 'agents')}`;

/** The person's keys; null where that of this machine does not work any more, which only its own server knows. */
async function keysOf(session: Session) {
  try {
    return await readKeys(session.client, undefined);
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    await nameEndedKey(error, session);
    if (error.status === 401 && error.code !== 'server_identity_changed') return null;
    throw stillWorks(error, session.server.url);
  }
}

/** A repeat after a lost answer is refused with 401: then the first one did it. */
async function revoke({ client, server }: Session, key: AccessKey): Promise<{ warning?: string | undefined }> {
  try {
    return (await client.call('revokeKey', { params: { key: key.id } })).data;
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    if (error.status === 401) return {};
    throw error.delivery === 'unclear' ? maybeRevoked(error, server.url) : stillWorks(error, server.url);
  }
}

const maybeRevoked = ({ code, message }: ClientError, url: string): Failure =>
  new Failure(code, `${message} The key may have been revoked.`, {
    hint: `Run it again, which finds out: service logout ${url}`,
    exit: EXIT.noAnswer,
  });

/** What to do where a key could not be revoked. */
function stillWorks(error: ClientError, url: string): unknown {
  const hint = `Forget it on this machine only, while it works on: service logout ${url} --keep-key`;
  if (error.code === 'guest_not_allowed')
    return new Failure(error.code, 'Guests cannot revoke keys, so yours goes on working.', { hint });
  if (error.status !== undefined) return error;
  return new Failure(error.code, `${error.message} The key was not revoked and still works.`, {
    hint,
    exit: EXIT.noAnswer,
  });
}
