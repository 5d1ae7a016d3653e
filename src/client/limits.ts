/** The client's numbers in one place. Times are milliseconds unless the name says otherwise. */

/** One call in total, the server's `wait` apart. */
export const CALL_TIMEOUT = 30_000;
/**
 * From sending a request to its answer's headers, the server's `wait` apart. `fetch` does not show when a connection
 * stands, so connecting counts in here; a connection that the platform gives up on earlier is known by its error code.
 */
export const HEADERS_TIMEOUT = 15_000;
/** Longest time without a byte of an answer's body. */
export const BODY_IDLE_TIMEOUT = 30_000;
/** Longest time without a byte of a stream: the server sends a comment every 25 s. */
export const STREAM_SILENCE = 60_000;
/** Largest JSON answer that is read, in bytes after decompression; the same in characters for one stream frame. */
export const MAX_ANSWER = 16 * 1024 * 1024;
/** Largest refusal, in bytes after decompression: those of our servers are far smaller. */
export const MAX_REFUSAL = 64 * 1024;
/** Requests for one call, the first included. */
export const MAX_ATTEMPTS = 5;
/** Longest single wait asked of the server, in seconds: common proxies cut a silent request at 60. */
export const MAX_POLL_SECONDS = 50;
/** Two polls never start closer together than this. */
export const MIN_POLL_GAP = 1_000;
