/** Asks all servers this machine knows the same question. One that does not answer does not hide the others. */
import type { Output } from '../../../cli/output.ts';
import { called } from '../../../cli/runtime.ts';
import { nameEndedKey } from '../../../cli/session/ended-key.ts';
import type { Session } from '../../../cli/session/open-session.ts';
import { ClientError } from '../../../client/errors.ts';
import { Failure } from '../../../local/failure.ts';
import { listServers } from './servers.ts';

/** What one server said, or why it said nothing. */
type Group<T> = { name: string; url: string } & (
  | ({ error?: undefined } & T)
  | { error: { code: string; message: string; hint: string } }
);

/**
 * @param open a session at the server of this name, which is not started for it.
 * @throws Failure when not one of them answered.
 */
export async function askEveryServer<T extends object>(
  open: (server: string) => Promise<Session>,
  read: (session: Session) => Promise<T>,
  out: Output,
): Promise<Group<T>[]> {
  const opened: { name: string; url: string; session: Session | null; refused?: unknown }[] = [];
  for (const { name, url } of listServers().servers) {
    const outcome = await open(name).then(
      (session) => ({ session }),
      (refused: unknown) => ({ session: null, refused }),
    );
    opened.push({ name, url, ...outcome });
  }
  // All are asked at the same time: one that is silent is so for its whole time.
  const groups = await Promise.all(
    opened.map(async ({ name, url, session, refused }): Promise<Group<T>> => {
      try {
        if (!session) throw refused;
        return { name, url, ...(await read(session)) };
      } catch (error) {
        await nameEndedKey(error, session);
        return { name, url, error: asExpected(error) };
      }
    }),
  );
  // The answer is of several servers, so it names none as its own.
  delete out.base.server;
  delete out.base.actor;
  if (groups.length > 0 && groups.every((group) => group.error !== undefined)) {
    throw new Failure('server_unreachable', 'None of the known servers answered.', {
      hint: 'service servers list',
      details: { servers: groups },
    });
  }
  return groups;
}

/** What answered, without what did not. */
export const answered = <T>(groups: Group<T>[]): (Group<T> & { error?: undefined } & T)[] =>
  groups.filter((group): group is Group<T> & { error?: undefined } & T => group.error === undefined);

/** A group as text; one without an answer says why. */
export async function groupTexts<T>(
  groups: Group<T>[],
  text: (group: T, server: { name: string; url: string }) => Promise<string>,
): Promise<string> {
  const blocks: string[] = [];
  for (const group of groups) {
    const { url, error } = group;
    blocks.push(error === undefined ? await text(group as T, group) : `${url} · ${error.message}`);
  }
  return blocks.join('\n\n');
}

function asExpected(error: unknown): { code: string; message: string; hint: string } {
  if (error instanceof Failure || error instanceof ClientError) {
    const { code, message, hint } = error;
    return { code, message, hint: called(hint) };
  }
  throw error;
}
