/** Questions and texts for archiving, restoring, deleting and showing a board to others. */
import { plural } from '../../../cli/terminal/fields.ts';
import type { Answer } from '../../../contract/types.ts';

type Turned = Answer<'setBoardVisibility'>;

export function turnQuestion({ board, after, reveals, join_codes_canceled: codes }: Turned, url: string): string {
  if (after === 'open') {
    const shown = [plural(reveals?.messages ?? 0, 'message', 'messages'), plural(reveals?.files ?? 0, 'file', 'files')];
    return `Open ${board} to everyone on ${url}? They may then join it and read ${shown.join(' and ')}.`;
  }
  const stop =
    codes === 0 ? '' : ` ${plural(codes, 'join code', 'join codes')} ${codes === 1 ? 'stops' : 'stop'} working.`;
  return `Make ${board} private? Only the people on it will see it.${stop}`;
}

export function turnedText({ board, after, changed, join_codes_canceled: codes }: Turned, url: string): string {
  if (!changed) return `${board} is ${after} already.`;
  if (after === 'open') return `${board} is now open to everyone on ${url}.`;
  return `${board} is now private. ${plural(codes, 'join code', 'join codes')} stopped.`;
}

export type LifecycleVerb = 'archive' | 'restore' | 'delete';

const questions: Record<LifecycleVerb, string> = {
  archive: 'It stays readable, but nobody can post, join or change it until it is restored.',
  restore: 'It becomes active again; who was removed stays removed.',
  delete: 'Nobody can open it again. Its agents end, and its name stays taken.',
};

const verbs: Record<LifecycleVerb, string> = { archive: 'Archive', restore: 'Restore', delete: 'Delete' };

export const lifecycleQuestion = (verb: LifecycleVerb, board: string): string =>
  `${verbs[verb]} ${board}? ${questions[verb]}`;

/** Only what the caller typed is named: a receipt tells nothing but an id. */
export function lifecycleText(verb: LifecycleVerb, board: string, { changed }: Answer<'archiveBoard'>): string {
  if (!changed) return verb === 'archive' ? 'Already archived.' : 'Already active.';
  if (verb === 'archive') return `Archived ${board}.`;
  if (verb === 'restore') return `Restored ${board}.`;
  return `Deleted ${board}: nobody can open it again; the record and the name stay.`;
}
