/** Joins a server by an invite. One invite creates one account, even if an answer is lost. */
import { fields, onOneLine } from '../../../cli/terminal/fields.ts';
import { askText, askYes, mayAsk, missing } from '../../../cli/terminal/prompts.ts';
import { ClientError } from '../../../client/errors.ts';
import { readInviteLink } from '../../../contract/links.ts';
import type { Answer } from '../../../contract/types.ts';
import { Failure } from '../../../local/failure.ts';
import type { Pending, ServerEntry } from '../../../local/keys/credentials.ts';
import { readPending } from '../../../local/keys/keystore.ts';
import { canonicalOrigin } from '../../../local/origin.ts';
import { type InviteLink, previewOf } from '../../invite/lib/invite-link.ts';
import {
  type BroughtKey,
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
  userHandle,
  type Waiting,
  waitingHere,
} from '../../key/lib/pending-keys.ts';

interface ConnectOptions extends Deps {
  handle: string | undefined;
  displayName: string | undefined;
  /** Name of the key. */
  name: string | undefined;
  yes: boolean;
}

type Preview = Answer<'previewInvite'>;

type Account = Pick<Answer<'connectPerson'>, 'person' | 'key'> & { pairing: string | undefined };

/** Redeems an invite, or finds out that an earlier try already did. */
export async function connectBy({ origin, secret }: InviteLink, options: ConnectOptions): Promise<BroughtKey> {
  const entry = entryToConnect(origin);
  refuseBegun(origin, entry, ['guest']);
  const earlier = begun(entry, 'invite');
  if (entry && earlier) {
    const done = await finish(origin, entry, earlier, options);
    if (done) return done;
    if (earlier.digest !== digestOf(secret)) throw stillUnclear(origin);
  }
  const preview = await lookAt({ origin, secret }, options, earlier);
  checkIdentity(origin, entry, preview.server_id);
  const handle = earlier?.handle ?? (await agree(origin, preview, options));
  const label = earlier?.label ?? options.name ?? machineLabel(handle);
  const token = (entry && earlier && (await readPending(origin, entry.server_id, earlier))) || newKey();
  await savePendingKey(
    { origin, serverId: preview.server_id, token },
    { kind: 'invite', digest: digestOf(secret), handle, label, expires_at: preview.expires_at },
  );
  const body = { invite: secret, handle, display_name: options.displayName, key_name: label, client_token: token };
  const client = clientFor(origin, secret, options);
  const account = await sendUntilClear<Account>(client, origin, {
    sentBefore: earlier !== null,
    send: async () => {
      const { data } = await client.call('connectPerson', { body });
      const pairing = 'onboarding' in data ? data.onboarding.pairing_request_id : undefined;
      return { person: data.person, key: data.key, pairing };
    },
    // A taken handle is told only of an invite that still works; an invalid one was so in every earlier request too.
    refusals: ['handle_taken', 'handle_invalid'],
    find: async () => (await accountOf(origin, token, label, options)) ?? undefined,
    unclear: (cause) => stillUnclear(origin, cause),
  });
  return saveReceivedKey({ origin, serverId: preview.server_id, ...account, token }, options);
}

/** The connect that waits for its answer here: to this server, or the only one. @param given its address or its link. */
export function waitingConnect(given: string | undefined): Waiting {
  const wanted = given === undefined ? null : canonicalOrigin(readInviteLink(given)?.origin ?? given);
  return waitingHere(wanted, (entry) => begun(entry, 'invite'), {
    several: (origin) => ({
      message: 'Connects to several servers wait for their answers.',
      hint: `Name one: service connect ${origin} --resume`,
    }),
    none: () =>
      new Failure('invite_link_invalid', 'No connect waits for its answer here.', {
        hint: 'Start with the link of the invite: service connect -',
      }),
  });
}

/** Finds out what became of a connect whose answer was lost. */
export async function resume({ origin, entry, pending }: Waiting, options: ConnectOptions): Promise<BroughtKey> {
  const done = await finish(origin, entry, pending, options);
  if (done) return done;
  throw stillUnclear(origin);
}

/** What the invite leads to. One that was sent before and does not work any more may have worked then. */
async function lookAt(link: InviteLink, options: ConnectOptions, earlier: Pending | null): Promise<Preview> {
  try {
    return await previewOf(link, options);
  } catch (error) {
    if (earlier && error instanceof ClientError && error.code === 'invite_invalid') throw stillUnclear(link.origin);
    throw error;
  }
}

/** Shows where the invite leads, asks for the handle and for a yes. @returns the handle. */
async function agree(origin: string, preview: Preview, options: ConnectOptions): Promise<string> {
  const suggested = preview.suggested_handle ?? userHandle();
  const asks = mayAsk(options.out, options.noInput);
  const inviter = `@${onOneLine(preview.inviter_handle)}`;
  const boards = onOneLine(preview.boards.map((board) => board.name).join(', '));
  if (asks && !options.yes) {
    options.out.note(
      fields([
        ['Server', origin],
        ['From', inviter],
        ['Boards', boards],
        ['Work', onOneLine(preview.work ?? '')],
        ['Until', onOneLine(preview.expires_at)],
      ]).join('\n'),
    );
  }
  const handle = options.handle ?? (asks && !options.yes ? await askText('Your handle there', suggested) : suggested);
  if (handle === '') throw missing('Your handle there', '--handle NAME');
  if (options.yes) return handle;
  const where = boards === '' ? '' : `, onto ${boards}`;
  const question = `Connect to ${origin} as ${handle}, invited by ${inviter}${where}?`;
  if (!asks) throw new Failure('confirmation_required', question, { hint: 'Repeat it with --yes' });
  await askYes(question);
  return handle;
}

/** The account that a key opens, if the connect that was to make it has happened. */
async function accountOf(origin: string, token: string, label: string, deps: Deps): Promise<Account | null> {
  const client = clientFor(origin, token, deps);
  try {
    const { data: receipt } = await client.call('getOnboardingReceipt');
    const { data } = await client.call('listKeys', { query: { limit: 500 } });
    const key = data.keys.find(({ id }) => id === receipt.key_id);
    if (!key) throw new Failure('server_unexpected', `${origin} does not list the key it made, ${label}.`);
    return { person: data.person, key, pairing: receipt.pairing_request_id };
  } catch (error) {
    // Whatever keeps the receipt from being read says nothing about the account.
    if (error instanceof ClientError) return null;
    throw error;
  }
}

async function finish(origin: string, entry: ServerEntry, pending: Pending, deps: Deps): Promise<BroughtKey | null> {
  const token = await readPending(origin, entry.server_id, pending);
  const account = token === null ? null : await accountOf(origin, token, pending.label, deps);
  if (token === null || account === null) return null;
  return saveReceivedKey({ origin, serverId: entry.server_id, ...account, token }, deps);
}

function stillUnclear(origin: string, cause?: ClientError): Failure {
  return new Failure('outcome_unknown', `Whether ${origin} made your account could not be found out.`, {
    hint: 'The key is kept until the invite ends. Try later: service connect --resume',
    details: { origin, ...(cause ? { reason: cause.code } : {}) },
  });
}
