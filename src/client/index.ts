/** The client every program uses: the command line, the daemon and the page. No Node.js built-ins. */
export type { NextStep } from '../contract/errors.ts';
export type { Reply } from './answer.ts';
export { type BoardFrame, type BoardStreamOptions, boardStream } from './board-stream.ts';
export { type CallInput, Client, type ClientOptions, type RequestInfo } from './client.ts';
export { type Downloaded, download, type Sink } from './download.ts';
export { ClientError, type ClientErrorOptions, type Delivery } from './errors.ts';
export { requireFeature, serverInfo } from './features.ts';
export { type HintFrame, type HintFrameName, type HintStreamOptions, hintStream } from './hint-stream.ts';
export { newIdempotencyKey } from './idempotency.ts';
export { type PagedName, pages } from './pages.ts';
export type { Outgoing } from './request.ts';
export type { ReconnectInfo, StreamOptions } from './streams.ts';
export { sha256, type VerifyOptions, type VerifyResult, verifyBoard } from './verify.ts';
export { type WaitedName, type WaitOptions, type WaitResult, waitFor } from './wait.ts';
