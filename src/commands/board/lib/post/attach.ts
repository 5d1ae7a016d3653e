/** Attaches files to a message: versions on the board, and local files that are uploaded first. */
import { failedAfter } from '../../../../cli/errors.ts';
import type { Output } from '../../../../cli/output.ts';
import { type BoardSession, staying } from '../../../../cli/session/open-session.ts';
import type { ClientError } from '../../../../client/errors.ts';
import { shellArgument } from '../../../../contract/text.ts';
import type { FileToAttach } from '../../../../contract/types.ts';
import { usage } from '../../../../local/failure.ts';
import { putQuery } from '../../../file/lib/options.ts';
import { type Local, localFile, spooled } from '../../../file/lib/put.ts';
import { putIfChanged } from '../../../file/lib/putting.ts';
import { type Files, filesOf, fileToAttach } from '../../../file/lib/scope.ts';
import type { PostOptions } from './flags.ts';

type AttachOptions = Pick<PostOptions, 'file' | 'attach' | 'idempotency-key' | 'times'>;

interface Here {
  path: string;
  /** Path on the board, where it was given. */
  name: string | undefined;
  /** Null: it is piped in. */
  local: Local | null;
}

/** What is to be attached, looked at before a server is asked for anything. */
export interface Attaching {
  /** As they were typed. */
  named: string[];
  here: Here[];
}

const MOST = 8;

/** @throws usage for more than go with a message, and for what is no file; Failure `file_too_large`. */
export async function attachmentsOf({ file = [], attach = [] }: AttachOptions): Promise<Attaching> {
  const given = attach.map((text) => {
    const [, path = text, name] = /^(.+?)=([^=]+)$/.exec(text) ?? [];
    return { path, name };
  });
  if (file.length + given.length > MOST) throw usage(`At most ${MOST} files go with a message.`);
  const piped = given.filter(({ path }) => path === '-');
  if (piped.length > 1) throw usage('Standard input can be attached once.');
  if (piped.some(({ name }) => name === undefined))
    throw usage('What is piped in has no name of its own.', 'service say "The log" --attach -=logs/today.log');
  const here: Here[] = [];
  for (const { path, name } of given) here.push({ path, name, local: path === '-' ? null : await localFile(path) });
  return { named: file, here };
}

/** Puts what is here onto the board; all versions in the order in which they are attached. */
export async function putAttachments(
  session: BoardSession,
  { named, here }: Attaching,
  options: AttachOptions,
  out: Output,
): Promise<{ files: FileToAttach[]; put: string[] }> {
  const attached: FileToAttach[] = [];
  for (const text of named) attached.push(await fileToAttach(session, text));
  if (here.length === 0) return { files: attached, put: [] };
  const files = await filesOf(session);
  const placed: { file: string; version: number; name: string }[] = [];
  for (const [n, one] of here.entries()) {
    const send = (local: Local) => putOne(files, { ...one, local }, stepKey(options, n), { options, out });
    const sent = one.local ? send(one.local) : spooled(out, send);
    placed.push(
      await sent.catch((error: unknown) => {
        throw withPut(error, versionsOf(placed), 'Nothing was posted');
      }),
    );
  }
  return {
    files: [...attached, ...placed.map(({ file, version }) => ({ file, version }))],
    put: versionsOf(placed),
  };
}

const versionsOf = (placed: { name: string; version: number }[]): string[] =>
  placed.map(({ name, version }) => `${name} v${version}`);

/** Each request of a command has a key of its own, the same whenever the command is repeated. */
const stepKey = ({ 'idempotency-key': key }: AttachOptions, n: number): string | undefined =>
  key === undefined ? undefined : `${key}.file${n === 0 ? '' : `.${n + 1}`}`;

/** The key of the post itself. */
export const postKey = ({ 'idempotency-key': key }: AttachOptions, { here }: Attaching): string | undefined =>
  key === undefined || here.length === 0 ? key : `${key}.post`;

async function putOne(
  files: Files,
  { path, name, local }: Here & { local: Local },
  key: string | undefined,
  { options, out }: { options: AttachOptions; out: Output },
): Promise<{ file: string; version: number; name: string }> {
  const { query, digest } = putQuery(files, path, { name }, `--attach ${shellArgument(path)}=notes/api.md`);
  const named = name === undefined ? '' : ` --name ${shellArgument(name)}`;
  const { record } = await putIfChanged(
    {
      files,
      local,
      query,
      path: path === '-' ? null : path,
      onConflict: 'fail',
      command: `service file put ${shellArgument(path)}${named}${staying(files.session)}`,
      key,
      times: options.times,
      out,
    },
    digest,
  );
  return { file: record.file.id, version: record.version, name: record.file.name };
}

/** A failed post, or a failed put before it, with what was put: it stays on the board. */
export function withPut(error: unknown, put: readonly string[], posted = postedOrNot(error)): unknown {
  if (put.length === 0) return error;
  const there = `${put.join(', ')} ${put.length === 1 ? 'is' : 'are'} on the board already.`;
  return failedAfter(error, `${posted}; ${there}`, { put });
}

const postedOrNot = (error: unknown): string =>
  (error as Partial<ClientError>).mayBeDone ? 'It may have been posted' : 'Nothing was posted';
