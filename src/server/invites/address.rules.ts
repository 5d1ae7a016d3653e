/** How an invite names its server. */

export interface Hosts {
  hosts(): readonly string[];
  origin(host: string): string;
}

/** The public host; a local server is `localhost` with its port. */
export const serverName = (address: Hosts): string =>
  address.hosts().find((host) => host.startsWith('localhost:')) ?? address.hosts()[0] ?? '';

/** Whether a link with this origin leads to this server. */
export const isOwnOrigin = (address: Hosts, origin: string): boolean =>
  address.hosts().some((host) => address.origin(host) === origin);
