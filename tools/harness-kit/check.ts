/** The interface of a check of the kit. */
import type { Capability, Profile } from '../../src/harness/profile.ts';
import { KitFailure } from './driver.ts';
import { Seated } from './seated.ts';
import type { KitWorld } from './world.ts';

/** The version that a fake program reports: newer than every version in the profile. */
export const NEWEST = '999.0.0';

export interface Check {
  id: string;
  /** Whether the profile declares what is checked. */
  needs(profile: Profile): boolean;
  /** @throws KitFailure with what did not hold. */
  run(world: KitWorld, seats: Seats): Promise<void>;
}

/** @throws KitFailure unless it holds. */
export function must(holds: boolean, what: string): void {
  if (!holds) throw new KitFailure(what);
}

export const can =
  (name: Capability) =>
  ({ delivery }: Profile): boolean =>
    delivery.capabilities.includes(name);

/** A session of it can be reached while it is idle. */
export const wakes = (profile: Profile): boolean =>
  (['idle-hook', 'queue', 'extension'] as const).some((name) => can(name)(profile));

/** Whether its turns start with prompts; a runner's do not. */
export const hasPrompts = ({ identity }: Profile): boolean => identity.kind !== 'runner';

export const codeOf = (json: Record<string, unknown>): string | undefined =>
  (json['error'] as { code?: string } | undefined)?.code;

/** A session that passing checks share, because starting one costs more than most checks. */
export class Seats {
  private shared: Seated | null = null;
  private readonly world: KitWorld;

  constructor(world: KitWorld) {
    this.world = world;
  }

  /** One that is idle and has received everything. */
  async idle(): Promise<Seated> {
    const { shared } = this;
    this.shared = null;
    const seat = shared ?? (await Seated.on(this.world));
    await seat.rest();
    return seat;
  }

  /** A finished check passes its sessions to the next one. */
  done(seat: Seated): void {
    this.shared = seat;
  }
}
