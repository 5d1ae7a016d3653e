/** Describes board events as text with a link. */
import type { BoardEvent } from '../../contract/types.ts';
import { formatNumber } from '../parts/number.ts';
import { excerpt } from '../parts/plain-text.ts';
import { hrefOf } from '../state/route.ts';
import { dropVerb } from '../tasks/drop-words.ts';

interface EventText {
  /** For example "approved". */
  verb: string;
  /** For example "src/retry.ts v1". */
  link?: { text: string; href: string };
  /** For example "Retry only on 429". */
  rest?: string;
}

export interface Names {
  /** Names of members by their ids. */
  members: Record<string, { name: string }>;
  /** Names of files by their ids. */
  files: Record<string, string>;
}

const MAX_QUOTE = 140;

const quote = (text: string): string => `“${excerpt(text, MAX_QUOTE)}”`;

type Data = Record<string, unknown>;
const text = (data: Data, name: string): string => (typeof data[name] === 'string' ? data[name] : '');
const textOrUndefined = (data: Data, name: string): string | undefined => text(data, name) || undefined;

/** Describes an event. An unknown type is shown by its name. */
export function describeEvent(event: BoardEvent, board: string, names: Names): EventText {
  const { type, data = {}, data_withheld, seq } = event;
  const nameOf = (member: string): string => names.members[member]?.name ?? 'somebody';
  const task = (): EventText['link'] => ({
    text: text(data, 'ref'),
    href: hrefOf({ screen: 'board', board, tab: 'tasks', task: text(data, 'ref') }),
  });
  const file = (version = Number(data['version']) || undefined): EventText['link'] => {
    const id = text(data, 'file_id');
    const name = textOrUndefined(data, 'name') ?? textOrUndefined(data, 'after') ?? names.files[id] ?? 'a file';
    return {
      text: version ? `${name} v${version}` : name,
      href: hrefOf({ screen: 'board', board, tab: 'files', file: id, version }),
    };
  };
  if (data_withheld)
    return {
      verb:
        type === 'message.posted' ? 'posted a message that you may not read' : 'did something that you may not read',
    };
  switch (type) {
    case 'message.posted':
      return describeMessage(data, board, seq);
    case 'reaction.added':
      return { verb: `reacted ${text(data, 'emoji')}` };
    case 'reaction.removed':
      return { verb: `took back ${text(data, 'emoji')}` };
    case 'thread.continued':
      return { verb: 'let agents go on in a thread' };
    case 'thread.stopped':
      return { verb: 'closed a thread for agents' };
    case 'task.created':
      return { verb: 'opened', link: task(), rest: text(data, 'title') };
    case 'task.started':
      return { verb: 'started', link: task() };
    case 'task.joined':
      return { verb: 'joined', link: task() };
    case 'task.updated':
      return {
        verb: data['stands'] ? 'said where it stands:' : 'changed',
        link: task(),
        rest: textOrUndefined(data, 'stands') && quote(text(data, 'stands')),
      };
    case 'task.done':
      return { verb: data['cancelled'] ? 'cancelled' : 'finished', link: task(), rest: quote(text(data, 'note')) };
    case 'task.taken_over':
      return { verb: `took over from ${nameOf(text(data, 'from'))}`, link: task() };
    case 'task.dropped':
      return { verb: dropVerb(event, nameOf), link: task() };
    case 'file.version_added':
      return { verb: data['version'] === 1 ? 'added' : 'changed', link: file() };
    case 'file.updated':
      return { verb: 'changed what is said of', link: file() };
    case 'file.approved':
      return { verb: 'approved', link: file() };
    case 'file.approval_removed':
      return { verb: 'took back the approval of', link: file() };
    case 'file.renamed':
      return { verb: `renamed ${text(data, 'before')} to`, link: file() };
    case 'file.removed':
      return { verb: 'removed', link: file() };
    case 'member.joined':
      return data['kind'] === 'agent' ? { verb: 'brought', rest: text(data, 'name') } : { verb: 'joined the board' };
    case 'person.added':
      return { verb: 'added', rest: text(data, 'name') };
    case 'person.renamed':
      return { verb: `became ${text(data, 'after')}`, rest: `before: ${text(data, 'before')}` };
    case 'person.removed':
    case 'agent.removed':
      return { verb: 'removed', rest: text(data, 'name') };
    case 'person.left':
    case 'agent.left':
      return { verb: 'left the board' };
    case 'person.made_owner':
      return { verb: 'made an owner of', rest: text(data, 'name') };
    case 'person.role_changed':
      return { verb: 'made a member again of', rest: text(data, 'name') };
    case 'joincode.created':
      return { verb: 'made a join line', rest: textOrUndefined(data, 'role') && `for the role ${text(data, 'role')}` };
    case 'joincode.revoked':
      return { verb: 'took back a join line' };
    default:
      return describeBoardEvent(type, data);
  }
}

function describeMessage(data: Data, board: string, seq: number): EventText {
  const ask = data['ask'] as { options?: unknown } | undefined;
  const answer = data['answer'] as { withdrawn?: boolean } | undefined;
  const to = Array.isArray(data['to']) ? data['to'].join(', ') : 'all';
  const verb = answer
    ? answer.withdrawn
      ? 'withdrew'
      : 'answered'
    : ask
      ? `asked ${to}`
      : data['reply_to']
        ? `replied to ${to}`
        : `posted to ${to}`;
  return {
    verb,
    link: { text: `#${formatNumber(seq)}`, href: hrefOf({ screen: 'board', board, tab: 'talk', message: seq }) },
    rest: quote(text(data, 'body')),
  };
}

function describeBoardEvent(type: string, data: Data): EventText {
  switch (type) {
    case 'board.created':
      return { verb: 'made the board' };
    case 'board.titled':
      return { verb: 'gave the board the title', rest: textOrUndefined(data, 'after') ?? 'none' };
    case 'board.policy_changed':
      return { verb: 'changed the rules of the board' };
    case 'board.config_changed':
      return { verb: data['charter'] ? 'changed the charter' : 'changed the roles' };
    case 'board.visibility_changed':
      return { verb: `made the board ${text(data, 'after')}` };
    case 'board.agents_add_people_changed':
      return { verb: data['agents_add_people'] ? 'let agents add people' : 'let agents add people no more' };
    case 'board.task_prefix_set':
      return { verb: `set the prefix of tasks to ${text(data, 'after')}` };
    case 'board.archived':
      return { verb: 'archived the board' };
    case 'board.restored':
      return { verb: 'restored the board' };
    default:
      return { verb: type };
  }
}
