/** The address: which screen is open, and what on it. Every message, task, file version and event has an address of its own. */
import { signal } from '@preact/signals';

const boardTabs = ['talk', 'tasks', 'files', 'people', 'record'] as const;
export type BoardTab = (typeof boardTabs)[number];
const inboxKinds = ['asks', 'approvals', 'pairings', 'agents', 'invites'] as const;
export type InboxKind = (typeof inboxKinds)[number];

export interface BoardPlace {
  screen: 'board';
  board: string;
  tab: BoardTab;
  /** The number of a message, to which the conversation opens. */
  message?: number;
  /** The reference of a task, such as PAY-12, whose panel is open. */
  task?: string;
  /** The name of a file, with one of its versions and the version it is compared with. */
  file?: string;
  version?: number;
  against?: number;
  /** The number of an event of the record. */
  event?: number;
  /** The name of an agent, whose own page is open. */
  agent?: string;
}

export type Place =
  | BoardPlace
  | { screen: 'boards' | 'everything' | 'agents' | 'server' | 'allowance' | 'nowhere' }
  | { screen: 'join'; invite: string }
  | { screen: 'inbox'; kind?: InboxKind; id?: string }
  | { screen: 'search'; q: string; board?: string };

const whole = (text: string | null): number | undefined =>
  text !== null && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;

/** The place that an address names. */
function placeOf({ pathname, searchParams: query, hash }: URL): Place {
  const [, first = '', second, third] = pathname.split('/');
  const board = query.get('board') ?? undefined;
  switch (first) {
    case '':
      return board === undefined ? { screen: 'boards' } : boardPlace(board, query);
    case 'boards':
    case 'everything':
    case 'agents':
    case 'server':
      return { screen: first };
    case 'settings':
      return { screen: 'allowance' };
    case 'join':
      return { screen: 'join', invite: hash.slice(1) };
    case 'inbox':
      return { screen: 'inbox', kind: inboxKinds.find((kind) => kind === second), id: third };
    case 'search':
      return { screen: 'search', q: query.get('q') ?? '', board };
    default:
      return { screen: 'nowhere' };
  }
}

function boardPlace(board: string, query: URLSearchParams): BoardPlace {
  const text = (name: string): string | undefined => query.get(name) ?? undefined;
  const place = {
    message: whole(query.get('message')),
    task: text('task'),
    file: text('file'),
    version: whole(query.get('version')),
    against: whole(query.get('against')),
    event: whole(query.get('event')),
    agent: text('agent'),
  };
  const implied = place.task
    ? 'tasks'
    : place.file
      ? 'files'
      : place.agent
        ? 'people'
        : place.event
          ? 'record'
          : 'talk';
  return { screen: 'board', board, tab: boardTabs.find((tab) => tab === query.get('tab')) ?? implied, ...place };
}

/** The address of a place, from the root of the server. */
export function hrefOf(place: Place): string {
  switch (place.screen) {
    case 'board': {
      const { screen: _, ...parts } = place;
      const { tab: implied } = boardPlace(place.board, new URLSearchParams(pairsOf({ ...parts, tab: undefined })));
      return `/?${new URLSearchParams(pairsOf({ ...parts, tab: parts.tab === implied ? undefined : parts.tab }))}`;
    }
    case 'boards':
      return '/';
    case 'allowance':
      return '/settings/allowance';
    case 'join':
      return `/join#${place.invite}`;
    case 'inbox':
      return ['/inbox', place.kind, place.id].filter(Boolean).join('/');
    case 'search':
      return `/search?${new URLSearchParams(pairsOf({ q: place.q, board: place.board }))}`;
    default:
      return `/${place.screen}`;
  }
}

const pairsOf = (values: object): [string, string][] =>
  Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));

/** Where the person is. Assigning it does not change the address: `go` does. */
export const place = signal<Place>(placeOf(new URL(location.href)));

/** Opens a place. `replace`: the place before is not kept in the history. */
export function go(next: Place, { replace = false } = {}): void {
  goTo(hrefOf(next), replace);
}

function goTo(href: string, replace: boolean): void {
  if (replace || href === location.pathname + location.search + location.hash) history.replaceState(null, '', href);
  else history.pushState(null, '', href);
  place.value = placeOf(new URL(location.href));
}

/** Follows links within the page without loading it anew, and the browser's way back. */
export function followLinks(): void {
  addEventListener('popstate', () => {
    place.value = placeOf(new URL(location.href));
  });
  addEventListener('hashchange', () => {
    place.value = placeOf(new URL(location.href));
  });
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const link = (event.target as Element).closest?.('a');
    if (!link || link.target || link.hasAttribute('download') || link.origin !== location.origin) return;
    if (placeOf(new URL(link.href)).screen === 'nowhere' || link.pathname.startsWith('/v1/')) return;
    event.preventDefault();
    goTo(link.pathname + link.search + link.hash, false);
  });
}
