/** The address, connections and clock for requests to one server. */
import { Client } from '../../client/client.ts';
import { type Clock, sleepBy } from '../../client/time.ts';
import { Failure } from '../../local/failure.ts';
import type { DaemonClock } from '../clock.ts';
import type { Level, Log, LogEvent, LogFields } from '../log.ts';
import type { CredentialStore, KnownServer } from './credentials.ts';
import { type OriginHttp, originHttp, REQUEST_TIMEOUT_MS } from './http.ts';

/** Clock, randomness and log for server connections; tests replace it. */
export interface Environment extends Clock {
  /** From 0 to below 1. */
  random(): number;
  /** Microseconds of the machine's monotonic clock. */
  nowUs(): number;
  /** Milliseconds since the epoch, to be shown: unlike `now` it goes on while the machine sleeps. */
  wallNow(): number;
  /** `service/<version>`. */
  userAgent: string;
  /** Writes a log line: ids, never message text. */
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

  /** The saved server. @throws Failure `server_unknown` if it was removed, `credentials_unsafe` */
  server(): KnownServer {
    const known = this.#credentials.server(this.origin);
    if (known) return known;
    throw new Failure('server_unknown', `This machine does not know the server ${this.origin} any more.`);
  }

  /** A client of the server. @param slow for streams and long polls */
  client(token?: string, slow = false): Client {
    const { random, sleep, now, userAgent } = this.environment;
    const server = this.server();
    const http = this.#connections(server);
    return new Client({
      origin: server.address,
      token,
      ...{ userAgent, random, sleep, now, timeoutMs: REQUEST_TIMEOUT_MS },
      fetch: slow ? http.slowFetch : http.fetch,
    });
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

/** @param version of this build, for the User-Agent */
export function createEnvironment(clock: DaemonClock, log: Log, version: string): Environment {
  // `now` advances with the monotonic clock, from the wall time of the start.
  const clockOffsetMs = clock.now() - clock.nowUs() / 1_000;
  return {
    now: () => clockOffsetMs + clock.nowUs() / 1_000,
    nowUs: () => clock.nowUs(),
    wallNow: () => clock.now(),
    random: Math.random,
    userAgent: `service/${version}`,
    log: (...line) => log.write(...line),
    sleep: sleepBy((ms, run) => clock.after(ms, run)),
  };
}
