/** A check of the kit, and helpers for checks. */
import type { Capability } from '../../src/daemon/adapter.ts';
import type { Profile } from '../../src/harness/profile.ts';
import { KitFailure } from './driver.ts';
import { type SeatedSession, startSession } from './seated.ts';
import type { KitWorld } from './world.ts';

/** The version that a fake program reports: newer than every version in the profile. */
export const NEWEST = '999.0.0';

export interface Check {
  id: string;
  /** Whether the profile declares what is checked. */
  needs(profile: Profile): boolean;
  /** @throws KitFailure that says what is wrong */
  run(world: KitWorld, sessions: SharedSession): Promise<void>;
}

/** @throws KitFailure with `problem` if `ok` is false */
export function must(ok: boolean, problem: string): void {
  if (!ok) throw new KitFailure(problem);
}

/** Whether a profile declares a capability. */
export const has =
  (name: Capability) =>
  ({ delivery }: Profile): boolean =>
    delivery.capabilities.includes(name);

/** Whether an idle session can be woken. */
export const wakes = (profile: Profile): boolean =>
  (['idle-hook', 'queue', 'extension'] as const).some((name) => has(name)(profile));

/** Whether turns start with prompts; a runner's do not. */
export const hasPrompts = ({ identity }: Profile): boolean => identity.kind !== 'runner';

/** The error code in the JSON output of a command. */
export const codeOf = (json: Record<string, unknown>): string | undefined =>
  (json['error'] as { code?: string } | undefined)?.code;

/** The agent's name in the JSON output of `service whoami`. */
export const nameIn = (json: Record<string, unknown>): string | undefined =>
  (json['me'] as { name?: string } | undefined)?.name;

/** A session that checks pass on to each other, because starting one takes longer than most checks. */
export class SharedSession {
  private shared: SeatedSession | null = null;
  private readonly world: KitWorld;

  constructor(world: KitWorld) {
    this.world = world;
  }

  /** The session, which is idle and has received everything. A check that fails does not pass it on. */
  async take(): Promise<SeatedSession> {
    const { shared } = this;
    this.shared = null;
    const seat = shared ?? (await startSession(this.world));
    await seat.untilDone();
    return seat;
  }

  /** Passes a session on to the next check. */
  pass(seat: SeatedSession): void {
    this.shared = seat;
  }
}

/** The `run` of a check that uses the shared session. */
export const onSession =
  (run: (seat: SeatedSession, world: KitWorld) => Promise<void>): Check['run'] =>
  async (world, sessions) => {
    const seat = await sessions.take();
    await run(seat, world);
    sessions.pass(seat);
  };
