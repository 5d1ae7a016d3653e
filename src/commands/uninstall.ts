import { existsSync, rmSync } from 'node:fs';
import { z } from 'zod';
import { BaseCommand, booleanFlag, confirmFlags } from '../cli/base.ts';
import { called, runtime } from '../cli/runtime.ts';
import { requireOutside } from '../cli/session/here.ts';
import { fileChange, flag, object, text } from '../cli/shapes.ts';
import { Failure } from '../local/failure.ts';
import { readCredentials } from '../local/keys/credentials.ts';
import { forgetKey, forgetPending } from '../local/keys/keystore.ts';
import { stopLocalServer, stoppableServer } from '../local/own-server/start.ts';
import { stopDaemon } from './daemon/lib/daemon.ts';
import { dataFolders, removalLine, removeSetup } from './init/lib/harness-setup.ts';

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
    'Our hooks come out of the settings of the agent programs, which are then byte for byte as they were; what you have\nedited since is kept and named. --data also deletes everything that this program keeps on this machine, boards of its\nown server and keys included.';
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
    if (!dry) await this.confirm(`${leavingText(plan)}\n${question(data)}`, yes);
    const record = dry ? plan : await leave({ data, apply: true });
    this.print<typeof json>(record, () =>
      [...record.files.map(removalLine), leavingText(record)].filter(Boolean).join('\n'),
    );
  }
}

const question = (data: boolean): string =>
  data ? 'Take all of that away, and delete everything kept on this machine for good?' : 'Take all of that away?';

type Leaving = z.infer<ReturnType<typeof json>>;

/** Takes everything away, or only says what would be. */
async function leave({ data, apply }: { data: boolean; apply: boolean }): Promise<Leaving> {
  const { program } = runtime();
  // Where a team's server runs, which is not stopped, all stays as it is.
  if (apply) await stoppableServer(runtime());
  // The hooks come first, because one that runs meanwhile would start the daemon again.
  const files = await removeSetup(apply);
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
  const left = files.filter(({ action }) => action === 'unreadable').map(({ path }) => path);
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

/** What is done beyond the files of harnesses. */
function leavingText({ applied, server_stopped, daemon_stopped, files, data, binary }: Leaving): string {
  const stopped = [server_stopped ? 'the local server' : '', daemon_stopped ? 'the daemon' : ''].filter(Boolean);
  const kept = files.filter(({ action }) => action === 'keep');
  return [
    applied ? '' : `${files.length} files of agent programs have something of this program in them.`,
    stopped.length > 0 ? `Stopped ${stopped.join(' and ')}.` : '',
    applied && kept.length > 0 ? `Left because they were edited: ${kept.map(({ path }) => path).join(', ')}` : '',
    data ? `${applied ? 'Deleted' : 'To be deleted'}: ${data.join(', ')}` : '',
    applied ? called(`The program itself: ${binary.remove}`) : '',
  ]
    .filter(Boolean)
    .join('\n');
}
