/** What requests to one server need: its current address, its connections, the clock. */
import type { ClientOptions } from '../../client/client.ts';
import type { Clock } from '../../client/time.ts';
import { Failure } from '../../local/failure.ts';
import type { Level, LogEvent, LogFields } from '../log.ts';
import type { CredentialStore, KnownOrigin } from './credentials.ts';
import { type OriginHttp, originHttp, TOTAL_MS } from './http.ts';

/** The world as server connections need it. */
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

export class Wire {
  readonly origin: string;
  readonly world: Environment;
  readonly #credentials: CredentialStore;
  #http: { address: string; http: OriginHttp } | null = null;

  constructor(origin: string, world: Environment, credentials: CredentialStore) {
    this.origin = origin;
    this.world = world;
    this.#credentials = credentials;
  }

  /** @throws Failure `server_unknown` for a server that this machine has forgotten, `credentials_unsafe`. */
  known(): KnownOrigin {
    const known = this.#credentials.server(this.origin);
    if (known) return known;
    throw new Failure('server_unknown', `This machine does not know the server ${this.origin} any more.`);
  }

  /** Options of every client to it. @param slow for streams and waits. */
  options(slow = false): Omit<ClientOptions, 'origin'> {
    const { random, sleep, now, userAgent } = this.world;
    const http = this.#connections(this.known());
    return { userAgent, random, sleep, now, timeoutMs: TOTAL_MS, fetch: slow ? http.slowFetch : http.fetch };
  }

  close(): void {
    this.#http?.http.close();
    this.#http = null;
  }

  #connections({ address, own }: KnownOrigin): OriginHttp {
    if (this.#http?.address !== address) {
      this.close();
      this.#http = { address, http: originHttp(address, own) };
    }
    return this.#http!.http;
  }
}
