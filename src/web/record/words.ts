/** Describes events of the record, messages among them, as text with a link. */
import type { BoardEvent } from '../../contract/types.ts';
import { formatNumber } from '../parts/number.ts';
import { excerpt } from '../parts/plain-text.ts';
import { type EventNames, text, wordsOf } from '../state/event-words.ts';
import { hrefOf } from '../state/route.ts';

/** The kinds of events that can be filtered. */
export const kinds: readonly (readonly [name: string, types: RegExp])[] = [
  ['Messages', /^message\./],
  ['Reactions', /^reaction\./],
  ['Tasks', /^task\./],
  ['Files', /^file\./],
  ['People and agents', /^(member|person|agent|joincode)\./],
  ['Board', /^board\./],
];

interface EventText {
  /** For example "approved". */
  verb: string;
  /** For example "src/retry.ts v1". */
  link?: { text: string; href: string };
  /** For example "Retry only on 429". */
  rest?: string;
}

const MAX_QUOTE = 140;

const quote = (text: string): string => `“${excerpt(text, MAX_QUOTE)}”`;
const join = (...parts: (string | undefined)[]): string => parts.filter(Boolean).join(' ');

type Data = Record<string, unknown>;

/** Describes an event. An unknown type is shown by its name. */
export function describeEvent(event: BoardEvent, board: string, names: EventNames): EventText {
  const { type, data = {}, data_withheld, seq } = event;
  if (data_withheld)
    return {
      verb:
        type === 'message.posted' ? 'posted a message that you may not read' : 'did something that you may not read',
    };
  if (type === 'message.posted') return describeMessage(data, board, seq);
  if (type === 'reaction.added') return { verb: `reacted ${text(data['emoji'])}` };
  if (type === 'reaction.removed') return { verb: `took back ${text(data['emoji'])}` };
  // The actor is who brought the agent.
  if (type === 'member.joined' && data['kind'] === 'agent') return { verb: 'brought', rest: text(data['name']) };
  const found = wordsOf(event, board, names);
  const title = found.link?.about === 'task' && text(data['title']);
  const more = found.more && type !== 'task.taken_over' ? `(${found.more})` : found.more;
  return {
    verb: join(found.verb, found.name, found.afterName),
    link: found.link,
    rest: join(title || '', more, found.quote && quote(found.quote)),
  };
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
    rest: quote(text(data['body'])),
  };
}
