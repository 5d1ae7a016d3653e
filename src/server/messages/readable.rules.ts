/** Who may read which message, as part of a query: never a filter afterwards. */
import type { Knex } from 'knex';

/** As whom a query reads messages. */
export interface MessageReader {
  memberId: string;
  readsAll: boolean;
}

/** Narrows a query on `m` to what this reader may read: own, to everyone, or recorded as addressed. */
export function readable(query: Knex.QueryBuilder, reader: MessageReader): Knex.QueryBuilder {
  if (reader.readsAll) return query;
  return query.where((either) =>
    either
      .where('m.sender_id', reader.memberId)
      .orWhere('m.to_everyone', 1)
      .orWhereExists((sub: Knex.QueryBuilder) =>
        sub
          .from({ r: 'message_members' })
          .whereRaw('r.seq = m.seq')
          .where({ 'r.member_id': reader.memberId, 'r.addressed': 1 })
          .select(sub.client.raw('1')),
      ),
  );
}
