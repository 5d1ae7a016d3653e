/** Marks mentions, task references and removed secrets in the text of a message. */
import type { Message } from '../../contract/types.ts';
import { hrefOf } from '../state/route.ts';

interface MarkContext {
  board: string;
  me: string;
  /** Prefixes of task references, such as PAY. */
  prefixes: readonly string[];
}

const element = (tag: string, className: string, text: string): HTMLElement => {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
};

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** A pattern for a prefix of task references. */
const inAnyCase = (prefix: string): string =>
  prefix.replaceAll(/[A-Z]/g, (letter) => `[${letter}${letter.toLowerCase()}]`);

/** Creates a `decorate` function for the text of a message, see {@link Markdown}. */
export function createMarker(
  { mentions }: Message,
  { board, me, prefixes }: MarkContext,
): (fragment: DocumentFragment) => void {
  const forms = mentions.map(({ text }) => escaped(text)).sort((a, b) => b.length - a.length);
  const mine = new Set(mentions.filter(({ kind, name }) => kind === 'human' && name === me).map(({ text }) => text));
  const patterns = [
    ...(forms.length > 0 ? [`(?<![\\w.@/\\\\-])(?:${forms.join('|')})(?![\\w-])`] : []),
    ...(prefixes.length > 0
      ? [`(?<![\\p{L}\\p{N}_.@/\\\\-])(?:${prefixes.map(inAnyCase).join('|')})-[1-9]\\d{0,8}(?![\\p{L}\\p{N}_-])`]
      : []),
    '\\[redacted:[a-z_]+\\]',
  ];
  const pattern = new RegExp(`(${patterns.join('|')})`, 'u');
  return (fragment) => {
    const walker = document.createTreeWalker(fragment, NodeFilter.SHOW_TEXT);
    const texts: Text[] = [];
    while (walker.nextNode()) texts.push(walker.currentNode as Text);
    for (const node of texts) {
      if (node.parentElement?.closest('code, a')) continue;
      const parts = node.data.split(pattern);
      if (parts.length > 1) node.replaceWith(...parts.map((part, index) => (index % 2 ? marked(part) : part)));
    }
  };

  function marked(part: string): Node {
    if (part.startsWith('@')) return element('span', mine.has(part) ? 'me' : 'at', part);
    if (part.startsWith('[')) return element('span', 'redacted', `${secretLabel(part.slice(10, -1))} removed`);
    const link = element('a', 'ref', part) as HTMLAnchorElement;
    link.href = hrefOf({ screen: 'board', board, tab: 'tasks', task: part.toUpperCase() });
    return link;
  }
}

const secretLabel = (kind: string): string => kind.replaceAll('_', ' ');

/** "1 github token and 2 api keys were removed before this was kept." */
export function redactionNote({ redactions }: Message): string {
  const parts = redactions.map(({ kind, count }) => `${count} ${secretLabel(kind)}${count === 1 ? '' : 's'}`);
  const all = parts.length > 1 ? `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}` : (parts[0] ?? '');
  const many = redactions.length > 1 || (redactions[0]?.count ?? 0) > 1;
  return `${all} ${many ? 'were' : 'was'} removed before this was kept.`;
}
