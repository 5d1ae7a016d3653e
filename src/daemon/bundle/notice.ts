/** The mid-turn notice about waiting messages: numbers and names, never message text. */
import type { Message } from '../../contract/types.ts';
import { attribute } from './escape.ts';
import { boardFlags } from './options.ts';

const MAX_ENTRIES = 10;

/** `<service-notice board="b" waiting="2">2 waiting on b: #17 from codex (owner_agent), …</service-notice>` */
export function renderNotice(
  { board, seat, server, messages }: { board: string; seat: string; server?: string; messages: readonly Message[] },
  { seats = false }: { seats?: boolean } = {},
): string {
  const named = messages.slice(0, MAX_ENTRIES).map(({ seq, from, sender }) => {
    const owner = from.kind === 'agent' && from.owner !== null ? `${from.owner}'s ` : '';
    const whose = sender === 'owner_agent' ? '' : owner;
    return `#${seq} from ${attribute(`${whose}${from.name}`)} (${sender})`;
  });
  const more = messages.length - named.length;
  const list = `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  const whose = seats ? ` seat="${attribute(seat)}"` : '';
  const on = boardFlags(board, { seats, server });
  const name = attribute(board);
  return `<service-notice board="${name}"${whose} waiting="${messages.length}">${messages.length} waiting on ${name}: ${list}; service inbox${on} when convenient</service-notice>`;
}
