/**
 * The client of the daemon. It checks the socket, starts the daemon if that is allowed, and replaces an older one. No token
 * is ever sent over the socket.
 */
import { type Build, olderBuild } from '../../local/build.ts';
import type { Answers, OpeningFields, RequestFields } from '../protocol.ts';
import { requirePlatform, socketPath } from './address.ts';
import { ask, daemonStatus } from './ask.ts';
import { type Connection, openConnection } from './connection.ts';
import { isAbsent } from './errors.ts';
import type { RequestVerb } from './limits.ts';
import { type DaemonAccess, startAndConnect } from './start.ts';

export interface DaemonOptions extends DaemonAccess {
  /** The caller's build, which replaces an older daemon; null never replaces it. */
  replaceBy: Build | null;
}

/** Connects to the daemon; starts or replaces it first if that is allowed. */
export async function connectDaemon(options: DaemonOptions): Promise<Connection> {
  requirePlatform();
  const connection = await connectOrStart(options);
  if (!options.replaceBy || !(await runsOlder(options, options.replaceBy))) return connection;
  connection.close();
  const { replaceDaemon } = await import('./upgrade.ts');
  await replaceDaemon(options, options.replaceBy);
  return connectOrStart(options);
}

/** Sends one request on a new connection. */
export async function askDaemon<Verb extends RequestVerb>(
  options: DaemonOptions,
  verb: Verb,
  fields: RequestFields[Verb],
): Promise<Answers[Verb]> {
  const connection = await connectDaemon(options);
  try {
    return await ask(connection, verb, fields);
  } finally {
    connection.close();
  }
}

/** Opens a connection that stays open; read its frames with `nextFrame`. */
export async function open<Verb extends keyof OpeningFields>(
  options: DaemonOptions,
  verb: Verb,
  fields: OpeningFields[Verb],
): Promise<Connection> {
  const connection = await connectDaemon(options);
  await connection.send({ op: verb, ...fields });
  return connection;
}

async function connectOrStart(options: DaemonOptions): Promise<Connection> {
  const connect = () => openConnection(socketPath(options.state));
  try {
    return await connect();
  } catch (error) {
    if (!isAbsent(error) || !options.start) throw error;
    const { state, env, start } = options;
    return startAndConnect({ state, env, ...start }, connect);
  }
}

async function runsOlder({ state }: DaemonOptions, own: Build): Promise<boolean> {
  try {
    return olderBuild((await daemonStatus(state)).build, own);
  } catch {
    // A daemon that does not answer is handled by the request that follows.
    return false;
  }
}
