/** Adds a copy button and syntax colours to rendered code blocks. */
import { copy } from './toast.tsx';

const SVG = 'http://www.w3.org/2000/svg';

/** Longer code stays uncoloured, because highlighting would block the page. In characters. */
const MAX_COLOURED = 20_000;

function icon(name: string): SVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('class', 'i');
  svg.setAttribute('aria-hidden', 'true');
  const use = document.createElementNS(SVG, 'use');
  use.setAttribute('href', `#i-${name}`);
  svg.append(use);
  return svg;
}

/** The language in a fence's info string, such as `ts` or `ts src/retry.ts`. */
function languageOf(info: string): string {
  const [first = '', file = first] = info.trim().split(/\s+/);
  return (first.includes('.') ? (file.split('.').at(-1) ?? '') : first).toLowerCase();
}

/** Decorates every code block of a fragment; colours follow once the highlighter is loaded. */
export function decorateCode(fragment: DocumentFragment): void {
  for (const figure of fragment.querySelectorAll('figure.code')) {
    const caption = figure.querySelector('figcaption');
    const code = figure.querySelector('code');
    if (!caption || !code) continue;
    const words = caption.textContent;
    const language = languageOf(words);
    // Prefers a file name over the language.
    const name = words.trim().split(/\s+/).at(-1) ?? '';
    caption.firstElementChild?.replaceChildren(name);
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'b bare ic t28 copy';
    button.setAttribute('aria-label', name ? `Copy ${name}` : 'Copy the code');
    button.append(icon('copy'));
    const text = code.textContent;
    button.addEventListener('click', () => void copy(text, 'the code'));
    caption.append(button);
    if (!name) figure.classList.add('unnamed');
    if (language && text.length <= MAX_COLOURED)
      void import('./syntax.ts').then(({ colour }) => colour(code, language));
  }
}
