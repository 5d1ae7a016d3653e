/**
 * Text of people and agents as Markdown (GitHub flavour). It never becomes script, style or form: the renderer gives out no
 * HTML of the author's, DOMPurify cleans what it gives out, and nothing outside of this server is loaded.
 */
import { Marked, type MarkedExtension, type Tokens } from 'marked';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { dressCode } from './code.ts';
import { purify } from './purify.ts';

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const renderer: MarkedExtension = {
  gfm: true,
  breaks: true,
  renderer: {
    // HTML in a message is text.
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escapeHtml(text),
    image: ({ href, text }: Tokens.Image) => `<a href="${escapeHtml(href)}">${escapeHtml(text || href)}</a>`,
    code: ({ text, lang }: Tokens.Code) =>
      `<figure class="code"><figcaption><span>${escapeHtml(lang ?? '')}</span></figcaption><pre><code>${escapeHtml(text)}</code></pre></figure>`,
    checkbox: ({ checked }: Tokens.Checkbox) => (checked ? '☑ ' : '☐ '),
  },
};
const marked = new Marked(renderer);

/** Tags of Markdown, and no attribute that styles, runs or loads anything. */
const clean = {
  ALLOWED_TAGS: [
    ...['a', 'b', 'blockquote', 'br', 'code', 'del', 'em', 'figcaption', 'figure', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6'],
    ...['hr', 'li', 'ol', 'p', 'pre', 'span', 'strong', 'table', 'tbody', 'td', 'th', 'thead', 'tr', 'ul'],
  ],
  ALLOWED_ATTR: ['href', 'class', 'start', 'title'],
  // Two slashes, of either kind, lead to another host.
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|\/(?![/\\])|\?|#)/i,
  ALLOW_DATA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
} as const;

purify.addHook('afterSanitizeAttributes', (node) => {
  // Classes are those of this file; an author cannot write any, because HTML in a message is text.
  if (node.tagName !== 'A') return;
  const href = node.getAttribute('href');
  if (href === null) return;
  node.setAttribute('rel', 'noopener noreferrer');
  if (!/^[/?#]/.test(href)) node.setAttribute('target', '_blank');
});

/** The rendered text as a fragment of the document. */
function renderMarkdown(text: string): DocumentFragment {
  return purify.sanitize(marked.parse(text, { async: false }), {
    ...clean,
    ALLOWED_TAGS: [...clean.ALLOWED_TAGS],
    ALLOWED_ATTR: [...clean.ALLOWED_ATTR],
  });
}

/**
 * A text of a message, task, brief or file.
 *
 * @param decorate changes the rendered fragment, such as marking names; it must not add HTML made of text.
 */
export function Markdown({ text, decorate }: { text: string; decorate?: (fragment: DocumentFragment) => void }) {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const fragment = renderMarkdown(text);
    decorate?.(fragment);
    dressCode(fragment);
    element.current?.replaceChildren(fragment);
  }, [text, decorate]);
  return <div ref={element} class="x" />;
}
