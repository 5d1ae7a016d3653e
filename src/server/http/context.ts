/** What the steps of a request leave for those after them, and what all of them are given. */
import type { Middleware, ParameterizedContext } from 'koa';
import type { Logger } from 'pino';
import type { OperationKind, OperationRow } from '../../contract/operation.ts';
import type { OperationName } from '../../contract/operations.ts';
import type { Clock } from '../db/clock.ts';
import type { Call } from '../operation/call.ts';
import type { Operations } from '../operation/dispatch.ts';
import type { Attempts, Pass } from '../rates/attempts.ts';
import type { TellRefused } from './refusals.ts';
import type { Site } from './site.ts';

/** A header that may come once: its value, null without one, a symbol when there were more. */
export type Once = string | null | symbol;

export interface RequestHead {
  host: Once;
  authorization: Once;
  idempotencyKey: Once;
  contentType: Once;
  /** Characters of all names and values, with two for what separates each. */
  size: number;
}

/** Filled in by the steps in their order (`app.ts`). */
export interface State extends Call {
  requestId: string;
  /** Headers of every answer, names and values in turn. */
  standing: readonly string[];
  head: RequestHead;
  /** The `Host` that was accepted. */
  host: string;
  /** The operation that is asked for. */
  operation: OperationName;
  row: OperationRow;
  kind: OperationKind;
  /** The values of its path parameters. */
  params: Readonly<Record<string, string>>;
  /** Attempts that wait for the end of this one. */
  passes?: Pass[];
  /** The code of an answer that refuses although nothing was thrown. */
  refused?: string | undefined;
}

export type Context = ParameterizedContext<State>;
export type Step = Middleware<State>;

export interface AppOptions {
  operations: Operations;
  site: Site;
  attempts: Attempts;
  log: Logger;
  tellRefused: TellRefused;
  /** Of the server, for the API description. */
  version: string;
  /** The folder of the built web page; default: that of this build, if it was built. */
  page?: string | undefined;
  clock: Clock;
}
