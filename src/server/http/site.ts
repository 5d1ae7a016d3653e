/** What this server is to the outside: its hosts (lower case), its own origin, its session cookie. Local and team mode differ in nothing else here. */
import { publicOrigin } from '../../contract/links.ts';
import type { ServerAddress } from '../operation/usecase.ts';

export interface Site extends ServerAddress {
  cookie(host: string): { name: string; secure: boolean };
}

/** A local server answers only its own loopback address, so that no page of another site can reach it by a name. */
export const localSite = (port: () => number): Site => ({
  mode: 'local',
  hosts: () => [`127.0.0.1:${port()}`, `localhost:${port()}`],
  baseUrl: () => `http://127.0.0.1:${port()}`,
  origin: (host) => `http://${host}`,
  // Browsers share cookies between the ports of a host: its port in the name keeps servers apart.
  cookie: (host) => ({ name: `service_session_${host.split(':')[1] ?? '80'}`, secure: false }),
});

/** A team server answers only to its public URL, whatever proxies in front of it say. @param publicUrl `https://host[:port]`. */
export function teamSite(publicUrl: string): Site {
  const origin = publicOrigin(publicUrl);
  if (origin === null) throw new Error(`no public URL: ${publicUrl}`);
  const hosts = [new URL(origin).host];
  return {
    mode: 'team',
    hosts: () => hosts,
    baseUrl: () => origin,
    origin: () => origin,
    cookie: () => ({ name: '__Host-service_session', secure: true }),
  };
}
