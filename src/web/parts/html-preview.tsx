/**
 * Shows untrusted HTML in a frame without scripts, requests or navigation. DOMPurify removes active content, the
 * sandbox allows nothing, and the frame's own Content-Security-Policy loads nothing.
 */
import { useMemo } from 'preact/hooks';
import { purify } from './purify.ts';
import './html-preview.css';

const FRAME_POLICY =
  "default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'";

const sanitizeOptions = {
  FORBID_TAGS: [
    ...['script', 'link', 'meta', 'base', 'iframe', 'frame', 'object', 'embed', 'form', 'input', 'button', 'template'],
    ...['noscript', 'animate', 'animatemotion', 'animatetransform', 'set'],
    // A srcdoc frame inherits the page's policy too, which forbids inline styles.
    'style',
  ],
  FORBID_ATTR: ['style', 'target', 'ping', 'action', 'formaction', 'srcset', 'background', 'poster'],
};

/** Attributes that lead elsewhere, in HTML and SVG. */
const links = ['href', 'xlink:href'];

/**
 * Comments, scripts, styles and titles up to their end, else up to the end of the text, so that a missing end is looked for once.
 * In SVG a title may be empty (`<title/>`).
 */
const UNREAD = /<!--[\s\S]*?(-->|$)|<(script|style|title(?![^<>]*\/>))(?![\w-])([\s\S]*?)(<\/\2\s*>|$)/gi;

/**
 * Takes out styles and `base` before parsing: the browser applies the page's policy during parsing and would report them.
 * Comments, scripts and styles go as a whole, because tags that they name would be read as tags; so would those that a title
 * names, which stays: in SVG it is what the pointer shows. A style without an end becomes a `template`, which DOMPurify drops
 * with its content.
 */
const stripRefused = (html: string): string =>
  html
    .replaceAll(UNREAD, (found, commentEnd, name, text, end) => {
      if (!commentEnd && !end) return found;
      return name?.toLowerCase() === 'title' ? `<title${text.replaceAll('<', '&lt;')}${end}` : '';
    })
    .replaceAll(/<[a-z][^<>]*>/gi, (tag) => tag.replaceAll(/([\s/"'])style\s*=\s*("[^"]*"|'[^']*'|[^\s>]+)/gi, '$1'))
    .replaceAll(/<(\/?)style\b/gi, '<$1template')
    .replaceAll(/<base\b/gi, '<wbr');

/** Sanitizes HTML to a body that cannot run, load or navigate. Links keep their address as title. */
function sanitize(html: string): HTMLElement {
  const body = purify.sanitize(stripRefused(html), { ...sanitizeOptions, RETURN_DOM: true }) as HTMLElement;
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

/** The text content of HTML in one line. */
export function htmlToText(html: string): string {
  const body = sanitize(html);
  const walker = body.ownerDocument.createTreeWalker(body, NodeFilter.SHOW_TEXT);
  const words: string[] = [];
  while (walker.nextNode()) words.push(walker.currentNode.nodeValue ?? '');
  return words.join(' ').replaceAll(/\s+/g, ' ').trim();
}

/** Builds the frame's document, with its policy as the first element. */
function buildDocument(html: string): string {
  const doc = document.implementation.createHTMLDocument('');
  doc.head.replaceChildren(
    meta(doc, 'http-equiv', 'Content-Security-Policy', FRAME_POLICY),
    meta(doc, 'name', 'color-scheme', 'light dark'),
  );
  doc.body.append(...doc.importNode(sanitize(html), true).childNodes);
  // Trusted Types accept srcdoc only from DOMPurify, so it runs again and lets our two meta elements pass.
  return purify.sanitize(doc.documentElement, {
    ...sanitizeOptions,
    FORBID_TAGS: sanitizeOptions.FORBID_TAGS.filter((tag) => tag !== 'meta'),
    ADD_TAGS: ['meta'],
    ADD_ATTR: ['http-equiv', 'content'],
    WHOLE_DOCUMENT: true,
    RETURN_TRUSTED_TYPE: true,
  }) as unknown as string;
}

function meta(doc: Document, key: string, name: string, content: string): HTMLMetaElement {
  const element = doc.createElement('meta');
  element.setAttribute(key, name);
  element.setAttribute('content', content);
  return element;
}

/** @param title the accessible name of the frame, such as the file name */
export function HtmlPreview({ html, title }: { html: string; title: string }) {
  const text = useMemo(() => buildDocument(html), [html]);
  return <iframe class="html-preview" sandbox="" referrerpolicy="no-referrer" title={title} srcdoc={text} />;
}
