import { BaseCommand, booleanFlag } from '../cli/base.ts';
import { version } from '../cli/runtime.ts';
import type { Session } from '../cli/session/open-session.ts';
import { timedOut } from '../client/errors.ts';
import { networkError } from '../client/network.ts';
import { Failure } from '../local/failure.ts';
import { loadServer } from './serve/lib/serve.ts';

export default class Openapi extends BaseCommand<typeof Openapi> {
  static override summary = 'Print the description of the HTTP API';
  static override description =
    'OpenAPI 3.1 as the server in use gives it, so that other programs can be made from it. No server is started for it:\nwhere the local one does not run, and with --offline, it is the description this program was built with.';
  static override examples = ['service openapi > openapi.json', 'service openapi --offline'];
  static override flags = { offline: booleanFlag('The one this program was built with') };

  override async run(): Promise<void> {
    const open = () => this.session('A', { autostart: false });
    const published = this.flags.offline ? null : await publishedDescription(open, this.timeoutMs);
    if (!published && !this.flags.offline) this.out.note('The local server does not run; this is what it would say.');
    this.out.document(published ?? (await offlineDescription()));
  }
}

/** What the server in use publishes about itself; null where that is this machine's own, which does not run. */
async function publishedDescription(open: () => Promise<Session>, timeoutMs: number): Promise<object | null> {
  try {
    return await serverDescription(await open(), timeoutMs);
  } catch (error) {
    if ((error as { code?: unknown }).code === 'server_not_running') return null;
    throw error;
  }
}

async function serverDescription({ client, server, token }: Session, timeoutMs: number): Promise<object> {
  const signal = timeoutMs > 0 ? AbortSignal.timeout(timeoutMs) : null;
  const headers = { Authorization: `Bearer ${token}` };
  const answer = await client.environment
    .fetch(`${server.url}/openapi.json`, { headers, redirect: 'error', signal })
    .catch((error: unknown) => {
      throw signal?.aborted ? timedOut('total') : networkError(error, server.url);
    });
  if (!answer.ok)
    throw new Failure('server_outdated', `${server.url} does not describe its API (status ${answer.status}).`, {
      hint: 'service openapi --offline',
    });
  return (await answer.json()) as object;
}

/** The description of this build. */
async function offlineDescription(): Promise<object> {
  const { openapi } = await loadServer();
  return openapi(version());
}
