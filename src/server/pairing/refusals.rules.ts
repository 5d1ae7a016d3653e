/** The refusals of pairing operations. */
import { Refusal } from '../../contract/errors.ts';

/** The same answer for a request, board or endpoint that is missing, foreign or hidden. */
export const pairingNotFound = (): Refusal =>
  new Refusal('pairing_not_found', 'There is no such pairing request here.', {
    hint: 'service pairing list shows those you have part in.',
  });

export const pairingChanged = (what = 'The request or one of its endpoints has changed.'): Refusal =>
  new Refusal('pairing_changed', what, { hint: 'Read it again: service pairing show PRQ' });

/** The reason of the end is shown only to those who may read the request. */
export const pairingClosed = (): Refusal =>
  new Refusal('pairing_closed', 'This pairing request is over.', {
    hint: 'For more work together make a new one: service pairing request HANDLE WORK',
  });

export const notYours = (whose: string): Refusal =>
  new Refusal('forbidden', `Only ${whose} may do this.`, { hint: 'service pairing show PRQ says who is who.' });

/** The agent has its token from another key of its person. @param unused its invite, which the other token would end, waits */
export const seatOfAnotherKey = (board: string, unused: boolean): Refusal => {
  const again = `in the agent's session: service join --board ${board}; then repeat this`;
  return new Refusal('forbidden', 'Only the key that the agent was given its token with may do this.', {
    hint: unused
      ? `Another token would end the agent's invite. Once it is used, take the seat again ${again}`
      : `Take the seat again with the key that is in use, ${again}`,
  });
};

export const evidenceInvalid = (check: string): Refusal =>
  new Refusal('pairing_evidence_invalid', `The ${check} of this round trip is wrong.`, {
    hint: 'Ping again, and report the reply that was handed to this session.',
    details: { check },
  });

/** Too many open requests. @param what a phrase with the limit */
export const tooManyOpen = (limit: number, what: string): Refusal =>
  new Refusal('rate_limited', `${limit} pairing requests ${what} are open already.`, {
    hint: 'Cancel those that nobody will answer: service pairing list',
    retryAfter: 3_600,
    details: { limit, window_seconds: 3_600 },
  });
