/** Leaving a machine: what was set up, what runs, and if wanted what is kept. */
import { existsSync, rmSync } from 'node:fs';
import { stopDaemon } from '../../../cli/local/daemon.ts';
import { dataFolders, removeSetup } from '../../../cli/local/harness-setup.ts';
import { called, runtime } from '../../../cli/runtime.ts';
import type { Removal } from '../../../harness/setup/uninstall.ts';
import { readCredentials } from '../../../local/credentials.ts';
import { forgetKey, forgetPending } from '../../../local/keystore.ts';
import { stopLocalServer } from '../../../local/own-server/start.ts';

export interface Leaving {
  applied: boolean;
  server_stopped: boolean;
  daemon_stopped: boolean;
  files: Removal[];
  /** Folders that are deleted with `--data`; null without. */
  data: string[] | null;
  /** The program itself is its package manager's. */
  binary: { path: string; remove: string };
}

/** Takes everything away, or only says what would be. */
export async function leave({ data, apply }: { data: boolean; apply: boolean }): Promise<Leaving> {
  const { program } = runtime();
  const stopped = { server_stopped: false, daemon_stopped: false };
  if (apply) {
    stopped.daemon_stopped = await stopDaemon();
    stopped.server_stopped = (await stopLocalServer(runtime())) !== null;
  }
  const files = await removeSetup(apply);
  const folders = data ? dataFolders().filter((folder) => existsSync(folder)) : null;
  if (apply && folders) await deleteAll(folders);
  return {
    applied: apply,
    ...stopped,
    files,
    data: folders,
    binary: { path: program, remove: 'npm uninstall --global board-service' },
  };
}

async function deleteAll(folders: string[]): Promise<void> {
  const { servers } = readCredentials(runtime().folders);
  for (const entry of Object.values(servers)) {
    await forgetKey(entry);
    if (entry.pending) await forgetPending(entry.server_id, entry.pending);
  }
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

/** What is done beyond the files of harnesses. */
export function leavingText({ applied, server_stopped, daemon_stopped, files, data, binary }: Leaving): string {
  const stopped = [server_stopped ? 'the local server' : '', daemon_stopped ? 'the daemon' : ''].filter(Boolean);
  const kept = files.filter(({ action }) => action === 'keep' || action === 'unreadable');
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
