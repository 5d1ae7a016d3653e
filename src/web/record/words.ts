/** Events of a board in words, and where each leads. */
import type { BoardEvent } from '../../contract/types.ts';
import { formatNumber } from '../parts/number.ts';
import { plainText } from '../parts/plain-text.ts';
import { hrefOf } from '../state/route.ts';

interface Words {
  /** What the actor did: "approved". */
  did: string;
  /** What it leads to: "src/retry.ts v1". */
  link?: { text: string; href: string };
  /** The rest: "Retry only on 429". */
  rest?: string;
}

export interface Names {
  /** Names of members by their ids. */
  members: Record<string, { name: string }>;
  /** Names of files by their ids. */
  files: Record<string, string>;
}

const LONGEST = 140;

const quote = (text: string): string => {
  const plain = plainText(text);
  return `“${plain.length > LONGEST ? `${plain.slice(0, LONGEST)}…` : plain}”`;
};

type Data = Record<string, unknown>;
const text = (data: Data, name: string): string => (typeof data[name] === 'string' ? data[name] : '');
const given = (data: Data, name: string): string | undefined => text(data, name) || undefined;

/** What an event says. Types that this page does not know are named as they are. */
export function wordsOf(event: BoardEvent, board: string, names: Names): Words {
  const { type, data = {}, data_withheld, seq } = event;
  const member = (name: string): string => names.members[text(data, name)]?.name ?? 'somebody';
  const task = (): Words['link'] => ({
    text: text(data, 'ref'),
    href: hrefOf({ screen: 'board', board, tab: 'tasks', task: text(data, 'ref') }),
  });
  const file = (version = Number(data['version']) || undefined): Words['link'] => {
    const id = text(data, 'file_id');
    const name = given(data, 'name') ?? given(data, 'after') ?? names.files[id] ?? 'a file';
    return {
      text: version ? `${name} v${version}` : name,
      href: hrefOf({ screen: 'board', board, tab: 'files', file: id, version }),
    };
  };
  if (data_withheld)
    return {
      did: type === 'message.posted' ? 'posted a message that you may not read' : 'did something that you may not read',
    };
  switch (type) {
    case 'message.posted':
      return messageWords(data, board, seq);
    case 'reaction.added':
      return { did: `reacted ${text(data, 'emoji')}` };
    case 'reaction.removed':
      return { did: `took back ${text(data, 'emoji')}` };
    case 'thread.continued':
      return { did: 'let agents go on in a thread' };
    case 'thread.stopped':
      return { did: 'closed a thread for agents' };
    case 'task.created':
      return { did: 'opened', link: task(), rest: text(data, 'title') };
    case 'task.started':
      return { did: 'started', link: task() };
    case 'task.joined':
      return { did: 'joined', link: task() };
    case 'task.updated':
      return {
        did: data['stands'] ? 'said where it stands:' : 'changed',
        link: task(),
        rest: given(data, 'stands') && quote(text(data, 'stands')),
      };
    case 'task.done':
      return { did: data['cancelled'] ? 'cancelled' : 'finished', link: task(), rest: quote(text(data, 'note')) };
    case 'task.taken_over':
      return { did: `took over from ${member('from')}`, link: task() };
    case 'task.dropped':
      return { did: data['by'] === 'self' ? 'dropped' : `ended the part of ${member('member_id')} in`, link: task() };
    case 'file.version_added':
      return { did: 'added', link: file() };
    case 'file.updated':
      return { did: 'changed what is said of', link: file() };
    case 'file.approved':
      return { did: 'approved', link: file() };
    case 'file.approval_removed':
      return { did: 'took back the approval of', link: file() };
    case 'file.renamed':
      return { did: `renamed ${text(data, 'before')} to`, link: file() };
    case 'file.removed':
      return { did: 'removed', link: file() };
    case 'member.joined':
      return { did: data['kind'] === 'agent' ? 'brought' : 'joined as', rest: text(data, 'name') };
    case 'person.added':
      return { did: 'added', rest: text(data, 'name') };
    case 'person.renamed':
      return { did: `became ${text(data, 'after')}`, rest: `before: ${text(data, 'before')}` };
    case 'person.removed':
    case 'agent.removed':
      return { did: 'removed', rest: text(data, 'name') };
    case 'person.left':
    case 'agent.left':
      return { did: 'left the board' };
    case 'person.made_owner':
      return { did: 'made an owner of', rest: text(data, 'name') };
    case 'person.role_changed':
      return { did: 'made a member again of', rest: text(data, 'name') };
    case 'joincode.created':
      return { did: 'made a join line', rest: given(data, 'role') && `for the role ${text(data, 'role')}` };
    case 'joincode.revoked':
      return { did: 'took back a join line' };
    default:
      return boardWords(type, data);
  }
}

function messageWords(data: Data, board: string, seq: number): Words {
  const ask = data['ask'] as { options?: unknown } | undefined;
  const answer = data['answer'] as { withdrawn?: boolean } | undefined;
  const to = Array.isArray(data['to']) ? data['to'].join(', ') : 'all';
  const did = answer
    ? answer.withdrawn
      ? 'withdrew'
      : 'answered'
    : ask
      ? `asked ${to}`
      : data['reply_to']
        ? `replied to ${to}`
        : `posted to ${to}`;
  return {
    did,
    link: { text: `#${formatNumber(seq)}`, href: hrefOf({ screen: 'board', board, tab: 'talk', message: seq }) },
    rest: quote(text(data, 'body')),
  };
}

function boardWords(type: string, data: Data): Words {
  switch (type) {
    case 'board.created':
      return { did: 'made the board' };
    case 'board.titled':
      return { did: 'gave the board the title', rest: given(data, 'after') ?? 'none' };
    case 'board.policy_changed':
      return { did: 'changed the rules of the board' };
    case 'board.config_changed':
      return { did: data['charter'] ? 'changed the charter' : 'changed the roles' };
    case 'board.visibility_changed':
      return { did: `made the board ${text(data, 'after')}` };
    case 'board.agents_add_people_changed':
      return { did: data['agents_add_people'] ? 'let agents add people' : 'let agents add people no more' };
    case 'board.task_prefix_set':
      return { did: `set the prefix of tasks to ${text(data, 'after')}` };
    case 'board.archived':
      return { did: 'archived the board' };
    case 'board.restored':
      return { did: 'restored the board' };
    default:
      return { did: type };
  }
}
