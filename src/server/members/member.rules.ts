/** The row of a member, which is a person or an agent on one board, and the values of a new one. */

import type { DeliveryMode, MidturnPolicy, ServerRole } from '../../contract/types.ts';
import type { BrakeReason } from '../seats/budget.rules.ts';

export type MemberRow = {
  id: string;
  board_id: string;
  name: string;
  kind: 'human' | 'agent';
  /** The person, or the agent's person. */
  person_id: string;
  role: string | null;
  harness: string | null;
  access: 'admin' | 'member' | null;
  status: 'active' | 'removed' | 'left';
  first_joined_at: number;
  joined_at: number;
  removed_at: number | null;
  removed_by: 'person' | 'board_owner' | 'admin' | 'self' | null;
  token_digest: Buffer | null;
  key_id: string | null;
  session_digest: Buffer | null;
  delivery_mode: DeliveryMode | null;
  delivery_revision: number;
  midturn_policy: MidturnPolicy | null;
  /** The task an agent is on: of its latest start or join. */
  current_task_id: string | null;
  /** Messages this member sent, and those of them to everyone. */
  sent_count: number;
  sent_everyone_count: number;
  /** The read position, and the running counts of board and member at that position. */
  read_up_to: number;
  read_count: number;
  read_everyone_count: number;
  read_sent_count: number;
  read_sent_everyone_count: number;
  /** Until when agents' messages do not wake the seat, in milliseconds since the epoch; null: they do. */
  braked_until: number | null;
  braked_reason: BrakeReason | null;
  braked_at: number | null;
  /** Waiting reads since `reads_since` with nothing acknowledged; null: none. */
  reads: number;
  reads_since: number | null;
};

/** What a new member of any kind starts with. */
export const blankMember = {
  role: null,
  harness: null,
  access: null,
  status: 'active' as const,
  removed_at: null,
  removed_by: null,
  token_digest: null,
  key_id: null,
  session_digest: null,
  delivery_mode: null,
  delivery_revision: 0,
  midturn_policy: null,
  current_task_id: null,
  sent_count: 0,
  sent_everyone_count: 0,
  read_count: 0,
  read_everyone_count: 0,
  read_sent_count: 0,
  read_sent_everyone_count: 0,
  braked_until: null,
  braked_reason: null,
  braked_at: null,
  reads: 0,
  reads_since: null,
};

/** A member with what its person adds. */
export type MemberWithPerson = MemberRow & { handle: string; display_name: string | null; server_role: ServerRole };

/** Who a member is and where it has read to: what live delivery tells of a person. */
export type MemberPosition = Pick<
  MemberRow,
  'id' | 'kind' | 'person_id' | 'read_up_to' | 'read_count' | 'sent_count' | 'read_sent_count'
>;

/**
 * The order of ids within a board. By an expression: for the ids themselves Postgres may go through the members of all
 * boards until enough of this one have come.
 */
export const idOrder = (id: 'id' | 'm.id'): string => `${id} || ''`;
