/** Why writing a file is refused, with what is there now, so that the writer can tell what came in between. */
import { Refusal } from '../../contract/errors.ts';
import type { Place } from '../access/board-access.ts';
import type { ReadTx } from '../db/tx.ts';
import type { Refused } from '../files/base-version.rules.ts';
import { type FileRow, fileById, versionOf } from '../files/files.store.ts';
import { membersWithIds } from '../members/members.store.ts';
import { timestamp } from '../text/time.ts';
import { actorView } from './actors.ts';

/** @param wanted the file as its writer named it. */
export async function fileRefusal(
  tx: ReadTx,
  { board, reader }: Place,
  { code, now, removing }: Refused,
  wanted: { name: string; file_id?: string | undefined; brief?: boolean | number },
): Promise<Refusal> {
  // Nothing at the path: what the writer held may be there no longer, or under another name.
  const meant = now?.id ?? wanted.file_id;
  const file = meant === undefined ? undefined : await fileById(tx, board.id, meant);
  const latest = file && (await versionOf(tx, file.id, file.latest));
  const [by] = latest ? await membersWithIds(tx, [latest.by_id]) : [];
  const { message, hint } = words[removing ? 'removal' : code]({
    name: wanted.name,
    file,
    brief: Boolean(wanted.brief),
  });
  return new Refusal(code, message, {
    hint,
    details:
      file && latest && by
        ? {
            version: file.latest,
            by: actorView(by, reader),
            at: timestamp(latest.at),
            file_id: file.id,
            name: file.name,
            ...(file.removed_at === null ? {} : { removed: true }),
          }
        : { version: 0, by: null, at: null, file_id: null, name: null },
  });
}

interface Named {
  name: string;
  file: FileRow | undefined;
  /** What was to be written. */
  brief: boolean;
}

const now = ({ name, file }: Named): string => {
  if (!file) return `There is no ${name} on this board`;
  return file.removed_at === null ? `${file.name} is at version ${file.latest} now` : `${file.name} was removed`;
};

/** Under another name the brief is one no longer. */
function wayOn({ file, brief }: Named): string {
  if (!file || file.removed_at !== null || (brief && file.brief !== 1))
    return `Put it as new, with base 0 and no file_id: service ${brief ? 'brief' : 'file'} put PATH --base 0.`;
  return brief
    ? 'Read it, put your change in again: service brief get, then service brief put.'
    : `Read what is there, put your change in again: service file get ${file.name}, then service file put.`;
}

const words: Record<Refused['code'] | 'removal', (named: Named) => { message: string; hint: string }> = {
  file_exists: ({ name, file }) => ({
    message: `${name} is there already, at version ${file?.latest}.`,
    hint: `Get it, change it, put it: service file get ${name}. Or use another name.`,
  }),
  file_changed: (named) => ({ message: `${now(named)}, so nothing was stored.`, hint: wayOn(named) }),
  removal: (named) => ({
    message: `${now(named)}, so it was not removed.`,
    hint: `Look at it, then remove it again: service file show ${named.name}.`,
  }),
  brief_exists: ({ file }) => ({
    message: `This board has its brief as ${file?.name}.`,
    hint: 'Replace the format with --replace-format, or take it away first: service file remove or service file rename.',
  }),
  brief_path_reserved: ({ name }) => ({
    message: `${name} is the place of the board's brief.`,
    hint: 'Write it with service brief get and service brief put, or use another path such as notes/brief.md.',
  }),
};
