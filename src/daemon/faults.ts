/**
 * Places where a test may break the daemon: every step of handing and acknowledging names itself as it is passed. The
 * installed program passes none; only the tests' own start of it does.
 */
export interface Faults {
  /** Passed between one step and the next. May end the process, throw, or take its time. */
  at(point: FaultPoint): void;
}

/** In the order in which a message passes them. */
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
