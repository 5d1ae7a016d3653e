/** How an invite names its server. */

export interface Address {
  hosts(): readonly string[];
  origin(host: string): string;
  baseUrl(): string;
}

/** The public host; a local server is `localhost` with its port. */
export const serverName = (address: Address): string =>
  address.hosts().find((host) => host.startsWith('localhost:')) ?? address.hosts()[0] ?? '';

/** Whether a link with this origin leads to this server. */
export const isOwnOrigin = (address: Address, origin: string): boolean =>
  address.hosts().some((host) => address.origin(host) === origin);
