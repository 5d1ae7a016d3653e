/** Who may read which message, as part of a query: never a filter afterwards. */
import type { Knex } from 'knex';

/** Whose eyes a query reads with. */
export interface Eyes {
  memberId: string;
  readsAll: boolean;
}

/** Narrows a query on `m` to what these eyes may read: own, to everyone, or recorded as addressed. */
export function readable(query: Knex.QueryBuilder, eyes: Eyes): Knex.QueryBuilder {
  if (eyes.readsAll) return query;
  return query.where((either) =>
    either
      .where('m.sender_id', eyes.memberId)
      .orWhere('m.to_everyone', 1)
      .orWhereExists((sub: Knex.QueryBuilder) =>
        sub
          .from({ r: 'message_members' })
          .whereRaw('r.seq = m.seq')
          .where({ 'r.member_id': eyes.memberId, 'r.addressed': 1 })
          .select(sub.client.raw('1')),
      ),
  );
}
