/** A request whose shape is right, as HTTP hands it over. */
import type { Credential } from './caller.ts';
import type { AnyInput, RequestSource } from './usecase.ts';

/** A write whose outcome is kept under a key of the client's. */
export interface Keyed {
  key: string;
  /** SHA-256 over method, path, query, media type and body bytes. */
  requestHash: Buffer;
}

/** The bytes of an upload. */
export interface Incoming {
  /** Idempotency-Key. */
  key: string | null;
  /** SHA-256 over method, path, query and media type. */
  headHash: Buffer;
  /** How many bytes it says will come. */
  length: number | null;
  /** The SHA-256 that it says they have. */
  digest: Buffer | null;
  /** The bytes as they come, bounded in time. May be read once. @throws Refusal */
  bytes(): AsyncIterable<Buffer>;
}

/** The kind of its operation decides which parts it has. */
export interface Call {
  input: AnyInput;
  /** Of all kinds but `info` and `open`; it has not been looked up yet. */
  credential: Credential;
  /** Of `info` and `open`. */
  source: RequestSource;
  /** Of a `write` with an Idempotency-Key. */
  keyed: Keyed | null;
  /** Of an `upload`. */
  incoming: Incoming;
  /** Calls `left` once if the client goes away before it has its answer, or has gone. */
  gone(left: () => void): void;
}
