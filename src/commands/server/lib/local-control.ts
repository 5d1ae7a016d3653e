/** Starts this machine's own server. */
import type { z } from 'zod';
import { runtime, version } from '../../../cli/runtime.ts';
import { ensureLocalServer } from '../../../local/own-server/start.ts';
import type { startedServer } from './shapes.ts';

type StartRecord = z.infer<typeof startedServer>;

/** Starts the local server unless it runs. */
export async function startRecord(): Promise<StartRecord> {
  const { env, folders, program } = runtime();
  const server = await ensureLocalServer({ folders, env, program, version: version() });
  return {
    started: server.started,
    replaced: server.replaced === null ? null : { from: server.replaced, to: server.version },
    pid: server.pid,
    ui_url: server.url,
    data_dir: folders.data,
    version: server.version,
  };
}

/** The record in words. */
export function startText({ ui_url, pid, replaced }: StartRecord): string {
  const process = pid === null ? '' : ` (pid ${pid})`;
  return `Local server running at ${ui_url}${process}${replaced ? `; replaced ${replaced.from}` : ''}.`;
}
