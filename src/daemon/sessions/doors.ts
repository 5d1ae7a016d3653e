/** Doors: connections over which a program accepts prompts as its user's own. One per process. */
import { ControlRefusal } from '../control/errors.ts';
import type { Peer } from '../control/peer.ts';
import type { ProcessRef } from '../protocol.ts';
import type { Session } from './session.ts';

/** So that the connections last for the waiting hooks of all sessions too; without a door texts come by those. */
const MAX_DOORS = 48;

export class Doors {
  readonly #byProcess = new Map<string, Peer>();

  /** Adds a door; it replaces an earlier one of the same process. @throws ControlRefusal if there are too many */
  open(process: ProcessRef, peer: Peer): void {
    const key = keyOf(process);
    const earlier = this.#byProcess.get(key);
    if (!earlier && this.#byProcess.size >= MAX_DOORS)
      throw new ControlRefusal('invalid_request', `There are ${MAX_DOORS} doors already.`);
    this.#byProcess.set(key, peer);
    peer.onClose(() => {
      if (this.#byProcess.get(key) === peer) this.#byProcess.delete(key);
    });
    earlier?.sendEvent({ event: 'release' });
    earlier?.close();
  }

  /** The door of a session; null unless it is the latest session of its process. @param all the open sessions */
  of(session: Session, all: readonly Session[]): Peer | null {
    const { pid, pid_start: start } = session.row;
    if (pid === null || start === null) return null;
    const peer = this.#byProcess.get(keyOf({ pid, start }));
    if (!peer) return null;
    const later = all.some((other) => other.row.pid === pid && registeredAt(other) > registeredAt(session));
    return later ? null : peer;
  }
}

const keyOf = ({ pid, start }: ProcessRef): string => `${pid} ${start}`;
const registeredAt = ({ registeredUs }: Session): number => Math.max(0, ...registeredUs.values());
