/** What the operations on pairing requests need of the server they run in. */
import type { Address } from '../invites/issue.steps.ts';
import type { RootKey } from '../text/root-key.ts';

export interface Deps {
  root: RootKey;
  serverId: string;
  address: Address;
}

/** Where a request is read. */
export const at = ({ serverId, address }: Deps) => ({ serverId, baseUrl: address.baseUrl() });
