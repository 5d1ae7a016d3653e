/** The connections to all servers on which this machine watches seats. */
import { Connection, type ConnectionOptions } from './connection.ts';
import type { ServerView } from './link.ts';
import type { Environment } from './transport.ts';

/** A token goes only to the origin that issued it. */
export class Servers {
  /** Clock, randomness and log of all connections. */
  readonly environment: Environment;
  readonly #options: ConnectionOptions;
  readonly #connections = new Map<string, Connection>();
  readonly #unwatch: () => void;

  constructor(options: ConnectionOptions) {
    this.environment = options.environment;
    this.#options = options;
    this.#unwatch = options.credentials.onChange(() => {
      for (const connection of this.#connections.values()) connection.credentialsChanged();
    });
  }

  at(origin: string): Connection {
    const known = this.#connections.get(origin);
    if (known) return known;
    const connection = new Connection(origin, this.#options);
    this.#connections.set(origin, connection);
    return connection;
  }

  /** Whether two addresses lead to one server, so that a member there is one seat. */
  isSame(one: string, other: string): boolean {
    return this.#options.credentials.isSame(one, other);
  }

  views(): ServerView[] {
    return [...this.#connections.values()].filter(({ size }) => size > 0).map((connection) => connection.view());
  }

  async close(): Promise<void> {
    this.#unwatch();
    await Promise.all([...this.#connections.values()].map((connection) => connection.close()));
  }
}
