import { existsSync, rmSync } from 'node:fs';
import { z } from 'zod';
import { BaseCommand, booleanFlag, confirmFlags } from '../cli/base.ts';
import { called, runtime } from '../cli/runtime.ts';
import { requireOutside } from '../cli/session/here.ts';
import { fileChange, flag, object, text } from '../cli/shapes.ts';
import { plural } from '../cli/terminal/fields.ts';
import { Failure } from '../local/failure.ts';
import { readCredentials } from '../local/keys/credentials.ts';
import { forgetKey, forgetPending } from '../local/keys/keystore.ts';
import { stopLocalServer, stoppableServer } from '../local/own-server/start.ts';
import { removeCompletion } from './completion/lib/install.ts';
import { daemonStatus, stopDaemon } from './daemon/lib/daemon.ts';
import { dataFolders, removalLine, removeSetup } from './init/lib/harness-setup.ts';
import { signedInElsewhere } from './logout/lib/logout.ts';

export const json = () =>
  object({
    applied: flag,
    server_stopped: flag,
    daemon_stopped: flag,
    files: z.array(fileChange('delete', 'update', 'keep', 'gone', 'unreadable')),
    /** Folders that are deleted with `--data`; null without. */
    data: z.array(text).nullable(),
    /** The program itself is its package manager's. */
    binary: z.strictObject({ path: text, remove: text }),
  });

export default class Uninstall extends BaseCommand<typeof Uninstall> {
  static override summary = 'Take away what init set up, and stop what runs here';
  static override description =
    'Our hooks come out of the settings of the agent programs, and the line of completion --install out of the file of a\nshell: they are then byte for byte as they were. What you have edited since is kept and named. --data also deletes\neverything that this program keeps on this machine, boards of its own server and keys included.';
  static override examples = ['service uninstall --dry-run', 'service uninstall --yes', 'service uninstall --data'];
  static override seeAlso = ['init', 'server stop', 'logout'];
  static override flags = {
    data: booleanFlag('Also delete configuration, data, state and cache'),
    'dry-run': booleanFlag('Only say what would be done'),
    ...confirmFlags,
  };

  override async run(): Promise<void> {
    requireOutside('service uninstall');
    const { data = false, 'dry-run': dry = false, yes = false } = this.flags;
    const plan: Leaving = await leave({ data, apply: false });
    const keys = data ? keysLine(signedInElsewhere()) : '';
    const planned = planLines(plan, dry || !yes ? await running(dry) : []);
    if (keys) planned.push(called(`${keys}; to revoke them first: service logout --all`));
    if (!dry && planned.length > 0) await this.confirm(question(data), yes, planned);
    const record = dry ? plan : await leave({ data, apply: true });
    this.print<typeof json>(record, () => (dry ? planned.join('\n') || NOTHING : doneText(record, keys)));
  }
}

const question = (data: boolean): string =>
  data ? 'Take all of that away, and delete everything kept on this machine for good?' : 'Take all of that away?';

/** What deleting keys here does not end. */
const keysLine = (urls: string[]): string => (urls.length > 0 ? `Keys that go on working: ${urls.join(', ')}` : '');

type Leaving = z.infer<ReturnType<typeof json>>;

/** Takes everything away, or only says what would be. */
async function leave({ data, apply }: { data: boolean; apply: boolean }): Promise<Leaving> {
  const { program } = runtime();
  // Where a team's server runs, which is not stopped, all stays as it is.
  if (apply) await stoppableServer(runtime());
  // The hooks come first, because one that runs meanwhile would start the daemon again.
  const files: Leaving['files'] = [...(await removeSetup(apply)), ...removeCompletion(apply)];
  if (apply && data) requireTakenOut(files);
  const server_stopped = apply && (await stopLocalServer(runtime())) !== null;
  const daemon_stopped = apply && (await stopDaemon());
  const folders = data ? dataFolders().filter((folder) => existsSync(folder)) : null;
  if (apply && folders) {
    await forgetKeys();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
  return {
    applied: apply,
    server_stopped,
    daemon_stopped,
    files,
    data: folders,
    binary: { path: program, remove: 'npm uninstall --global board-service' },
  };
}

/** Hooks that stay run a script in one of the folders, where their place is noted too. */
function requireTakenOut(files: Leaving['files']): void {
  const left = files
    .filter(({ action, kind }) => action === 'unreadable' && kind !== 'completion')
    .map(({ path }) => path);
  if (left.length === 0) return;
  throw new Failure('settings_unreadable', `${left.join(', ')} cannot be read or changed, so no data was deleted.`, {
    hint: 'Repair it, then run the command again',
    details: { paths: left },
  });
}

/** Removes what is in the keychain. @throws Failure `keychain_locked`, before any data is deleted */
async function forgetKeys(): Promise<void> {
  const { servers } = readCredentials(runtime().folders);
  for (const [origin, entry] of Object.entries(servers)) {
    await forgetKey(origin, entry);
    if (entry.pending) await forgetPending(origin, entry.server_id, entry.pending);
  }
}

/** What runs here and would be stopped. @throws Failure for a team's server, which is not, unless it is only asked for */
async function running(dry: boolean): Promise<string[]> {
  const server = await stoppableServer(runtime()).catch((error: unknown) => {
    if (dry) return null;
    throw error;
  });
  const daemon = await daemonStatus().catch(() => true);
  return [...(server ? ['the local server'] : []), ...(daemon ? ['the daemon'] : [])];
}

const NOTHING = 'There is nothing to take away.';

/** What would be done; empty where there is nothing. */
function planLines({ files, data }: Leaving, stops: string[]): string[] {
  const { size } = new Set(files.map(({ path }) => path));
  return [
    ...files.map(removalLine),
    size > 0
      ? `${plural(size, 'file has', 'files have')} something of this program in ${size === 1 ? 'it' : 'them'}.`
      : '',
    stops.length > 0 ? `To be stopped: ${stops.join(' and ')}` : '',
    data && data.length > 0 ? `To be deleted: ${data.join(', ')}` : '',
  ].filter(Boolean);
}

/** What was done. */
function doneText({ server_stopped, daemon_stopped, files, data, binary }: Leaving, keys: string): string {
  const stopped = [server_stopped ? 'the local server' : '', daemon_stopped ? 'the daemon' : ''].filter(Boolean);
  const kept = files.filter(({ action }) => action === 'keep');
  const nothing = files.length === 0 && stopped.length === 0 && !data?.length;
  return [
    ...files.map(removalLine),
    nothing ? NOTHING : '',
    stopped.length > 0 ? `Stopped ${stopped.join(' and ')}.` : '',
    kept.length > 0 ? `Left because they were edited: ${kept.map(({ path }) => path).join(', ')}` : '',
    data && data.length > 0 ? `Deleted: ${data.join(', ')}` : '',
    keys,
    called(`The program itself: ${binary.remove}`),
  ]
    .filter(Boolean)
    .join('\n');
}
