/**
 * Renders untrusted Markdown (GitHub flavour). The renderer escapes the author's HTML, DOMPurify sanitizes its output,
 * and images become links, so that nothing is loaded from other servers.
 */
import { Marked, type MarkedExtension, Tokenizer, type Tokens } from 'marked';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { decorateCode } from './code.ts';
import { purify } from './purify.ts';

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const codeBlock = (text: string, language = ''): string =>
  `<figure class="code"><figcaption><span>${escapeHtml(language)}</span></figcaption><pre><code>${escapeHtml(text)}</code></pre></figure>`;

/**
 * Characters that may still be looked through for ends of emphasis. Each sign that begins some looks for its end, at worst in all
 * the rest of its paragraph: thousands without one would hold up the page for half a minute.
 */
let lookAhead = 0;
const lookAheadOf = (text: string): number => 500_000 + 30 * text.length;

/** Whether a text begins with signs that may begin emphasis: not before a space, and `_` not inside of a word. */
const mayBeginEmphasis = (text: string, before: string): boolean =>
  /^(?:\*+[^\s*]|_+[^\s_])/.test(text) && !(text.startsWith('_') && /[\p{L}\p{N}]/u.test(before));

const renderer: MarkedExtension = {
  gfm: true,
  breaks: true,
  tokenizer: {
    // Rows are filled up to the columns of their head: many short ones would make millions of cells of some kilobytes.
    table(rest) {
      const [found, head, , rows] = this.rules.block.table.exec(rest) ?? [];
      const cells = (head ?? '').split('|').length * (rows ?? '').split('\n').length;
      return found && cells > 1_000 + 4 * found.length ? undefined : Tokenizer.prototype.table.call(this, rest);
    },
    // Undefined: the sign stands for itself.
    emStrong(rest, masked, before = '') {
      if (!mayBeginEmphasis(rest, before) || lookAhead <= 0) return undefined;
      lookAhead -= rest.length;
      const found = Tokenizer.prototype.emStrong.call(this, rest, masked, before);
      if (found) lookAhead += rest.length - found.raw.length;
      return found;
    },
  },
  renderer: {
    // HTML in a message is shown as text.
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escapeHtml(text),
    image: ({ href, text }: Tokens.Image) => `<a href="${escapeHtml(href)}">${escapeHtml(text || href)}</a>`,
    code: ({ text, lang }: Tokens.Code) => codeBlock(text, lang),
    checkbox: ({ checked }: Tokens.Checkbox) => (checked ? '☑ ' : '☐ '),
  },
};
const marked = new Marked(renderer);

/** Only the tags of Markdown, and no attribute that styles, runs or loads anything. */
const clean = {
  ALLOWED_TAGS: [
    ...['a', 'b', 'blockquote', 'br', 'code', 'del', 'em', 'figcaption', 'figure', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6'],
    ...['hr', 'li', 'ol', 'p', 'pre', 'span', 'strong', 'table', 'tbody', 'td', 'th', 'thead', 'tr', 'ul'],
  ],
  ALLOWED_ATTR: ['href', 'class', 'start', 'title'],
  // `//host` and `/\host` would lead to another host.
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|\/(?![/\\])|\?|#)/i,
  ALLOW_DATA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
} as const;

purify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName !== 'A') return;
  const href = node.getAttribute('href');
  if (href === null) return;
  node.setAttribute('rel', 'noopener noreferrer');
  if (!/^[/?#]/.test(href)) node.setAttribute('target', '_blank');
});

/** The address of a link or image, such as the bytes of an image in a file. */
const LONG_ADDRESS = /(?<=\[[^[\]\n]{0,200}\]\()[^\s()<>]{1000,}/g;
/**
 * Words, spaces and levels of quotes or lists that are longer than anybody means them. The parser would look through the rest of
 * each again at each of its characters, for seconds.
 */
const ENDLESS = /(?<!\S)\S{3000,}|(?<!\s)[^\S\n]{1000,}|^[ \t]*(?:>[ \t]*|(?:[-+*]|\d{1,9}[.)])[ \t]+){500,}/gm;
/** Stands around the number of an endless part until the text is parsed; in addresses the parser encodes it. */
const MARK = '\ue000';
const MARKS = new RegExp(`${MARK}|${encodeURI(MARK)}`, 'g');
const MARKED = new RegExp(`(?:${MARKS.source})(\\d+)(?:${MARKS.source})`, 'g');

/** The parser calls itself for each level, and gives up thousands deep: the text is then shown as it was typed. */
function htmlOf(text: string): string {
  lookAhead = lookAheadOf(text);
  try {
    return marked.parse(text, { async: false });
  } catch {
    return codeBlock(text);
  }
}

function renderMarkdown(text: string): DocumentFragment {
  const endless: string[] = [];
  const restore = (marked: string): string => marked.replaceAll(MARKED, (_, index) => endless[Number(index)] ?? '');
  const take = (part: string): string => `${MARK}${endless.push(restore(part)) - 1}${MARK}`;
  // Marks that somebody typed are taken out first: each would stand for a whole part.
  const short = text.replaceAll(MARKS, take).replaceAll(LONG_ADDRESS, take).replaceAll(ENDLESS, take);
  // A definition of a link may be used any number of times.
  let left = 4 * text.length;
  const html = htmlOf(short).replaceAll(MARKED, (_, index) => {
    const part = endless[Number(index)] ?? '';
    left -= part.length;
    return left < 0 ? '' : escapeHtml(part);
  });
  return purify.sanitize(html, {
    ...clean,
    ALLOWED_TAGS: [...clean.ALLOWED_TAGS],
    ALLOWED_ATTR: [...clean.ALLOWED_ATTR],
  });
}

/**
 * Renders the text of a message, task, brief or file.
 *
 * @param decorate changes the rendered fragment, for example marks names. It must not parse text as HTML.
 */
export function Markdown({ text, decorate }: { text: string; decorate?: (fragment: DocumentFragment) => void }) {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const fragment = renderMarkdown(text);
    // Each paragraph or list in the direction of its words.
    for (const block of fragment.children) block.setAttribute('dir', 'auto');
    decorate?.(fragment);
    decorateCode(fragment);
    element.current?.replaceChildren(fragment);
  }, [text, decorate]);
  return <div ref={element} class="x" />;
}
