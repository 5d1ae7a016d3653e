/** Starts and describes servers. */
import type { z } from 'zod';
import type { Output } from '../../../cli/output.ts';
import { runtime, version } from '../../../cli/runtime.ts';
import { clientOptions } from '../../../cli/session/open-session.ts';
import { Client } from '../../../client/client.ts';
import type { ServerInfo } from '../../../contract/types.ts';
import { Failure } from '../../../local/failure.ts';
import { readCredentials } from '../../../local/keys/credentials.ts';
import { canonicalOrigin, looksLikeUrl } from '../../../local/origin.ts';
import { localAddress, originOf } from '../../../local/own-server/address.ts';
import { accepts } from '../../../local/own-server/probe.ts';
import { currentServer } from '../../../local/own-server/running.ts';
import { ensureLocalServer } from '../../../local/own-server/start.ts';
import { findProject } from '../../../local/project.ts';
import { namedServer, personServer } from '../../../local/servers.ts';
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

/** What a server says about itself, without a credential and without starting it. */
export async function infoOf(
  named: string | undefined,
  options: { out: Output; timeoutMs: number; verbose: boolean },
): Promise<{ info: ServerInfo; url: string }> {
  const { url, local } = await whichServer(named);
  if (local && !(await accepts(url)))
    throw new Failure('server_not_running', `The local server at ${url} does not run.`, {
      hint: 'service server start',
    });
  const client = new Client({ origin: url, ...clientOptions(options) });
  return { info: (await client.call('getInfo')).data, url };
}

async function whichServer(named: string | undefined): Promise<{ url: string; local: boolean }> {
  const { env, folders } = runtime();
  if (named && looksLikeUrl(named)) return { url: canonicalOrigin(named), local: false };
  const saved = readCredentials(folders);
  const request = { named: env.SERVICE_SERVER, project: findProject() };
  const server = named ? namedServer(named, saved, folders, env) : personServer(request, saved, folders, env);
  if (!server.local) return { url: server.origin, local: false };
  return { url: (await currentServer(folders, env))?.url ?? originOf(localAddress(folders, env)), local: true };
}
