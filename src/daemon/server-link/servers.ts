/** All servers that this machine holds watched seats on. */
import { Failure } from '../../local/failure.ts';
import type { ControlError, Origins as OriginsPort, ServerView } from '../types.ts';
import { Connection, type ConnectionOptions } from './connection.ts';

export class Origins implements OriginsPort {
  readonly #options: ConnectionOptions;
  readonly #connections = new Map<string, Connection>();
  readonly #unwatch: () => void;

  constructor(options: ConnectionOptions) {
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

  views(): ServerView[] {
    return [...this.#connections.values()].filter(({ size }) => size > 0).map((connection) => connection.view());
  }

  credentialsProblem(): ControlError | null {
    try {
      this.#options.credentials.saved();
      return null;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const { code, message, hint } = error;
      return { code, message, hint };
    }
  }

  async close(): Promise<void> {
    this.#unwatch();
    await Promise.all([...this.#connections.values()].map((connection) => connection.close()));
  }
}
