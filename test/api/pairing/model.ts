/** A pairing request as the contract describes it, in a few lines of memory: what each step is answered, and what it leaves. */
import type { PairingSide, PairingState } from '../../../src/contract/types.ts';

const CHANGED = '409 pairing_changed';
const CLOSED = '409 pairing_closed';
const ARCHIVED = '409 board_archived';
const DEAD = '401 unauthorized';
const OK = '200';

export const TEN_MINUTES = 600_000;

interface SideModel {
  /** Which of the person's two agents are on the board. */
  seats: [boolean, boolean];
  /** Whether the key works that each of the two came from. */
  keys: [boolean, boolean];
  endpoint: { agent: number; binding: number } | null;
  /** Until when the last proof works; null: none does. */
  proofUntil: number | null;
}

export interface Select {
  side: PairingSide;
  agent: number;
  binding: number;
  replace: boolean;
  stale: boolean;
}

const newSide = (): SideModel => ({ seats: [true, true], keys: [true, true], endpoint: null, proofUntil: null });

export class PairingModel {
  generation = 1;
  accepted = false;
  archived = false;
  closed: 'ready' | 'declined' | 'cancelled' | 'expired' | null = null;
  chosen: number | null = null;
  readonly reported = { initiator: false, recipient: false };
  readonly sides = { initiator: newSide(), recipient: newSide() };
  /** Whether the recipient is no longer on the server. */
  removed = false;
  now = 0;

  live(side: PairingSide): boolean {
    const { endpoint, seats, keys } = this.sides[side];
    return endpoint !== null && seats[endpoint.agent] === true && keys[endpoint.agent] === true;
  }

  get state(): PairingState {
    if (this.closed !== null) return this.closed;
    if (!this.live('recipient')) return 'awaiting_session';
    if (!this.live('initiator') || !this.accepted) return 'awaiting_endpoint';
    return 'verifying';
  }

  /** Whether a side's last proof reads its request. */
  works(side: PairingSide): boolean {
    const until = this.sides[side].proofUntil;
    return until !== null && until > this.now && this.live(side) && this.closed === null && !this.archived;
  }

  select({ side, agent, binding, replace, stale }: Select): string {
    if (!this.sides[side].keys[agent]) return DEAD;
    if (this.closed !== null) return CLOSED;
    if (this.archived) return ARCHIVED;
    const own = this.sides[side];
    if (!own.seats[agent]) return '404 pairing_not_found';
    if (side === 'initiator' && own.endpoint === null && agent !== 0 && !replace) return CHANGED;
    if (stale) return CHANGED;
    const same = own.endpoint?.agent === agent && own.endpoint.binding === binding;
    if (own.endpoint !== null && !same) {
      if (this.live(side) && !replace) return CHANGED;
      this.#begin();
    }
    own.endpoint = { agent, binding };
    own.proofUntil = this.now + TEN_MINUTES;
    return OK;
  }

  /** Another endpoint: everything that was shown so far is void. */
  #begin(): void {
    this.generation++;
    this.accepted = false;
    this.#voidProofs();
    Object.assign(this.reported, { initiator: false, recipient: false });
  }

  #voidProofs(): void {
    for (const side of Object.values(this.sides)) side.proofUntil = null;
  }

  accept(): string {
    if (!this.works('recipient')) return DEAD;
    this.accepted = true;
    return OK;
  }

  verify(side: PairingSide): string {
    if (!this.works(side)) return DEAD;
    if (this.state !== 'verifying' || this.reported[side]) return CHANGED;
    this.reported[side] = true;
    if (this.reported.initiator && this.reported.recipient) this.#end('ready');
    return OK;
  }

  choose(agent: number, replace: boolean): string {
    if (this.removed) return DEAD;
    if (this.closed !== null) return CLOSED;
    if (this.archived) return ARCHIVED;
    if (!this.sides.recipient.seats[agent]) return '404 pairing_not_found';
    if (this.chosen === agent) return OK;
    if ((this.chosen !== null && !replace) || this.state !== 'awaiting_session') return CHANGED;
    this.chosen = agent;
    return OK;
  }

  end(how: 'declined' | 'cancelled'): string {
    if (how === 'declined' && this.removed) return DEAD;
    if (this.closed !== null) return this.closed === how ? OK : CLOSED;
    this.#end(how);
    return OK;
  }

  /** What nobody is answered for. */
  endBySelf(how: 'cancelled' | 'expired'): void {
    if (this.closed === null) this.#end(how);
  }

  #end(how: NonNullable<PairingModel['closed']>): void {
    this.closed = how;
    this.#voidProofs();
  }

  removeSeat(side: PairingSide, agent: number): void {
    const own = this.sides[side];
    own.seats[agent] = false;
    if (own.endpoint?.agent === agent) own.proofUntil = null;
  }

  /** A key ends, and with it what was selected by it. */
  revokeKey(side: PairingSide, agent: number): void {
    const own = this.sides[side];
    own.keys[agent] = false;
    if (own.endpoint?.agent === agent) own.proofUntil = null;
  }

  /** The recipient is removed from the server. */
  removePerson(): void {
    this.endBySelf('cancelled');
    this.removed = true;
    Object.assign(this.sides.recipient, { seats: [false, false], keys: [false, false] });
  }

  leave(): void {
    this.endBySelf('cancelled');
    this.sides.recipient.seats = [false, false];
  }
}
