/** Full-text search over what the caller may read. */
import type { Query } from '../../contract/types.ts';
import { requireMember } from '../access/authority.ts';
import { onePlace, type Place, placesOf } from '../access/board-access.ts';
import type { ReadTx } from '../db/tx.ts';
import type { Caller } from '../operation/caller.ts';
import { needsBoard } from '../operation/refusals.rules.ts';
import type { ReadCase } from '../operation/usecase.ts';
import { requireTask } from '../tasks/find.steps.ts';
import { boundToken, readBoundNumber } from '../text/bound-token.ts';
import { resultsOf } from '../views/search-results.ts';
import { bestHits, newestHits, type Searched, type SearchScope } from './search.store.ts';
import { parseQuery, type SearchQuery } from './words.rules.ts';

/** By relevance only so many of the best are looked at. */
const BEST = 200;

type Asked = Query<'search'>;

/** @param searchable brings the index of these boards up to what was written before. */
export const search = (searchable: (searched: Searched) => Promise<void>): ReadCase<'search'> => ({
  // Of boards that the caller is on alone: how long another one takes would tell that it is there.
  ahead: ({ seat, person }, { query: { board } }) =>
    searchable(seat !== null ? { boardId: seat.board_id } : { personId: person.person_id, board }),

  async run(tx, caller, { query: asked }) {
    const query = parseQuery(asked.q);
    if (asked.board === undefined && (asked.from !== undefined || asked.task !== undefined))
      throw needsBoard(asked.from === undefined ? 'task' : 'from');
    const one = await onePlace(tx, caller, asked.board);
    const scope = await scopeOf(tx, caller, asked, query, one);
    const start = readBoundNumber(boundTo(caller, asked), asked.after);
    const page =
      asked.sort === 'newest' ? await newest(tx, scope, start, asked.limit) : await best(tx, scope, start, asked.limit);
    const places = new Map((one ? [one] : await placesOf(tx, caller, 'all')).map((place) => [place.board.id, place]));
    return {
      query: asked.q,
      results: await resultsOf({ tx, places, query }, page.hits),
      next_after: page.next === null ? null : boundToken(boundTo(caller, asked), page.next),
    };
  },
});

async function scopeOf(tx: ReadTx, caller: Caller, asked: Asked, query: SearchQuery, place: Place | null) {
  const scope: SearchScope = {
    query,
    where: place ? { boardId: place.board.id } : { personId: caller.person.person_id },
    kinds: asked.kind ?? ['message', 'task', 'file'],
    // People read every message of the boards they are on.
    reader: place?.reader ?? { memberId: '', readsAll: true },
    ...(asked.since === undefined ? {} : { since: asked.since }),
    ...(asked.until === undefined ? {} : { until: asked.until }),
  };
  if (asked.task !== undefined && place) scope.taskId = (await requireTask(tx, place.board.id, asked.task)).id;
  if (asked.from !== undefined && place) scope.senderId = (await requireMember(tx, place, asked.from)).id;
  return scope;
}

/** A page of hits, and where the next one begins; null when there is none. */
async function newest(tx: ReadTx, scope: SearchScope, before: number | null, limit: number) {
  const found = await newestHits(tx, scope, before, limit + 1);
  const hits = found.slice(0, limit);
  return { hits, next: found.length > limit ? (hits.at(-1)?.id ?? null) : null };
}

async function best(tx: ReadTx, scope: SearchScope, start: number | null, limit: number) {
  const found = await bestHits(tx, scope, BEST);
  const from = start ?? 0;
  return { hits: found.slice(from, from + limit), next: found.length > from + limit ? from + limit : null };
}

/** A position holds for the same caller and the same other parameters only. */
const boundTo = (caller: Caller, { after: _after, ...rest }: Asked) => [
  caller.seat?.id ?? caller.person.person_id,
  rest,
];
