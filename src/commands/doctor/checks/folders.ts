/** Checks that the program's four folders and files with secrets are writable, owned and private. */
import { accessSync, chmodSync, constants, existsSync, lstatSync, type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { daemonPaths } from '../../../daemon/paths.ts';
import { swarmsFolder } from '../../../launch/launchers.ts';
import { namesIn } from '../../../local/folders.ts';
import { type Around, type Check, type Finding, failing, fine } from '../lib/check.ts';
import { dataFolder } from './data.ts';

const KINDS = ['config', 'data', 'state', 'cache'] as const;
/** Files of the folders that only their owner may read, beside all JSON of the state. */
const SECRETS: [(typeof KINDS)[number], string][] = [
  ['config', 'credentials.json'],
  ['data', 'service.db'],
  ['data', 'server-secret'],
  ['data', 'local-key'],
  ['data', 'admin-key'],
  ['data', 'recovery-key'],
  ['data', 'server.pid'],
];

export const folders: Check = {
  name: 'folders',

  async run(around) {
    const paths = KINDS.map((kind) => around.folders[kind]);
    const kinds = KINDS.filter((kind, i) => paths.indexOf(around.folders[kind]) === i);
    const findings = [...kinds.flatMap((kind) => lookAtFolder(kind, around)), ...lookAbove(paths)];
    for (const path of secretsOf(around)) findings.push(...lookAtFile(path));
    if (findings.length > 0) return findings;
    return [fine('folders', `yours alone: ${[...new Set([...paths, dataFolder(around)])].join(', ')}`)];
  },

  async repair(around) {
    const open = [
      ...KINDS.map((kind) => around.folders[kind]).map((path) => ({ path, stat: folderOf(path, around), mode: 0o700 })),
      ...secretsOf(around).map((path) => ({ path, stat: statOf(path), mode: 0o600 })),
    ].filter(({ stat }) => isOpen(stat));
    for (const { path, mode } of open) chmodSync(path, mode);
    return open.map(({ path, mode }) => `chmod ${mode.toString(8)} ${path}`);
  },
};

function secretsOf(around: Around): string[] {
  const all = around.folders;
  // Those of this machine's server, and of the one that is looked at.
  const data = [...new Set([all.data, dataFolder(around)])];
  const ofState = [all.state, swarmsFolder(all)].flatMap((folder) =>
    namesIn(folder)
      .filter((name) => name.endsWith('.json'))
      .map((name) => join(folder, name)),
  );
  const named = SECRETS.flatMap(([kind, name]) =>
    (kind === 'data' ? data : [all[kind]]).map((folder) => join(folder, name)),
  );
  return [...named, ...ofState];
}

/** Undefined also below a file, or a folder that is closed: those are findings of their own. */
function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

/** Whether a folder may be no link: the server's data, and where the daemon has its socket. */
const mayBeNoLink = (path: string, { folders: all }: Around): boolean =>
  path === all.data || path === daemonPaths(all).socketFolder;

/** The folder, or the one that a link in its place names, where the program itself follows it. */
const folderOf = (path: string, around: Around): Stats | undefined =>
  existsSync(path) && !mayBeNoLink(path, around) ? statSync(path) : statOf(path);

/** Whether it is ours, no link, and others can reach it: what a change of its mode mends. */
const isOpen = (stat: Stats | undefined): boolean =>
  stat !== undefined &&
  !stat.isSymbolicLink() &&
  isOurs(stat) &&
  process.platform !== 'win32' &&
  (stat.mode & 0o077) !== 0;

/** The folder, or the nearest above it that is there. */
export const nearest = (folder: string): string => (existsSync(folder) ? folder : nearest(dirname(folder)));

/** Whether something can be kept there. */
export function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const isOurs = (stat: Stats): boolean => process.getuid === undefined || stat.uid === process.getuid();

function lookAtFolder(kind: (typeof KINDS)[number], around: Around): Finding[] {
  const path = around.folders[kind];
  const stat = folderOf(path, around);
  // Made when it is needed, where that can be done.
  if (!stat) return [];
  const unwritable = (what: string, fix: string | null) => [
    failing('folders', 'folder_unwritable', `${path} ${what}`, fix),
  ];
  // What a link names may be all that somebody has, and another user's folder is theirs: nothing to move or to take.
  if (stat.isSymbolicLink() && mayBeNoLink(path, around))
    return unwritable('is a link. Name the folder itself, not a link to it.', null);
  if (!stat.isDirectory()) return unwritable('is not a folder.', away(path));
  if (!isOurs(stat)) {
    const setting = around.folders.home === null ? `SERVICE_${kind.toUpperCase()}_DIR` : 'SERVICE_HOME';
    return unwritable(`belongs to the user with the id ${stat.uid}. Set ${setting} to a folder of your own.`, null);
  }
  if (isOpen(stat)) return [openToOthers(path, 700)];
  return isWritable(path) ? [] : unwritable('cannot be written.', `chmod 700 '${path}'`);
}

/** Where the folders that are not there yet would be made. */
function lookAbove(paths: readonly string[]): Finding[] {
  const places = new Set(paths.filter((path) => !statOf(path)).map(nearest));
  return [...places]
    .filter((place) => !isWritable(place))
    .map((place) =>
      failing(
        'folders',
        'folder_unwritable',
        `${place} cannot be written, so nothing can be kept there.`,
        // Of a file system that cannot be written, and of another user's folder, it would mend nothing.
        isOurs(statSync(place)) && !(statSync(place).mode & 0o200) ? `chmod u+rwx '${place}'` : null,
      ),
    );
}

function lookAtFile(path: string): Finding[] {
  const stat = statOf(path);
  if (!stat) return [];
  if (!stat.isFile()) return [failing('folders', 'credentials_unsafe', `${path} is not a plain file.`, away(path))];
  if (!isOurs(stat)) {
    const fix = isOurs(statSync(dirname(path))) ? away(path) : null;
    return [failing('folders', 'credentials_unsafe', `${path} belongs to another user.`, fix)];
  }
  return isOpen(stat) ? [openToOthers(path, 600)] : [];
}

/** What stands in the way is kept under another name, and nothing that has that name is lost. */
const away = (path: string): string => `mv -n '${path}' '${path}.away'`;

const openToOthers = (path: string, mode: number): Finding =>
  failing('folders', 'credentials_unsafe', `${path} is open to others.`, `chmod ${mode} '${path}'`);
