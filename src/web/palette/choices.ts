/** The choices of the palette: needs, places and actions that match the typed text. */
import type { BoardFile, Member, SearchResult, Task } from '../../contract/types.ts';
import { session } from '../api/session.ts';
import { itemPlace, toItem } from '../inbox/items.ts';
import { titleOf } from '../parts/ask.ts';
import { taskIcons } from '../parts/icon.tsx';
import type { Identity } from '../parts/who.tsx';
import { setTheme, signOut } from '../shell/account.tsx';
import { boards } from '../state/boards.ts';
import { type KeyBinding, keyGroups } from '../state/keys.ts';
import { needs } from '../state/needs.ts';
import { openOverlay } from '../state/overlay.ts';
import { room } from '../state/room.ts';
import { navigate, type Place } from '../state/route.ts';

export interface Choice {
  id: string;
  label: string;
  /** The reference of a task, shown before the label. */
  ref?: string;
  /** Also matched, but not shown. */
  keywords?: string | undefined;
  /** Shown at the right. */
  note: string;
  icon?: string;
  who?: Identity;
  keys?: string;
  run(): unknown;
}

interface Section {
  name: 'Needs you' | 'Go to' | 'Do';
  choices: Choice[];
}

/** Data loaded when the palette opened, and results of the search. */
export interface PaletteData {
  tasks: readonly Task[];
  files: readonly BoardFile[];
  agents: readonly Member[];
  searchResults: readonly SearchResult[];
}

const MAX_CHOICES = { 'Needs you': 3, 'Go to': 9, Do: 7 };
const MAX_CHOICES_UNFILTERED = { 'Needs you': 3, 'Go to': 6, Do: 6 };

/** 0: the text starts with the query, 1: a word in it does, 2: it contains the query; null: no match. */
function matchRank(text: string, words: string): 0 | 1 | 2 | null {
  const at = text.toLowerCase().indexOf(words);
  if (at < 0) return null;
  if (at === 0) return 0;
  return new RegExp(`(^|[^\\p{L}\\p{N}])${words.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}`, 'iu').test(text) ? 1 : 2;
}

const open = (place: Place) => (): void => navigate(place);

function taskChoice(task: Pick<Task, 'ref' | 'title' | 'state'>, board: string, note: string): Choice {
  return {
    id: `task ${task.ref}`,
    ref: task.ref,
    label: task.title,
    note,
    icon: taskIcons[task.state],
    run: open({ screen: 'board', board, tab: 'tasks', task: task.ref }),
  };
}

function fileChoice(board: string, name: string, version: number): Choice {
  const place: Place = { screen: 'board', board, tab: 'files', file: name };
  return { id: `file ${board} ${name}`, label: name, note: `file, v${version}`, icon: 'file', run: open(place) };
}

function memberChoice(member: Member): Choice {
  const { name, board, kind, owner, state } = member;
  const agent = kind === 'agent';
  return {
    id: `${agent ? 'agent' : 'person'} ${board} ${name}`,
    label: name,
    note: agent ? `agent of ${owner}, ${board}${state ? `, ${state}` : ''}` : `person on ${board}`,
    who: member,
    run: open({ screen: 'board', board, tab: 'people', ...(agent ? { agent: name } : {}) }),
  };
}

function places(read: PaletteData): Choice[] {
  const own = (boards.value ?? []).map(
    ({ name, title, on_board, unread = 0, visibility }): Choice => ({
      id: `board ${name}`,
      label: title ?? name,
      note: `board${on_board ? (unread > 0 ? `, ${unread} unread` : '') : ', open to join'}`,
      icon: visibility === 'private' ? 'lock' : 'board',
      run: open({ screen: 'board', board: name, tab: 'talk' }),
    }),
  );
  const here = room.value;
  const members = (here?.members.value ?? []).filter(({ status }) => status === 'active');
  const elsewhere = read.agents.filter(({ board, status }) => board !== here?.name && status === 'active');
  return [
    ...own,
    ...[...members, ...elsewhere].map(memberChoice),
    ...read.tasks.map((task) => {
      const owner = task.owner ? `, ${task.owner.name}` : '';
      const state = task.blocked ? 'blocked' : task.state.replace('_', ' ');
      return taskChoice(task, task.board, `${state}${owner}`);
    }),
    ...read.files.map((file) => fileChoice(file.board, file.name, file.latest.version)),
    ...(['inbox', 'boards', 'everything', 'agents', 'server', 'allowance'] as const).map(
      (screen): Choice => ({
        id: `screen ${screen}`,
        label: screenNames[screen],
        note: 'page',
        icon: 'right',
        run: open({ screen }),
      }),
    ),
  ];
}

const screenNames = {
  inbox: 'Needs you',
  boards: 'All boards',
  everything: 'Everything',
  agents: 'Your agents',
  server: 'Server and settings',
  allowance: 'Your allowance',
};

/** Tasks and files found by the server's search. */
function searchChoices(found: readonly SearchResult[]): Choice[] {
  return found.flatMap(({ kind, board, task, file }) =>
    kind === 'task' && task
      ? [taskChoice(task, board, `${task.state.replace('_', ' ')}, ${board}`)]
      : file
        ? [fileChoice(board, file.name, file.version)]
        : [],
  );
}

/** Keys that only navigate within the page are not offered as actions. */
const excludedKeys = ['j', 'k', 'Shift j', 'Escape', 'Enter', 'End', '1', '2', '3', '4', 'Mod k'];

/** All actions with a key on this screen, and the general ones. */
function actions(words: string): Choice[] {
  const ofKeys = keyGroups.value
    .toReversed()
    .flatMap(({ bindings }) => bindings)
    .filter(({ keys }) => !excludedKeys.includes(keys) && !keys.startsWith('g '))
    .map((binding): Choice => keyAction(binding));
  const fixed: Choice[] = [
    ...(session.value?.person.server_role === 'guest'
      ? []
      : [action('New board', 'plus', () => openOverlay('new-board'))]),
    action('Use the light theme', 'eyes', () => setTheme('light')),
    action('Use the dark theme', 'eyes', () => setTheme('dark')),
    action('Use the theme of the system', 'eyes', () => setTheme('system')),
    action('Sign out', 'x', () => void signOut()),
    ...(words
      ? [{ ...action(`Search everything for “${words}”`, 'search', open({ screen: 'search', q: words })), keys: '/' }]
      : []),
  ];
  const labels = new Set<string>();
  return [...ofKeys, ...fixed].filter(({ label }) => !labels.has(label) && labels.add(label));
}

const action = (label: string, icon: string, run: () => unknown): Choice => ({
  id: `do ${label}`,
  label,
  note: '',
  icon,
  run,
});

const keyAction = ({ label, keys, run }: KeyBinding): Choice => ({
  ...action(label, 'term', () => run(new KeyboardEvent('keydown'))),
  keys,
});

/** Builds the sections for a query; an empty one gets fewer choices. */
export function buildSections(typed: string, read: PaletteData): Section[] {
  const words = typed.trim().toLowerCase();
  const asks = needs.value.map((need): Choice => {
    const item = toItem(need);
    return {
      id: `need ${need.id}`,
      label: titleOf(item),
      note: item.note,
      keywords: item.board,
      who: item.who,
      run: open(itemPlace(item)),
    };
  });
  const limits = words ? MAX_CHOICES : MAX_CHOICES_UNFILTERED;
  const take = (name: Section['name'], choices: Choice[], always: Choice[] = []): Section => {
    const fitting = choices
      .map((choice) => ({
        choice,
        rank: matchRank([choice.ref, choice.label, choice.keywords].filter(Boolean).join(' '), words),
      }))
      .filter(({ rank }) => rank !== null)
      .toSorted((a, b) => a.rank! - b.rank!)
      .map(({ choice }) => choice);
    const ids = new Set(fitting.map(({ id }) => id));
    return { name, choices: [...fitting, ...always.filter(({ id }) => !ids.has(id))].slice(0, limits[name]) };
  };
  const actionSection = take('Do', actions(typed.trim()));
  return [
    take('Needs you', asks),
    take('Go to', places(read), searchChoices(read.searchResults)),
    actionSection,
  ].filter(({ choices }) => choices.length > 0);
}
