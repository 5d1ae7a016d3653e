/** What requests to one server need: its current address, its connections, the clock. */
import type { ClientOptions } from '../../client/client.ts';
import type { Clock } from '../../client/time.ts';
import { Failure } from '../../local/failure.ts';
import type { Level, LogEvent, LogFields } from '../log.ts';
import type { CredentialStore, KnownServer } from './credentials.ts';
import { type OriginHttp, originHttp, REQUEST_TIMEOUT_MS } from './http.ts';

/** The environment as server connections need it. */
export interface Environment extends Clock {
  /** From 0 to below 1. */
  random(): number;
  /** Microseconds of the machine's monotonic clock. */
  nowUs(): number;
  /** `service/<version>`. */
  userAgent: string;
  /** A line of the log: ids, never texts. */
  log(event: LogEvent, fields: LogFields, level?: Level): void;
}

export class Transport {
  readonly origin: string;
  readonly environment: Environment;
  readonly #credentials: CredentialStore;
  #http: { address: string; http: OriginHttp } | null = null;

  constructor(origin: string, environment: Environment, credentials: CredentialStore) {
    this.origin = origin;
    this.environment = environment;
    this.#credentials = credentials;
  }

  /** @throws Failure `server_unknown` for a server that this machine has forgotten, `credentials_unsafe`. */
  server(): KnownServer {
    const known = this.#credentials.server(this.origin);
    if (known) return known;
    throw new Failure('server_unknown', `This machine does not know the server ${this.origin} any more.`);
  }

  /** Options of every client to it. @param slow for streams and waits. */
  options(slow = false): Omit<ClientOptions, 'origin'> {
    const { random, sleep, now, userAgent } = this.environment;
    const http = this.#connections(this.server());
    return { userAgent, random, sleep, now, timeoutMs: REQUEST_TIMEOUT_MS, fetch: slow ? http.slowFetch : http.fetch };
  }

  close(): void {
    this.#http?.http.close();
    this.#http = null;
  }

  #connections({ address, ownFolders }: KnownServer): OriginHttp {
    if (this.#http?.address !== address) {
      this.close();
      this.#http = { address, http: originHttp(address, ownFolders) };
    }
    return this.#http!.http;
  }
}
