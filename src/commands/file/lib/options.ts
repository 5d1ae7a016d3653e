/** Turns flags into the options of a file upload. */
import { basename } from 'node:path';
import { filePathPattern } from '../../../contract/ids.ts';
import { usage } from '../../../local/failure.ts';
import type { PutQuery } from './put.ts';
import { type Files, notedAt } from './scope.ts';

interface PutOptions {
  name?: string | undefined;
  base?: number | undefined;
  task?: string[] | undefined;
  'no-tasks'?: boolean;
  maintained?: boolean;
  'one-off'?: boolean;
  'media-type'?: string | undefined;
}

/** Where the bytes are, and what they are to be called on the board if that was said. */
export interface Source {
  /** `-`: they are piped in. */
  path: string;
  name: string | undefined;
}

/** `PATH`, `- --name NAME`, or `NAME -` as `file get` has it. */
export function sourceOf({ path, stdin }: { path: string; stdin?: string | undefined }, name?: string): Source {
  if (stdin === undefined) return { path, name };
  if (stdin !== '-' || path === '-' || name !== undefined)
    throw usage('The second word can only be -, for standard input.', 'service file put report.md -');
  return { path: '-', name: path };
}

/** `about` and `maintained` of the flags; undefined: as before. */
export function tagsOf({ task, 'no-tasks': none, maintained, 'one-off': oneOff }: PutOptions) {
  if (task?.length && none) throw usage('Give --task or --no-tasks, not both.');
  if (maintained && oneOff) throw usage('Give --maintained or --one-off, not both.');
  return {
    about: none ? [] : task?.length ? task : undefined,
    maintained: maintained ? true : oneOff ? false : undefined,
  };
}

/**
 * What a file is put as: its path on the board and the version it replaces, by the flags, else as it was got, else as a
 * new file of its own name. @param naming the flag that gives it another one.
 */
export function putQuery(
  files: Files,
  path: string,
  options: PutOptions,
  naming = '--name notes/api.md',
): { query: PutQuery; digest: string | null } {
  if (path === '-' && options.name === undefined)
    throw usage('What is piped in has no name of its own.', 'service file put notes/api.md -');
  const noted = path === '-' ? null : notedAt(files, path);
  const name = options.name ?? noted?.name ?? basename(path);
  if (!filePathPattern.test(name))
    throw usage(
      `"${name}" is no path on a board: it has letters, digits, dots, hyphens and underscores.`,
      `Say what it is called there, such as ${naming}`,
    );
  const known = noted?.name === name ? noted : null;
  const replaced =
    options.base !== undefined ? { base: options.base } : known ? { base: known.version, file_id: known.file_id } : {};
  const tags = tagsOf(options);
  const query = { name, ...replaced, ...tags, media_type: options['media-type'] };
  const retold = Object.values(tags).some((value) => value !== undefined) || options['media-type'] !== undefined;
  return { query, digest: known && options.base === undefined && !retold ? known.digest : null };
}

const extensions: Record<string, 'brief.md' | 'brief.html'> = {
  md: 'brief.md',
  markdown: 'brief.md',
  html: 'brief.html',
  htm: 'brief.html',
};

/** The brief a local file is, by how its name ends. */
export function briefName(path: string): 'brief.md' | 'brief.html' {
  const found = extensions[/\.([A-Za-z]+)$/.exec(path)?.[1]?.toLowerCase() ?? ''];
  if (found) return found;
  throw usage('A brief is Markdown or HTML: its file ends in .md, .markdown, .html or .htm.');
}
