/**
 * How our programs reach the daemon: over a socket that is checked first. A daemon that does not run is started where
 * that is allowed, and one that is older than the caller is replaced. No token ever goes over the socket.
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
  /** The caller's own build; null never replaces the running one. */
  replaceBy: Build | null;
}

/** A connection to the daemon, which is started or replaced first where that is allowed. */
export async function connectDaemon(options: DaemonOptions): Promise<Connection> {
  requirePlatform();
  const connection = await connectOrStart(options);
  if (!options.replaceBy || !(await runsOlder(options, options.replaceBy))) return connection;
  connection.close();
  const { replaceDaemon } = await import('./upgrade.ts');
  await replaceDaemon(options, options.replaceBy);
  return connectOrStart(options);
}

/** Asks a verb that answers once, on a connection of its own. */
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

/** Begins a connection that stays open. What comes is read with `nextFrame`. */
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
    // One that does not say is left to the request that follows.
    return false;
  }
}
