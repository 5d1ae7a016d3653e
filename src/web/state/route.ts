/** Routing: which screen the address opens. Every message, task, file version and event has its own address. */
import { signal } from '@preact/signals';

const boardTabs = ['talk', 'tasks', 'files', 'people', 'record'] as const;
export type BoardTab = (typeof boardTabs)[number];
const inboxKinds = ['asks', 'approvals', 'pairings', 'agents', 'invites'] as const;
export type InboxKind = (typeof inboxKinds)[number];

export interface BoardPlace {
  screen: 'board';
  board: string;
  tab: BoardTab;
  /** The number of the message that the conversation scrolls to. */
  message?: number;
  /** The reference of the open task, such as PAY-12. */
  task?: string;
  /** The name of the open file; `version` is shown, compared with `against`. */
  file?: string;
  version?: number;
  against?: number;
  /** The number of the open event in the record. */
  event?: number;
  /** The name of the agent whose page is open. */
  agent?: string;
}

export type Place =
  | BoardPlace
  | { screen: 'boards' | 'everything' | 'agents' | 'server' | 'allowance' | 'nowhere' }
  | { screen: 'join'; invite: string }
  | { screen: 'inbox'; kind?: InboxKind; id?: string }
  | { screen: 'search'; q: string; board?: string };

const parsePositiveInteger = (text: string | null): number | undefined =>
  text !== null && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;

/** Parses an address into a place. */
function parsePlace({ pathname, searchParams: query, hash }: URL): Place {
  const [, first = '', second, third] = pathname.split('/');
  const board = query.get('board') ?? undefined;
  switch (first) {
    case '':
      return board === undefined ? { screen: 'boards' } : parseBoardPlace(board, query);
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

function parseBoardPlace(board: string, query: URLSearchParams): BoardPlace {
  const text = (name: string): string | undefined => query.get(name) ?? undefined;
  const place = {
    message: parsePositiveInteger(query.get('message')),
    task: text('task'),
    file: text('file'),
    version: parsePositiveInteger(query.get('version')),
    against: parsePositiveInteger(query.get('against')),
    event: parsePositiveInteger(query.get('event')),
    agent: text('agent'),
  };
  const defaultTab = place.task
    ? 'tasks'
    : place.file
      ? 'files'
      : place.agent
        ? 'people'
        : place.event
          ? 'record'
          : 'talk';
  return { screen: 'board', board, tab: boardTabs.find((tab) => tab === query.get('tab')) ?? defaultTab, ...place };
}

/** The path and query of a place. */
export function hrefOf(place: Place): string {
  switch (place.screen) {
    case 'board': {
      const { screen: _, ...parts } = place;
      const { tab: defaultTab } = parseBoardPlace(
        place.board,
        new URLSearchParams(toEntries({ ...parts, tab: undefined })),
      );
      return `/?${new URLSearchParams(toEntries({ ...parts, tab: parts.tab === defaultTab ? undefined : parts.tab }))}`;
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
      return `/search?${new URLSearchParams(toEntries({ q: place.q, board: place.board }))}`;
    default:
      return `/${place.screen}`;
  }
}

const toEntries = (values: object): [string, string][] =>
  Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));

/** The current place. To change it together with the address, call {@link navigate}. */
export const place = signal<Place>(parsePlace(new URL(location.href)));

/** What the screen wants to find when the person comes back to it. */
export const mark: { current: (() => unknown) | null } = { current: null };

/** The entry of the history that is shown; its state says the same. */
let entry: unknown = null;
const markName = (): string => `mark-${entry}`;

/** Before another entry is shown: keeps what the screen wants to find, also where the page is loaded again meanwhile. */
function leaveEntry(): void {
  try {
    if (mark.current) sessionStorage.setItem(markName(), JSON.stringify(mark.current()));
  } catch {
    // Without storage nothing is kept.
  }
}

/** What the screen kept when this entry of the history was left, given once; undefined: nothing. */
export function takeMark(): unknown {
  try {
    const kept = sessionStorage.getItem(markName());
    sessionStorage.removeItem(markName());
    return kept === null ? undefined : JSON.parse(kept);
  } catch {
    return undefined;
  }
}

/** Opens a place. `replace` replaces the current history entry instead of adding one. */
export function navigate(next: Place, { replace = false } = {}): void {
  navigateTo(hrefOf(next), replace);
}

function navigateTo(href: string, replace: boolean): void {
  if (replace || href === location.pathname + location.search + location.hash) history.replaceState(entry, '', href);
  else {
    leaveEntry();
    entry = Math.random();
    history.pushState(entry, '', href);
  }
  place.value = parsePlace(new URL(location.href));
}

/** Handles clicks on links within the page, and the browser's back and forward buttons. */
export function startRouting(): void {
  const enter = (): void => {
    entry = history.state ?? Math.random();
    history.replaceState(entry, '');
  };
  enter();
  addEventListener('popstate', () => {
    leaveEntry();
    enter();
    place.value = parsePlace(new URL(location.href));
  });
  addEventListener('hashchange', () => {
    place.value = parsePlace(new URL(location.href));
  });
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const link = (event.target as Element).closest?.('a');
    if (!link || link.target || link.hasAttribute('download') || link.origin !== location.origin) return;
    if (parsePlace(new URL(link.href)).screen === 'nowhere' || link.pathname.startsWith('/v1/')) return;
    event.preventDefault();
    navigateTo(link.pathname + link.search + link.hash, false);
  });
}
