/** Leaving and removing: seats, memberships, people. */
import { z } from 'zod';
import { boardPerson } from './boards.ts';
import { boardName, handle, id, memberName, nullsLeftOut, person, queryBool, time } from './common.ts';

export const handleParam = z.object({ handle });

/** A seat that has ended. Names are null to an admin who is not on its private board. */
export const agentSeat = z.strictObject({
  id: id('mem'),
  board: boardName.nullable(),
  board_id: id('brd'),
  name: memberName.nullable(),
  owner: handle,
  owner_id: id('hum'),
  status: z.enum(['left', 'removed']),
  removed_at: time,
  removed_by: z.enum(['person', 'board_owner', 'admin', 'self']),
});

/** Of an agent its seat, of a person their place on the board as it was. */
export const removedMember = z.union([agentSeat, boardPerson]);

export const pruneBody = z
  .strictObject({
    /** Seconds. */
    disconnected_for: z.int().min(3600).max(3_153_600_000),
    all: z.boolean().default(false),
    dry_run: z.boolean().default(false),
    agents: z.array(id('mem')).min(1).max(500).optional(),
  })
  .register(nullsLeftOut);

export const prunedAgent = z.strictObject({
  id: id('mem'),
  name: memberName.nullable(),
  board: boardName.nullable(),
  board_id: id('brd'),
  owner: handle,
  owner_id: id('hum'),
  disconnected_since: time,
});

export const pruning = z.strictObject({
  disconnected_for: z.int(),
  all: z.boolean(),
  dry_run: z.boolean(),
  agents: z.array(prunedAgent),
  kept: z.array(id('mem')),
  /** A dry run lists no more than one call can remove. */
  more: z.literal(true).optional(),
});

export const removePersonQuery = z.object({ dry_run: queryBool.default(false) });

export const personRemoval = z.strictObject({
  person,
  dry_run: z.boolean(),
  keys_revoked: z.int().min(0),
  browser_sessions_ended: z.int().min(0),
  agents_removed: z.int().min(0),
  boards_left: z.int().min(0),
  owners_passed: z.int().min(0),
  unreachable_boards: z.array(id('brd')),
});
