/** The features of the server, requested once per client. */
import type { ServerInfo } from '../contract/types.ts';
import type { Client } from './client.ts';
import { ClientError } from './errors.ts';

const known = new WeakMap<Client, Promise<ServerInfo>>();

/** `GET /v1/info`, once per client; a failure is not remembered. */
export function serverInfo(client: Client): Promise<ServerInfo> {
  const asked = known.get(client);
  if (asked) return asked;
  const asking = client.call('getInfo').then((reply) => reply.data);
  known.set(client, asking);
  asking.catch(() => known.delete(client));
  return asking;
}

/**
 * Makes sure that the server has a feature before anything that needs it is sent.
 *
 * @throws ClientError `server_outdated` that names it, or what `GET /v1/info` failed with.
 */
export async function requireFeature(client: Client, feature: string): Promise<void> {
  const { features, version } = await serverInfo(client);
  if (Array.isArray(features) && features.includes(feature)) return;
  throw new ClientError('server_outdated', `This server does not have the feature "${feature}".`, {
    hint: 'Update the server.',
    details: { feature, version },
  });
}
