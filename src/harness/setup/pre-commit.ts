/** Our part of a repository's pre-commit hook, which checks whether other agents work on the staged files. */
import { chmodSync } from 'node:fs';
import { Failure } from '../../local/failure.ts';
import { shellWord } from './entries.ts';
import { changeFile, ifReadable, readText } from './files.ts';
import type { Change } from './init.ts';
import { digest, type Installed, type Item } from './installed.ts';

/** A new script. */
const EMPTY = '#!/bin/sh\n';

interface Options {
  /** The hook's file. */
  path: string;
  launcher: string;
  version: string;
}

/** Adds our part; with `apply` false only reports the change. Null if it is there already. @throws Failure `hook_not_shell` */
export const addPreCommit = (options: Options, installed: Installed, apply: boolean): Change | null =>
  ifReadable({ path: options.path, kind: 'pre-commit', action: 'unreadable' }, () => add(options, installed, apply));

function add({ path, launcher, version }: Options, installed: Installed, apply: boolean): Change | null {
  const text = readText(path);
  const known = installed.items.find((item) => item.kind === 'pre-commit' && item.path === path);
  const block = blockOf(launcher);
  if (text?.includes(block)) return null;
  if (text !== null && !/^#!.*\b(?:sh|bash|dash|zsh|ksh)\b.*\n/.test(text))
    throw new Failure('hook_not_shell', `${path} is no shell script, so nothing was added to it.`, {
      hint: 'Let it run: service who --staged, and stop at exit code 3',
    });
  const change: Change = { path, kind: 'pre-commit', action: text === null ? 'create' : 'update' };
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

/** The script without our part, and whether it is empty then; null if our part was edited. */
export function withoutPreCommit(text: string, item: Item): { text: string; blank: boolean } | null {
  const rest = withoutOurs(text, item);
  return rest === text ? null : { text: rest, blank: item.created_file && rest === EMPTY };
}

/** Inserts our part after the first line, because later lines may exit the script. */
const withBlock = (text: string, block: string): string => text.replace(/^.*\n/, (first) => first + block);

const withoutOurs = (text: string, known: Item | undefined): string =>
  (known?.inserted ?? []).reduce((current, piece) => current.replace(piece, ''), text);

/** Our part. Only exit code 3 stops a commit: an unreachable server or a missing program does not. */
const blockOf = (launcher: string): string => `# Written by service init --pre-commit; service uninstall takes it out.
service_who=$(${shellWord(launcher)} who --staged --no-input 2>/dev/null </dev/null) || {
  if [ $? -eq 3 ]; then
    printf '%s\\n' "$service_who" 'Say on the board what you change; git commit --no-verify commits all the same.' >&2
    exit 1
  fi
}
`;
