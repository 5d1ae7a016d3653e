/** The OpenAPI description: the server's, or the one this program was built with. */
import { pathToFileURL } from 'node:url';
import { Failure } from '../local/failure.ts';
import { partPath } from '../local/program.ts';
import { version } from './runtime.ts';
import type { Session } from './session.ts';

/** What the server in use publishes about itself. */
export async function serverDescription({ client, server, token }: Session, timeoutMs: number): Promise<object> {
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
  // By path: it brings every schema along, which no other command needs.
  const part = pathToFileURL(partPath('contract/openapi')).href;
  const { openapi } = (await import(part)) as typeof import('../contract/openapi.ts');
  return openapi(version());
}
