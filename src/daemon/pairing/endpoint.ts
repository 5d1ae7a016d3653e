/** One side of a pairing request, bound to one boot of one session here. */
import { createHash, randomBytes } from 'node:crypto';
import { canonicalJson } from '../../contract/canonical.ts';
import type { PairingSide } from '../../contract/types.ts';
import type { HandoffId } from '../protocol.ts';
import type { SeatIdentity, SessionKey } from '../refs.ts';
import { SingleFlight } from '../server-link/single-flight.ts';

interface Evidence {
  ping_seq: number;
  reply_seq: number;
  handoff_id: HandoffId;
}

export interface EndpointBinding {
  origin: string;
  requestId: string;
  side: PairingSide;
  seat: SeatIdentity;
  session: SessionKey;
  boot: string;
  /** Generation of the seat's binding to the session. */
  binding: number;
}

export class Endpoint {
  readonly bound: EndpointBinding;
  /** Identifies the session to the server. */
  readonly bindingHash: string;
  /** The proof; generated here and sent only to the server. */
  token: string;
  /** Generation of the request. */
  generation: number;
  /** When a proof was last sent to the server, in milliseconds of `Environment.now`; null before it is selected there. */
  provenAt: number | null = null;
  /** Pings so far in this generation, and when the last one was. */
  pings = 0;
  pingedAt = 0;
  /** The line that the peer's session has to reply with. */
  replyLine: string | null = null;
  /** Replies of the peer's session, by message id. */
  replies = new Map<string, { ping_seq: number; reply_seq: number }>();
  /** A reply that this session has received. */
  evidence: Evidence | null = null;
  /** `ready` and `over` are final. */
  state: 'open' | 'ready' | 'over' = 'open';
  readonly steps: SingleFlight<void>;
  readonly ended = new AbortController();
  /** Ends the pause before the next ping or renewal. */
  pause: AbortController | null = null;

  constructor(
    bound: EndpointBinding,
    bindingHash: string,
    generation: number,
    step: (endpoint: Endpoint) => Promise<void>,
  ) {
    this.bound = bound;
    this.bindingHash = bindingHash;
    this.generation = generation;
    this.token = newProof();
    this.steps = new SingleFlight(() => step(this));
  }

  get key(): string {
    return endpointKey(this.bound);
  }

  /** Starts another generation: proofs of the previous one are void. */
  restart(generation: number): void {
    this.generation = generation;
    this.pings = 0;
    this.replyLine = null;
    this.replies = new Map();
    this.evidence = null;
  }
}

export const endpointKey = ({
  origin,
  requestId,
  side,
}: Pick<EndpointBinding, 'origin' | 'requestId' | 'side'>): string => `${origin} ${requestId} ${side}`;

/** 256 bits that only this process and the server know. */
export const newProof = (): string => `abp_${randomBytes(32).toString('base64url')}`;

/** Identifies one boot of a session under one run of the daemon. */
export function bindingHash(
  { session, boot, binding }: EndpointBinding,
  { serverId, instance }: { serverId: string; instance: string },
): string {
  const at = session.indexOf(':');
  const parts = [session.slice(0, at), session.slice(at + 1), boot, instance, binding];
  const text = canonicalJson(['service-session-binding-v1', serverId, ...parts]);
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}
