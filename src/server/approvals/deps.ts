/** What decisions need of the server they run in. */
import type { Address } from '../invites/issue.steps.ts';
import type { RootKey } from '../text/root-key.ts';

/** Tells the operator of what should never be. No secret is ever in it. */
export type Report = (message: string, about: Record<string, string>) => void;

export interface Deps {
  root: RootKey;
  serverId: string;
  address: Address;
  report: Report;
}
