/** Sends one request of a hook to the daemon, and prints the text it may answer with. */
import { ask, confirmReceived, isReplaced } from '../daemon/control/ask.ts';
import { connectDaemon } from '../daemon/control/client.ts';
import type { Connection } from '../daemon/control/connection.ts';
import type { RequestVerb } from '../daemon/control/limits.ts';
import type { Answers, Carry, RequestFields } from '../daemon/protocol.ts';
import type { Context } from './context.ts';
import { contextOutput, textFor, write } from './say.ts';

/** Sends a request and handles the answer while the connection is open; a text counts as received only once that is confirmed. */
export async function asking<Verb extends RequestVerb, T>(
  { daemon, header }: Context,
  verb: Verb,
  fields: RequestFields[Verb],
  work: (answer: Answers[Verb], connection: Connection) => Promise<T>,
): Promise<T> {
  let connection = await connectDaemon(daemon);
  try {
    let answer: Answers[Verb];
    try {
      answer = await askKnown({ daemon, header }, connection, verb, fields);
    } catch (error) {
      if (!isReplaced(error)) throw error;
      // The daemon went away during the request; the next one must still get this hook's report.
      connection.close();
      connection = await connectDaemon(daemon);
      answer = await askKnown({ daemon, header }, connection, verb, fields);
    }
    return await work(answer, connection);
  } finally {
    connection.close();
  }
}

async function askKnown<Verb extends RequestVerb>(
  { daemon, header }: Pick<Context, 'daemon' | 'header'>,
  connection: Connection,
  verb: Verb,
  fields: RequestFields[Verb],
): Promise<Answers[Verb]> {
  try {
    return await ask(connection, verb, fields);
  } catch (error) {
    if ((error as { code?: string }).code !== 'session_unknown') throw error;
    await registered(daemon, header);
    return await ask(connection, verb, fields);
  }
}

/** A session that began before there were hooks, or whose record was lost, is known from now on. */
async function registered(daemon: Context['daemon'], header: Context['header']): Promise<void> {
  const connection = await connectDaemon({ ...daemon, replaceBy: null });
  await ask(connection, 'register', { ...header, source: 'startup' }).finally(() => connection.close());
}

/** Prints a text for the agent as the harness takes it, then tells the daemon that it is there. */
export async function hand(carry: Carry, connection: Connection, output: (text: string) => string): Promise<void> {
  const text = textFor(carry);
  if (text === '') return;
  await write(process.stdout, `${output(text)}\n`);
  if (carry.handoff_id) await confirmReceived(connection, carry.handoff_id);
}

/** As additional context of the event that the harness named. */
export const asContext =
  (context: Context) =>
  (text: string): string =>
    contextOutput(eventOf(context), text);

/** The event by the name the harness gave it this time. */
export const eventOf = ({ input, hook }: Context): string =>
  typeof input.hook_event_name === 'string' ? input.hook_event_name : hook.event;
