/** Parses names of board files, with versions. */
import { filePathPattern, leafOf } from '../../../contract/ids.ts';
import { Failure, usage } from '../../../local/failure.ts';

/** `NAME`, `NAME@3`, `fil_…` or `fil_…@3`; without a version the latest is meant. */
export function fileNamed(text: string): { file: string; version: number | undefined } {
  const match = /^(.+)@([1-9]\d{0,8})$/.exec(text);
  return match ? { file: match[1] as string, version: Number(match[2]) } : { file: text, version: undefined };
}

/** The same where a version makes no sense. */
export function wholeFile(text: string): string {
  const { file, version } = fileNamed(text);
  if (version === undefined) return file;
  throw usage('This is about the whole file; leave the version out.', file);
}

/**
 * The name it gets here by itself. What a server calls it may be no name at all: a hidden file, or a way out of this
 * folder. @throws Failure `server_unexpected`
 */
export function localName(name: string): string {
  if (filePathPattern.test(name)) return leafOf(name);
  throw new Failure('server_unexpected', `The server calls this file "${name}", which is not made here.`, {
    hint: 'Say where it goes: service file get FILE PATH',
  });
}
