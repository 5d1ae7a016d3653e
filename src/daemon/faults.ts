/**
 * Fault injection for tests: every step of delivery and acknowledgement calls `at` with its name. The installed program
 * uses `noFaults`.
 */
export interface Faults {
  /** Called between two steps. May end the process, throw, or block. */
  at(point: FaultPoint): void;
}

/** In the order in which a message reaches them. */
export const faultPoints = [
  'hand.ready',
  'hand.read',
  'hand.chosen',
  'hand.checked',
  'hand.prepare',
  'hand.prepared',
  'hand.exposed',
  'hand.handed',
  'accept.received',
  'accept.recorded',
  'confirm.evidence',
  'confirm.recorded',
  'ack.chosen',
  'ack.answered',
  'ack.recorded',
] as const;
export type FaultPoint = (typeof faultPoints)[number];

export const noFaults: Faults = { at: () => {} };
