/** Tokens and keys of servers, read from credentials.json on demand and cached until the file changes. */
import { existsSync, type FSWatcher, lstatSync, watch } from 'node:fs';
import { basename, join } from 'node:path';
import { Failure } from '../../local/failure.ts';
import { type Env, type Folders, makeFolder } from '../../local/folders.ts';
import {
  type Credentials,
  credentialsPath,
  endSeat,
  entryAt,
  isSameServer,
  putSeat,
  readCredentials,
  requireNames,
  type SavedSeat,
  type ServerEntry,
  updateCredentials,
} from '../../local/keys/credentials.ts';
import { readKey } from '../../local/keys/keystore.ts';
import { localServer } from '../../local/servers.ts';

export interface KnownServer {
  origin: string;
  /** The server id that was pinned for the address; no other server there is sent a credential. */
  serverId: string;
  /** Its current address: this machine's own server may have moved to another port. */
  address: string;
  /** The folders with the secret that proves the identity of this machine's own server; null for other servers. */
  ownFolders: Folders | null;
  entry: ServerEntry;
}

export class CredentialStore {
  readonly #folders: Folders;
  readonly #env: Env;
  readonly #listeners = new Set<() => void>();
  #cache: { version: string; saved: Credentials } | null = null;
  /** Keys from the keychain, cached until the file changes, because the keychain may open a dialog. */
  #keys = new Map<string, string>();
  #watcher: FSWatcher | null = null;

  constructor(folders: Folders, env: Env = process.env) {
    this.#folders = folders;
    this.#env = env;
  }

  /** @throws Failure `credentials_unsafe` for a file that others could have read or written, `config_corrupt`. */
  saved(): Credentials {
    const version = this.#fileVersion();
    if (this.#cache && version !== null && this.#cache.version === version) return this.#cache.saved;
    const saved = readCredentials(this.#folders);
    this.#cache = version === null ? null : { version, saved };
    this.#keys = new Map();
    return saved;
  }

  /** Every server with a working seat or a key. */
  origins(): KnownServer[] {
    const saved = this.saved();
    return Object.keys(saved.servers).flatMap((origin) => this.#lookup(saved, origin) ?? []);
  }

  /** A server by its address; this machine's own server also by its former addresses. */
  server(origin: string): KnownServer | null {
    const saved = this.saved();
    const [at] = entryAt(saved, origin) ?? [];
    return at === undefined ? null : this.#lookup(saved, at);
  }

  /** Whether two addresses lead to one server. */
  isSame(one: string, other: string): boolean {
    return one === other || isSameServer(this.saved(), one, other);
  }

  seat(origin: string, memberId: string): SavedSeat | null {
    return this.server(origin)?.entry.seats[memberId] ?? null;
  }

  /** A seat's token; null if it has none. */
  token(origin: string, memberId: string): string | null {
    return this.seat(origin, memberId)?.token ?? null;
  }

  /** The person's key; null if this machine has none. @throws Failure `keychain_locked`, `credentials_unsafe` */
  async personKey(origin: string): Promise<string | null> {
    const known = this.server(origin);
    if (!known?.entry.key) return null;
    const keys = this.#keys;
    const cached = keys.get(known.origin);
    if (cached !== undefined) return cached;
    const key = await readKey(this.#folders, known.origin, known.entry);
    if (key !== null && known.entry.key.store === 'keychain') keys.set(known.origin, key);
    return key;
  }

  /** Saves a new seat with its token. @throws Failure if the file could not be written */
  async saveSeat(origin: string, memberId: string, seat: SavedSeat): Promise<void> {
    requireNames(seat);
    const known = this.server(origin);
    if (!known) throw new Failure('server_unknown', `This machine does not know the server ${origin}.`);
    await updateCredentials(this.#folders, (saved) => {
      if (!saved.servers[known.origin])
        throw new Failure('server_unknown', `This machine does not know the server ${origin} any more.`);
      putSeat(saved, known.origin, memberId, seat);
    });
    this.#notify();
  }

  /** Deletes the token of a removed seat. */
  async endSeat(origin: string, memberId: string): Promise<void> {
    await endSeat(this.#folders, { origin, memberId });
    this.#notify();
  }

  /** Calls back when the file changes. @returns a function that unsubscribes */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    this.#watcher ??= this.#watch();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.close();
    };
  }

  /**
   * Calls back when this machine's own server has started. Use it only while the server is away, because its folder changes
   * often. @returns a function that unsubscribes; null for other servers
   */
  onLocalServerStart(origin: string, listener: () => void): (() => void) | null {
    if (this.server(origin)?.entry.mode !== 'local') return null;
    makeFolder(this.#folders.data);
    try {
      const watcher = watch(this.#folders.data, { persistent: false }, (_event, name) => {
        if (name === 'server.pid' && existsSync(join(this.#folders.data, name))) listener();
      });
      watcher.on('error', () => watcher.close());
      return () => watcher.close();
    } catch {
      return null;
    }
  }

  close(): void {
    this.#watcher?.close();
    this.#watcher = null;
  }

  #lookup(saved: Credentials, origin: string): KnownServer | null {
    const entry = saved.servers[origin];
    if (!entry) return null;
    const own = entry.mode === 'local' ? this.#folders : null;
    const address = own ? localServer(saved, own, this.#env).origin : origin;
    return { origin, serverId: entry.server_id, address, ownFolders: own, entry };
  }

  /** A value that changes with the file; null if it is missing or unsafe, so that it is read again and refused. */
  #fileVersion(): string | null {
    try {
      const stat = lstatSync(credentialsPath(this.#folders), { bigint: true, throwIfNoEntry: false });
      if (!stat?.isFile() || stat.mode & 0o077n) return null;
      return `${stat.ino}.${stat.mtimeNs}.${stat.size}`;
    } catch {
      // The folder is not accessible; reading the file reports that.
      return null;
    }
  }

  /** Watches the folder, because the file is replaced by a rename. */
  #watch(): FSWatcher | null {
    const path = credentialsPath(this.#folders);
    makeFolder(this.#folders.config);
    let last = this.#fileVersion();
    try {
      const watcher = watch(this.#folders.config, { persistent: false }, (_event, name) => {
        if (name !== null && name !== basename(path)) return;
        const identity = this.#fileVersion();
        if (identity === last) return;
        last = identity;
        this.#notify();
      });
      // Without a watcher, changes are noticed at the next read.
      watcher.on('error', () => this.close());
      return watcher;
    } catch {
      return null;
    }
  }

  #notify(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
