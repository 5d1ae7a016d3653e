/** The OpenAPI description: the server's, or the one this program was built with. */

import { loadServer } from '../../../cli/local/serve.ts';
import { version } from '../../../cli/runtime.ts';
import type { Session } from '../../../cli/session/session.ts';
import { Failure } from '../../../local/failure.ts';

/** What the server in use publishes about itself; null where that is this machine's own, which does not run. */
export async function publishedDescription(open: () => Promise<Session>, timeoutMs: number): Promise<object | null> {
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
  const answer = await client.environment.fetch(`${server.url}/openapi.json`, { headers, redirect: 'error', signal });
  if (!answer.ok)
    throw new Failure('server_outdated', `${server.url} does not describe its API (status ${answer.status}).`, {
      hint: 'service openapi --offline',
    });
  return (await answer.json()) as object;
}

/** The description of this build. */
export async function offlineDescription(): Promise<object> {
  const { openapi } = await loadServer();
  return openapi(version());
}
