/**
 * HTML that somebody wrote, shown in a frame where it can do nothing: no scripts, no requests, no navigation. The cleaner drops
 * what acts, the frame's sandbox allows nothing, and the frame's own policy loads nothing.
 */
import { useMemo } from 'preact/hooks';
import { purify } from './purify.ts';
import './html-preview.css';

const FRAME_POLICY =
  "default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'";

const forbidden = {
  FORBID_TAGS: [
    ...['script', 'link', 'meta', 'base', 'iframe', 'frame', 'object', 'embed', 'form', 'input', 'button', 'template'],
    ...['noscript', 'animate', 'animatemotion', 'animatetransform', 'set'],
    // A frame made of text keeps the page's policy too, which allows no style of an author's: the browser would refuse it.
    'style',
  ],
  FORBID_ATTR: ['style', 'target', 'ping', 'action', 'formaction', 'srcset', 'background', 'poster'],
};

/** Addresses of links and of what an SVG takes from elsewhere. */
const links = ['href', 'xlink:href'];

/**
 * What the page's policy refuses even while a text is parsed is taken out before, or else the browser would report it. A style
 * that this leaves, such as one without an end, becomes an element that the cleaner drops with its content.
 */
const withoutRefused = (html: string): string =>
  html
    .replaceAll(/<style\b[\s\S]*?<\/style\s*>|<base\b[^>]*>/gi, '')
    .replaceAll(/<[a-z][^<>]*>/gi, (tag) => tag.replaceAll(/([\s/"'])style\s*=\s*("[^"]*"|'[^']*'|[^\s>]+)/gi, '$1'))
    .replaceAll(/<(\/?)style\b/gi, '<$1template');

/** The body without what could act, load or lead elsewhere. A link keeps its address as its title. */
function cleaned(html: string): HTMLElement {
  const body = purify.sanitize(withoutRefused(html), { ...forbidden, RETURN_DOM: true }) as HTMLElement;
  for (const element of body.querySelectorAll('*')) {
    for (const name of links) {
      const address = element.getAttribute(name);
      if (address === null) continue;
      element.removeAttribute(name);
      if (element.localName === 'a') element.setAttribute('title', address);
    }
    if (!/^data:image\//i.test(element.getAttribute('src') ?? 'data:image/')) element.removeAttribute('src');
    for (const { name, value } of [...element.attributes])
      if (/url\(\s*["']?(?!#)/i.test(value) && name !== 'title') element.removeAttribute(name);
  }
  return body;
}

/** The words of an HTML text in one line. */
export function textOfHtml(html: string): string {
  const body = cleaned(html);
  const walker = body.ownerDocument.createTreeWalker(body, NodeFilter.SHOW_TEXT);
  const words: string[] = [];
  while (walker.nextNode()) words.push(walker.currentNode.nodeValue ?? '');
  return words.join(' ').replaceAll(/\s+/g, ' ').trim();
}

/** A whole document for the frame: its policy comes first. */
function documentOf(html: string): string {
  const whole = document.implementation.createHTMLDocument('');
  whole.head.replaceChildren(
    meta(whole, 'http-equiv', 'Content-Security-Policy', FRAME_POLICY),
    meta(whole, 'name', 'color-scheme', 'light dark'),
  );
  whole.body.append(...whole.importNode(cleaned(html), true).childNodes);
  // The browser takes the text of a frame from the cleaner only, which is given leave for these two elements of ours.
  return purify.sanitize(whole.documentElement, {
    ...forbidden,
    FORBID_TAGS: forbidden.FORBID_TAGS.filter((tag) => tag !== 'meta'),
    ADD_TAGS: ['meta'],
    ADD_ATTR: ['http-equiv', 'content'],
    WHOLE_DOCUMENT: true,
    RETURN_TRUSTED_TYPE: true,
  }) as unknown as string;
}

function meta(whole: Document, key: string, name: string, content: string): HTMLMetaElement {
  const element = whole.createElement('meta');
  element.setAttribute(key, name);
  element.setAttribute('content', content);
  return element;
}

/** @param title the name of the frame, such as that of the file */
export function HtmlPreview({ html, title }: { html: string; title: string }) {
  const text = useMemo(() => documentOf(html), [html]);
  return <iframe class="html-preview" sandbox="" referrerpolicy="no-referrer" title={title} srcdoc={text} />;
}
