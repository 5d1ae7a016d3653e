/** The search screen: messages, tasks and files on one board or all. */
import './search.css';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { SearchResult } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { listenToReturn } from '../live/link.ts';
import { announce } from '../parts/announce.tsx';
import { Icon } from '../parts/icon.tsx';
import { formatCount } from '../parts/number.ts';
import { ProblemLine } from '../parts/problem.tsx';
import { Select, toOption } from '../parts/select.tsx';
import { boards, boardsError, readBoards } from '../state/boards.ts';
import { moveFocus, useKeys } from '../state/keys.ts';
import { navigate, place } from '../state/route.ts';
import { Result } from './result.tsx';
import { hrefOfResult } from './results.ts';

const kinds = [
  ['', 'Everything'],
  ['message', 'Messages'],
  ['task', 'Tasks'],
  ['file', 'Files'],
] as const;
type Kind = (typeof kinds)[number][0];
const sorts = [
  ['newest', 'Newest first'],
  ['relevance', 'Best match first'],
] as const;
type Sort = (typeof sorts)[number][0];

/** Typing starts a search after this pause. */
const DEBOUNCE_MS = 200;

interface SearchState {
  queryKey: string;
  results: SearchResult[];
  after: string | null;
}

export default function Search() {
  const here = place.value.screen === 'search' ? place.value : { q: '', board: undefined };
  const [text, setText] = useState(here.q);
  const [kind, setKind] = useState<Kind>('');
  const [sort, setSort] = useState<Sort>('newest');
  const [found, setFound] = useState<SearchState | null>(null);
  const [failed, setFailed] = useState<{ error: unknown; retry: () => unknown } | null>(null);
  const [loadingMore, setMore] = useState(false);
  const [tries, setTries] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const q = here.q.trim();
  const query = { q, board: here.board, kind: kind || undefined, sort };
  const queryKey = JSON.stringify(query);
  const latestKey = useRef(queryKey);
  latestKey.current = queryKey;

  useLayoutEffect(() => input.current?.focus(), []);
  useEffect(() => {
    if (here.q !== text.trim()) setText(here.q);
  }, [here.q]);
  useEffect(() => {
    if (text.trim() === q) return;
    const timer = setTimeout(
      () => navigate({ screen: 'search', q: text.trim(), board: here.board }, { replace: true }),
      DEBOUNCE_MS,
    );
    return () => clearTimeout(timer);
  }, [text]);

  useEffect(() => {
    setFailed(null);
    if (q === '') {
      setFound(null);
      return;
    }
    const stop = new AbortController();
    call('search', { query, signal: stop.signal }).then(
      ({ results, next_after }) => {
        setFound({ queryKey, results, after: next_after });
        announce(results.length === 0 ? 'Nothing found' : `${formatCount(results.length, 'result')} shown`);
      },
      (problem: unknown) => {
        if (!stop.signal.aborted) setFailed({ error: problem, retry: () => setTries((count) => count + 1) });
      },
    );
    return () => stop.abort();
  }, [queryKey, tries]);

  useEffect(() => (failed ? listenToReturn(failed.retry) : undefined), [failed]);

  // Until the results of another query come, those of the last one are shown.
  const canLoadMore = !loadingMore && found?.queryKey === queryKey;
  const loadMore = async (): Promise<void> => {
    if (!found?.after || !canLoadMore) return;
    setMore(true);
    setFailed(null);
    try {
      const page = await call('search', { query: { ...query, after: found.after } });
      setFound((last) =>
        last === found ? { queryKey, results: [...found.results, ...page.results], after: page.next_after } : last,
      );
    } catch (problem) {
      if (latestKey.current === queryKey) setFailed({ error: problem, retry: loadMore });
    } finally {
      setMore(false);
    }
  };

  const move = (step: 1 | -1): unknown =>
    step === -1 && list.current?.querySelector('a.sr') === document.activeElement
      ? input.current?.focus()
      : moveFocus(list.current, 'a.sr', step);
  // In a select, they choose its options.
  const moveByArrow = (step: 1 | -1): unknown =>
    document.activeElement instanceof HTMLSelectElement ? false : move(step);
  useKeys('Search', [
    { keys: 'j', label: 'Next result', run: () => move(1) },
    { keys: 'k', label: 'Result before', run: () => move(-1) },
    { keys: 'ArrowDown', label: 'Next result', everywhere: true, run: () => moveByArrow(1) },
    { keys: 'ArrowUp', label: 'Result before', everywhere: true, run: () => moveByArrow(-1) },
    { keys: '/', label: 'Change the search', run: () => input.current?.select() },
  ]);

  const own = (boards.value ?? []).filter((board) => board.on_board);
  return (
    <main class="main" id="main">
      <header class="hd plain">
        <form
          class="t search-form"
          onSubmit={(event) => {
            event.preventDefault();
            navigate({ screen: 'search', q: text.trim(), board: here.board }, { replace: true });
          }}
        >
          <label class="row sp big">
            <Icon name="search" />
            <span class="vh">Search</span>
            <input
              ref={input}
              type="search"
              value={text}
              maxLength={200}
              placeholder="Messages, tasks, files"
              autoComplete="off"
              aria-describedby="search-how"
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </label>
          <Select
            label="Board"
            value={here.board ?? ''}
            options={[['', 'All boards'], ...own.map(({ name }) => toOption(name))]}
            onChange={(board) =>
              navigate({ screen: 'search', q: text.trim(), board: board || undefined }, { replace: true })
            }
          />
          <fieldset class="seg">
            <legend class="vh">What to find</legend>
            {kinds.map(([name, label]) => (
              <button key={name} type="button" aria-pressed={kind === name} onClick={() => setKind(name)}>
                {label}
              </button>
            ))}
          </fieldset>
        </form>
      </header>
      <div class="page search-page">
        <h1 class="vh">Search</h1>
        <div class="col wide">
          <div class="row w q2 search-how">
            <Select class="sel quiet" label="Order" value={sort} options={sorts} onChange={setSort} />
            <span class="sp" />
            <span id="search-how" class="sm">
              “a phrase”, <span class="mono">-without</span>, <span class="mono">begin*</span>
            </span>
          </div>
          {failed && <ProblemLine error={failed.error} onRetry={failed.retry} />}
          {own.length === 0 && <ProblemLine error={boardsError.value} onRetry={() => readBoards()} />}
          {q !== '' && !found && !failed && <div aria-busy="true" />}
          {found && found.results.length === 0 && found.queryKey === queryKey && (
            <p class="q2">
              Nothing has all of these words{here.board ? ` on ${here.board}` : ''}. Try fewer of them, or the beginning
              of one with a star.
            </p>
          )}
          {found && found.results.length > 0 && (
            <ul class="list" ref={list} aria-label="Results">
              {found.results.map((result) => (
                <Result key={hrefOfResult(result)} result={result} />
              ))}
            </ul>
          )}
          {found?.after && (
            <button type="button" class="b search-more" aria-disabled={!canLoadMore} onClick={() => void loadMore()}>
              {sort === 'newest' ? 'Older results' : 'More results'}
            </button>
          )}
        </div>
      </div>
    </main>
  );
}
