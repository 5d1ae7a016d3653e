/** Full-text search over what the caller may read. */
import type { Query } from '../../contract/types.ts';
import { requireMember } from '../access/authority.ts';
import { onePlace, type Place, placesOf } from '../access/board-access.ts';
import type { ReadTx } from '../db/tx.ts';
import type { Caller } from '../operation/caller.ts';
import { needsBoard } from '../operation/refusals.rules.ts';
import type { ReadCase } from '../operation/usecase.ts';
import { requireTask } from '../tasks/find.steps.ts';
import { boundToken, readBoundNumber, readBoundToken } from '../text/bound-token.ts';
import { indexBy } from '../text/rows.ts';
import { resultsOf } from '../views/search-results.ts';
import { fitting } from '../views/window.ts';
import { bestHits, type Hit, newestHits, type SearchScope } from './search.store.ts';
import { textSizes } from './texts.store.ts';
import { parseQuery, type SearchQuery } from './words.rules.ts';

/** By relevance only so many of the best are looked at. */
const BEST = 200;

type Asked = Query<'search'>;

export const search: ReadCase<'search'> = {
  // Of boards that the caller is on alone: how long another one takes would tell that it is there.
  ahead: ({ seat, person }, { query: { board }, deps }) =>
    deps.searchable(seat !== null ? { boardId: seat.board_id } : { personId: person.person_id, board }),

  async run(tx, caller, { query: asked }) {
    const query = parseQuery(asked.q);
    if (asked.board === undefined && (asked.from !== undefined || asked.task !== undefined))
      throw needsBoard(asked.from === undefined ? 'task' : 'from');
    const one = await onePlace(tx, caller, asked.board);
    const scope = await scopeOf(tx, caller, asked, query, one);
    const bound = boundTo(caller, asked);
    const pageOf = asked.sort === 'newest' ? newest : best;
    const { hits, more, positionAfter } = await pageOf(tx, scope, asked, bound);
    const places = new Map((one ? [one] : await placesOf(tx, caller, 'all')).map((place) => [place.board.id, place]));
    const shown = fitting(await resultsOf({ tx, places, query }, await withinReach(tx, hits)));
    const goesOn = more || shown.length < hits.length;
    return {
      query: asked.q,
      results: shown.filter((result) => result !== null),
      next_after: goesOn ? boundToken(bound, ...positionAfter(shown.length)) : null,
    };
  },
};

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

/** A page of hits, whether others follow, and where a page begins that follows so many of them. */
interface Hits {
  hits: Hit[];
  more: boolean;
  positionAfter(count: number): (number | string)[];
}

async function newest(tx: ReadTx, scope: SearchScope, { after, limit }: Asked, bound: unknown): Promise<Hits> {
  const found = await newestHits(tx, scope, readBoundNumber(bound, after), limit + 1);
  return { hits: found.slice(0, limit), more: found.length > limit, positionAfter: (count) => [found[count - 1]!.id] };
}

/**
 * What fits best changes with all that is posted, so a position names each result that was shown. Messages newer than
 * the best of the first page are left out.
 */
async function best(tx: ReadTx, scope: SearchScope, { after, limit }: Asked, bound: unknown): Promise<Hits> {
  const [last, names] = readBoundToken(bound, after, 'number', 'string') ?? [null, ''];
  const shown = new Set(names.match(/.{8}/g));
  const all = await bestHits(tx, scope, last, BEST);
  const found = all.filter((hit) => !shown.has(nameOf(hit))).slice(0, Math.max(0, BEST - shown.size));
  const newest = last ?? Math.max(...all.map(({ id }) => id));
  const positionAfter = (count: number) => [newest, [...shown, ...found.slice(0, count).map(nameOf)].join('')];
  return { hits: found.slice(0, limit), more: found.length > limit, positionAfter };
}

/** Random characters of its id, enough to tell 200 apart. A task or file that changes keeps them, but not its number. */
const nameOf = ({ ref_id }: Hit): string => ref_id.slice(-8);

/** The leading hits whose files have no more text than one page looks through: meanwhile nobody else is answered. */
async function withinReach(tx: ReadTx, hits: Hit[]): Promise<Hit[]> {
  const files = hits.filter(({ kind }) => kind === 'file').map(({ ref_id }) => ref_id);
  const texts = indexBy(await textSizes(tx, files), 'file_id');
  return fitting(hits, ({ ref_id }) => texts.get(ref_id)?.size ?? 0);
}

/** A position holds for the same caller and the same other parameters only. */
const boundTo = (caller: Caller, { after: _after, ...rest }: Asked) => [
  caller.seat?.id ?? caller.person.person_id,
  rest,
];
