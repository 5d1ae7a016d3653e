/** What a command worked out under an `--idempotency-key`, kept for a day, so that a repeat of it sends the same bytes. */
import { createHash } from 'node:crypto';
import { DAY } from '../contract/durations.ts';
import { isRecord, noteFile } from '../local/private-file.ts';
import { keepNote } from './local-note.ts';
import { runtime } from './runtime.ts';
import type { Session } from './session/open-session.ts';
import { moment } from './terminal/time.ts';

type Worked = string | number | null;

/** By a digest of whose key it is, of the key, and of what was worked out. */
const file = noteFile<Record<string, { at: number; value: Worked }>>('repeats.json', {}, isRecord);

/**
 * What was worked out when a command was first run under its `--idempotency-key`. Without a key, or the first time, it is
 * worked out now.
 *
 * @param key the command's `--idempotency-key`
 * @param what it is, and what it depends on of the command as typed
 */
export async function sameAsFirst<T extends Worked>(
  { choice, server, token }: Session,
  key: string | undefined,
  what: string,
  workOut: () => T | Promise<T>,
): Promise<T> {
  if (key === undefined) return workOut();
  const { folders } = runtime();
  const name = createHash('sha256').update([server.url, token, key, what].join('\n')).digest('base64url');
  const now = Date.now();
  const recent = (notes: ReturnType<typeof file.read>) =>
    Object.fromEntries(Object.entries(notes).filter(([, { at }]) => at > now - DAY));
  const earlier = recent(file.read(folders))[name];
  if (earlier) return earlier.value as T;
  let noted = { at: now, value: (await workOut()) as Worked };
  const kept = file.change(folders, (before) => {
    const notes = recent(before);
    // Another process may have been faster.
    noted = notes[name] ?? noted;
    return { ...notes, [name]: noted };
  });
  // Where nothing can be kept, a repeat has nothing to send either.
  if (noted.value === null) await kept.catch(() => {});
  else
    await keepNote(
      kept,
      choice.out,
      'A repeat under this --idempotency-key may be refused, as this could not be noted',
    );
  return noted.value as T;
}

/** A moment that a flag names, such as `2h` or `14:20`: reckoned from when the command was first run. */
export const momentOf = (session: Session, key: string | undefined, flag: string, text: string): Promise<string> =>
  sameAsFirst(session, key, `${flag} ${text}`, () => moment(text, flag));
