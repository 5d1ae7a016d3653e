/** What a check of the kit is. */
import type { Profile } from '../profile.ts';
import { KitFailure } from './driver.ts';
import type { KitWorld } from './world.ts';

export interface Check {
  id: string;
  /** Whether the profile declares what is checked. */
  needs(profile: Profile): boolean;
  /** @throws KitFailure with what did not hold. @param version of the harness. */
  run(world: KitWorld, version: string): Promise<void>;
}

/** @throws KitFailure unless it holds. */
export function must(holds: boolean, what: string): void {
  if (!holds) throw new KitFailure(what);
}
