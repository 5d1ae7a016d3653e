/** The machine's delegation for a server: created on first use, kept in memory only, overwritten when it ends. */
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { Client } from '../../client/client.ts';
import { ClientError } from '../../client/errors.ts';
import { slug } from '../../contract/text.ts';
import type { Folders } from '../../local/folders.ts';
import { KeychainUnusable } from '../../local/keys/keystore.ts';
import { loginCommand } from '../../local/servers.ts';
import { ControlRefusal } from '../control/errors.ts';
import type { Log } from '../log.ts';
import type { Connection } from '../server-link/connection.ts';
import type { CredentialStore } from '../server-link/credentials.ts';

interface DelegationOptions {
  at: Pick<Connection, 'url' | 'transport' | 'identity'>;
  credentials: CredentialStore;
  log: Log;
  name: string;
}

export class Delegation {
  readonly #options: DelegationOptions;
  #token: Buffer | null = null;
  /** The person and the key that it was made with. */
  #madeBy: string | undefined;
  #creating: Promise<void> | null = null;

  constructor(options: DelegationOptions) {
    this.#options = options;
  }

  get exists(): boolean {
    return this.#token !== null;
  }

  /** A client that uses it, with its token. @throws ControlRefusal `login_required`; ClientError if it could not be created */
  async client(): Promise<{ client: Client; token: Buffer | null }> {
    const { at } = this.#options;
    await at.identity.check();
    // After a sign-in with another key, or a sign-out, nothing is done as the person of the first one.
    if (this.#madeBy !== this.#savedKey) this.drop();
    if (!this.#token) {
      this.#creating ??= this.#create().finally(() => {
        this.#creating = null;
      });
      await this.#creating;
    }
    return { client: at.transport.client(this.#token?.toString('utf8')), token: this.#token };
  }

  /** Overwrites and forgets the token. @param refused the token that does not work; one that was created since stays */
  drop(refused = this.#token): void {
    if (!this.#token || this.#token !== refused) return;
    this.#token.fill(0);
    this.#token = null;
    this.#options.log.write('delegation_ended', { origin: this.#options.at.url });
  }

  /** With the person, since of the keys of guests no id is known. */
  get #savedKey(): string | undefined {
    const { credentials, at } = this.#options;
    const { person, key } = credentials.server(at.url)?.entry ?? {};
    return key ? `${person?.id} ${key.id}` : undefined;
  }

  async #create(): Promise<void> {
    const { log, name, at } = this.#options;
    const madeBy = this.#savedKey;
    const { data } = await withPersonKey(this.#options, (client) =>
      client.call('createDelegation', { body: { name } }),
    );
    this.#token = Buffer.from(data.token, 'utf8');
    this.#madeBy = madeBy;
    log.write('delegation_made', { origin: at.url });
  }
}

/**
 * Runs `work` with the person's key, for requests that a delegation may not make.
 * @throws ControlRefusal `login_required` without a key, `delegation_revoked` if the key has ended; ClientError
 */
export async function withPersonKey<T>(
  { at, credentials }: Pick<DelegationOptions, 'at' | 'credentials'>,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  await at.identity.check();
  const token = await requirePersonKey(credentials, at.url);
  try {
    return await work(at.transport.client(token));
  } catch (error) {
    if (error instanceof ClientError && error.status === 401) throw revoked(credentials, at.url);
    throw error;
  }
}

/** The person's key. @throws ControlRefusal `login_required` if none can ever be read; Failure `keychain_locked` */
export async function requirePersonKey(credentials: CredentialStore, origin: string): Promise<string> {
  const key = await credentials.personKey(origin).catch((error: unknown) => {
    if (!(error instanceof KeychainUnusable)) throw error;
    throw new ControlRefusal('login_required', error.message, {
      hint: `${loginHint(credentials, origin)} --store file`,
    });
  });
  if (key !== null) return key;
  throw new ControlRefusal('login_required', `This machine has no key for ${origin}.`, {
    hint: loginHint(credentials, origin),
  });
}

/** The refusal when neither the delegation nor the person's key works any more. */
export const revoked = (credentials: CredentialStore, origin: string): ControlRefusal =>
  new ControlRefusal('delegation_revoked', 'The key of this machine does not work any more.', {
    hint: loginHint(credentials, origin),
  });

const loginHint = (credentials: CredentialStore, origin: string): string =>
  `Your person runs: ${loginCommand(origin, credentials.server(origin)?.entry.mode === 'local')}`;

/**
 * The name of this machine's delegations: the host, and under SERVICE_HOME a hash of the folder, so that two homes do not
 * replace each other's delegations.
 */
export function delegationName({ home, state }: Pick<Folders, 'home' | 'state'>, host = hostname()): string {
  const suffix = home === null ? '' : `-${createHash('sha256').update(state).digest('hex').slice(0, 4)}`;
  const base = slug(host.split('.')[0] ?? '')
    .slice(0, 40 - suffix.length)
    .replace(/-+$/, '');
  return `${base || 'machine'}${suffix}`;
}
