/** Sends a hook's request to the daemon, and prints the text of its answer. */
import { ask, isReplaced } from '../daemon/control/ask.ts';
import { connectDaemon } from '../daemon/control/client.ts';
import type { Connection } from '../daemon/control/connection.ts';
import type { RequestVerb } from '../daemon/control/limits.ts';
import type { Answers, RequestFields } from '../daemon/protocol.ts';
import type { Context } from './context.ts';
import { contextOutput } from './say.ts';

/** Sends a request and handles the answer while the connection is open; a text counts as received only once that is confirmed. */
export async function request<Verb extends RequestVerb, T>(
  { daemon, header }: Context,
  verb: Verb,
  fields: RequestFields[Verb],
  work: (answer: Answers[Verb], connection: Connection) => Promise<T>,
): Promise<T> {
  let connection = await connectDaemon(daemon);
  try {
    let answer: Answers[Verb];
    try {
      answer = await askRegistered({ daemon, header }, connection, verb, fields);
    } catch (error) {
      if (!isReplaced(error)) throw error;
      // The daemon went away during the request; the next one must still get this hook's report.
      connection.close();
      connection = await connectDaemon(daemon);
      answer = await askRegistered({ daemon, header }, connection, verb, fields);
    }
    return await work(answer, connection);
  } finally {
    connection.close();
  }
}

async function askRegistered<Verb extends RequestVerb>(
  { daemon, header }: Pick<Context, 'daemon' | 'header'>,
  connection: Connection,
  verb: Verb,
  fields: RequestFields[Verb],
): Promise<Answers[Verb]> {
  try {
    return await ask(connection, verb, fields);
  } catch (error) {
    if ((error as { code?: string }).code !== 'session_unknown') throw error;
    await registerSession(daemon, header);
    return await ask(connection, verb, fields);
  }
}

/** Registers a session that started before the hooks were installed, or whose record was lost. */
async function registerSession(daemon: Context['daemon'], header: Context['header']): Promise<void> {
  const connection = await connectDaemon({ ...daemon, replaceBy: null });
  await ask(connection, 'register', { ...header, source: 'startup' }).finally(() => connection.close());
}

/** Formats a text as additional context of the current event. */
export const asContext =
  (context: Context) =>
  (text: string): string =>
    contextOutput(eventOf(context), text);

/** The event's name in the input; a hook may serve several events. */
export const eventOf = ({ input, hook }: Pick<Context, 'input' | 'hook'>): string =>
  typeof input.hook_event_name === 'string' ? input.hook_event_name : hook.event;
