/** What the palette offers: what needs the person, places to go and things to do, by the words that are typed. */
import type { BoardFile, Member, SearchResult, Task } from '../../contract/types.ts';
import { session } from '../api/session.ts';
import { itemOf, placeOfItem } from '../inbox/items.ts';
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
  /** Before the label, in another type: the reference of a task. */
  ref?: string;
  /** Found by these words too, which are not shown. */
  also?: string | undefined;
  /** At the right. */
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

/** What was read when the palette opened, and what the search found. */
export interface Read {
  tasks: readonly Task[];
  files: readonly BoardFile[];
  agents: readonly Member[];
  found: readonly SearchResult[];
}

const MOST = { 'Needs you': 3, 'Go to': 9, Do: 7 };
const MOST_WITHOUT_WORDS = { 'Needs you': 3, 'Go to': 6, Do: 6 };

/** 0: begins with the words, 1: a word of it does, 2: they stand in it; null: they do not. */
function closeness(text: string, words: string): 0 | 1 | 2 | null {
  const at = text.toLowerCase().indexOf(words);
  if (at < 0) return null;
  if (at === 0) return 0;
  return new RegExp(`(^|[^\\p{L}\\p{N}])${words.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}`, 'iu').test(text) ? 1 : 2;
}

const open = (place: Place) => (): void => navigate(place);

const taskIcons: Record<string, string> = { open: 'open', in_progress: 'half', done: 'task', cancelled: 'x' };

function taskChoice(task: Pick<Task, 'ref' | 'title' | 'state'>, board: string, note: string): Choice {
  return {
    id: `task ${task.ref}`,
    ref: task.ref,
    label: task.title,
    note,
    icon: taskIcons[task.state] ?? 'task',
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

function places(read: Read): Choice[] {
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

/** What the search of the server found that the lists above do not hold. */
function foundChoices(found: readonly SearchResult[]): Choice[] {
  return found.flatMap(({ kind, board, task, file }) =>
    kind === 'task' && task
      ? [taskChoice(task, board, `${task.state.replace('_', ' ')}, ${board}`)]
      : file
        ? [fileChoice(board, file.name, file.version)]
        : [],
  );
}

/** Moves about the page are no actions: the arrows of the palette are. */
const moves = ['j', 'k', 'Shift j', 'Escape', 'Enter', 'End', '1', '2', '3', '4', 'Mod k'];

/** Every action of this screen that a key does, and those of every screen. */
function actions(words: string): Choice[] {
  const ofKeys = keyGroups.value
    .toReversed()
    .flatMap(({ bindings }) => bindings)
    .filter(({ keys }) => !moves.includes(keys) && !keys.startsWith('g '))
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

/** All sections for what is typed; without words the nearest of each. */
export function sectionsOf(typed: string, read: Read): Section[] {
  const words = typed.trim().toLowerCase();
  const asks = needs.value.map((need): Choice => {
    const item = itemOf(need);
    return {
      id: `need ${need.id}`,
      label: item.title,
      note: item.note,
      also: item.board,
      who: item.who,
      run: open(placeOfItem(item)),
    };
  });
  const most = words ? MOST : MOST_WITHOUT_WORDS;
  const take = (name: Section['name'], choices: Choice[], always: Choice[] = []): Section => {
    const fitting = choices
      .map((choice) => ({
        choice,
        rank: closeness([choice.ref, choice.label, choice.also].filter(Boolean).join(' '), words),
      }))
      .filter(({ rank }) => rank !== null)
      .toSorted((a, b) => a.rank! - b.rank!)
      .map(({ choice }) => choice);
    const ids = new Set(fitting.map(({ id }) => id));
    return { name, choices: [...fitting, ...always.filter(({ id }) => !ids.has(id))].slice(0, most[name]) };
  };
  const todo = take('Do', actions(typed.trim()));
  return [take('Needs you', asks), take('Go to', places(read), foundChoices(read.found)), todo].filter(
    ({ choices }) => choices.length > 0,
  );
}
