/** The part of a repository's pre-commit hook that asks who else is on the staged files. */
import { chmodSync } from 'node:fs';
import { Failure } from '../../local/failure.ts';
import { shellWord } from './entries.ts';
import { changeFile, readText } from './files.ts';
import type { Change } from './init.ts';
import { digest, type Installed, type Item } from './installed.ts';

/** A script that has nothing of ours. */
const EMPTY = '#!/bin/sh\n';

interface Options {
  /** Of the hook. */
  path: string;
  launcher: string;
  version: string;
}

/** Writes ours, or with `apply` false only says it; null where it stands already. @throws Failure `hook_not_shell` */
export function addPreCommit(
  { path, launcher, version }: Options,
  installed: Installed,
  apply: boolean,
): Change | null {
  const text = readText(path);
  const known = installed.items.find((item) => item.kind === 'pre-commit' && item.path === path);
  const block = blockOf(launcher);
  if (text?.includes(block)) return null;
  if (text !== null && !/^#!.*\b(?:sh|bash|dash|zsh|ksh)\b.*\n/.test(text))
    throw new Failure('hook_not_shell', `${path} is no shell script, so nothing was added to it.`, {
      hint: 'Let it run: service who --staged, and stop at exit code 3',
    });
  const change = {
    path,
    kind: 'pre-commit' as const,
    action: text === null ? ('create' as const) : ('update' as const),
  };
  if (!apply) return change;
  const folders = changeFile(path, (now) => withBlock(withoutOurs(now ?? EMPTY, known), block));
  if (text === null) chmodSync(path, 0o755);
  const item: Item = {
    harness: 'git',
    path,
    kind: 'pre-commit',
    scope: 'project',
    sha256: digest(readText(path) ?? ''),
    version,
    created_file: known?.created_file ?? text === null,
    created_containers: [],
    created_folders: [...(known?.created_folders ?? []), ...folders],
    inserted: [block],
  };
  installed.items = [...installed.items.filter((other) => other !== known), item];
  return change;
}

/** The script without ours, and whether nothing else is left; null if ours was changed since. */
export function withoutPreCommit(text: string, item: Item): { text: string; blank: boolean } | null {
  const rest = withoutOurs(text, item);
  return rest === text ? null : { text: rest, blank: item.created_file && rest === EMPTY };
}

/** First of all, because what comes later may end the script. */
const withBlock = (text: string, block: string): string => text.replace(/^.*\n/, (first) => first + block);

const withoutOurs = (text: string, known: Item | undefined): string =>
  (known?.inserted ?? []).reduce((current, piece) => current.replace(piece, ''), text);

/** Only somebody on the files stops a commit: not a server that is away, nor a program that is gone. */
const blockOf = (launcher: string): string => `# Written by service init --pre-commit; service uninstall takes it out.
service_who=$(${shellWord(launcher)} who --staged --no-input 2>/dev/null </dev/null) || {
  if [ $? -eq 3 ]; then
    printf '%s\\n' "$service_who" 'Say on the board what you change; git commit --no-verify commits all the same.' >&2
    exit 1
  fi
}
`;
