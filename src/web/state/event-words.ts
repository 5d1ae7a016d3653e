/** The words for board events, of which the conversation makes lines and the record makes rows. */
import type { BoardEvent } from '../../contract/types.ts';
import { plural } from '../parts/number.ts';
import { hrefOf } from './route.ts';

/** What follows the name of the actor, in this order. */
interface EventWords {
  icon: string;
  /** For example "took". */
  verb: string;
  /** For example "claude". */
  name?: string;
  /** For example "off". */
  afterName?: string;
  /** The task or file, if the event is about one. */
  link?: { text: string; href: string; about: 'task' | 'file' };
  /** For example "2 messages, 1 file". */
  more?: string;
  /** What the actor wrote, for example the closing note. */
  quote?: string;
}

/** Names of what an event has only the ids of. */
export interface EventNames {
  member(id: string): string;
  file(id: string): string | undefined;
}

type Data = Record<string, unknown>;
type Row = [icon: string, verb: string, rest?: Omit<EventWords, 'icon' | 'verb' | 'link'>];

/** The text of a field; empty if there is none. */
export const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** How a member's part in a task ended. */
export function dropWords({ data = {}, actor }: BoardEvent, names: Pick<EventNames, 'member'>): Row {
  const member = text(data['member_id']);
  const quote = text(data['reason']);
  // An agent that leaves the board ends its own seat.
  if (member === actor.member_id)
    return ['open', data['as'] === 'helper' ? 'stopped helping with' : 'gave up', { quote }];
  const name = names.member(member);
  return data['by'] === 'seat_ended'
    ? ['open', 'ended the part of', { name, afterName: 'in' }]
    : ['open', 'took', { name, afterName: 'off', quote }];
}

const rows: Record<string, Row | ((data: Data, event: BoardEvent, names: EventNames) => Row)> = {
  'board.created': ({ visibility }) => [
    'board',
    visibility === 'private' ? 'made the board as a private one' : 'made the board, open to everyone on the server',
  ],
  'board.titled': ({ after }) =>
    after ? ['board', 'called the board', { name: text(after) }] : ['board', 'took the title of the board away'],
  'board.policy_changed': ['shield', 'changed the rules of the board'],
  'board.config_changed': ({ charter, roles }) => [
    'shield',
    `changed ${[charter && 'the charter', roles && 'the roles'].filter(Boolean).join(' and ')} of the board`,
  ],
  'board.agents_add_people_changed': ({ agents_add_people: may }) => [
    'people',
    may ? 'let agents add people' : 'let agents add people no more',
  ],
  'board.visibility_changed': ({ after, reveals }) => {
    if (after === 'private') return ['lock', 'made the board private'];
    const { messages = 0, files = 0 } = (reveals ?? {}) as { messages?: number; files?: number };
    const more = `${plural(messages, 'message')}, ${plural(files, 'file')}`;
    return ['lock', 'opened the board to everyone on the server', { more }];
  },
  'board.task_prefix_set': ({ after }) => [
    'task',
    `set how tasks are called: ${text(after)}-1, ${text(after)}-2 and so on`,
  ],
  'board.archived': ['lock', 'archived the board'],
  'board.restored': ['board', 'restored the board'],
  'board.deleted': ['x', 'deleted the board'],
  'member.joined': ({ kind, role, owner, guest }) => [
    'people',
    kind === 'agent' && role ? `joined as ${text(role)}` : 'joined',
    { more: owner ? `${text(owner)}’s agent` : guest ? 'a guest' : '' },
  ],
  'joincode.created': ({ guest, role }) =>
    guest
      ? ['plus', 'made a code for the guest', { name: text(guest) }]
      : ['plus', `made a join line for the role ${text(role)}`],
  'joincode.revoked': ['x', 'took a join line back'],
  'agent.removed': ({ name, pruned }) => [
    'people',
    'removed the agent',
    { name: text(name), more: pruned === true ? 'disconnected for long' : '' },
  ],
  'agent.left': ['people', 'left the board'],
  'person.added': ({ name, rejoined }, { actor }) =>
    actor.name === name ? ['people', rejoined ? 'came back' : 'joined'] : ['people', 'added', { name: text(name) }],
  'person.renamed': ({ before, after }) => ['people', `renamed ${text(before)} to`, { name: text(after) }],
  'person.removed': ({ name, from_server }) => [
    'people',
    'removed',
    { name: text(name), afterName: from_server === true ? 'from the server' : '' },
  ],
  'person.left': ['people', 'left the board'],
  'person.made_owner': ({ name }) => ['people', 'made', { name: text(name), afterName: 'an owner of the board' }],
  'person.role_changed': ({ name }) => [
    'people',
    'made',
    { name: text(name), afterName: 'a member, no longer an owner' },
  ],
  'thread.continued': ['reply', 'let agents go on in a thread'],
  'thread.stopped': ['x', 'closed a thread for agents'],
  'task.created': ['open', 'opened'],
  // No type of the API: two events in one line.
  'task.opened_and_started': ['half', 'opened and started'],
  'task.started': ['half', 'started'],
  'task.joined': ['half', 'joined'],
  'task.updated': ({ stands, title }) => [
    'half',
    'updated',
    { quote: text(stands), more: stands === undefined && title === undefined ? 'what it is about' : '' },
  ],
  'task.done': ({ cancelled, note }) =>
    cancelled ? ['x', 'cancelled', { quote: text(note) }] : ['task', 'finished', { quote: text(note) }],
  'task.taken_over': ({ from }, _event, names) => ['half', 'took over', { more: `from ${names.member(text(from))}` }],
  'task.dropped': (_data, event, names) => dropWords(event, names),
  'file.version_added': ({ version }) => ['file', version === 1 ? 'added' : 'changed'],
  'file.updated': ['file', 'changed what is said of'],
  'file.approved': ['check', 'approved'],
  'file.approval_removed': ['x', 'took back the approval of'],
  'file.removed': ['x', 'removed'],
  'file.renamed': ({ before }) => ['file', 'renamed', { name: text(before), afterName: 'to' }],
};

/** Describes an event. An unknown type is shown by its name. */
export function wordsOf(event: BoardEvent, board: string, names: EventNames): EventWords {
  const row = rows[event.type] ?? ['dots', event.type];
  const [icon, verb, rest] = typeof row === 'function' ? row(event.data ?? {}, event, names) : row;
  return { icon, verb, ...rest, link: linkOf(event, board, names) };
}

function linkOf({ type, data = {} }: BoardEvent, board: string, names: EventNames): EventWords['link'] {
  const to = { screen: 'board', board } as const;
  const ref = text(data['ref']);
  if (type.startsWith('task.') && ref)
    return { text: ref, href: hrefOf({ ...to, tab: 'tasks', task: ref }), about: 'task' };
  if (!type.startsWith('file.')) return undefined;
  // Links by id, because the name may have moved to another file since.
  const file = text(data['file_id']);
  const name = text(data['name']) || text(data['after']) || names.file(file) || 'a file';
  const version = Number(data['version']) || undefined;
  return {
    text: version ? `${name} v${version}` : name,
    href: hrefOf({ ...to, tab: 'files', file, version }),
    about: 'file',
  };
}
