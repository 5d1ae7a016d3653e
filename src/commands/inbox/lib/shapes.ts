/** Parts of the JSON that several `inbox` commands print. */
import { z } from 'zod';
import { answer, count, flag, inbox, messages, named, object, seq, text } from '../../../cli/shapes.ts';

export const shownInbox = named(
  'ReadInbox',
  object({
    agent: text,
    messages,
    /** Up to here acknowledging was asked for; null: nothing was. */
    acked_up_to: seq.nullable(),
    more: flag,
    /** Each message as a session reads it. */
    wrapped: z.array(text),
    bundle: text,
    work: inbox.shape.work,
    braked: inbox.shape.braked,
    /** How many notices wait, where some do; after a wait: where they ended it. */
    notices: count.optional(),
    timed_out: flag.optional(),
  }),
);

export const inboxesOfSeats = object({
  seats: z.array(
    z.strictObject({
      board: text,
      agent: text,
      member_id: text,
      messages,
      /** Up to here acknowledging was asked for; null: nothing was. */
      acked_up_to: seq.nullable(),
      more: flag,
      /** How many notices wait, where some do; after a wait: where they ended it. */
      notices: count.optional(),
    }),
  ),
  /** Seats that could not be read. */
  unavailable: count,
  /** Seats whose messages stay unread. */
  unacknowledged: count,
  bundle: text,
  timed_out: flag.optional(),
});

/** A line of `inbox --follow`: so many notices wait for the seat. */
export const waitingNotices = z.strictObject({ board: text, agent: text, notices: count });

const arrivals = answer('getOnboardingInbox').shape;
export const inboxOfPerson = object({
  boards: z.array(
    z.strictObject({
      name: text,
      unread: count,
      /** Messages that they owe a reply, asks included. */
      needs_reply: count,
      /** Open asks of them. */
      asks_to_me: count,
    }),
  ),
  /** Open asks they may answer, those that block first. */
  asks: messages,
  /** Requests of their agents that wait for them, oldest first. */
  approvals: answer('listApprovals').shape.approvals,
  board_adds: arrivals.board_adds,
  arrivals: arrivals.arrivals,
  /** Proposals of work in which they have part. */
  pairings_open: count,
  /** What agents cannot go on with without them. */
  needs: answer('listNeeds').shape.needs,
});
