/** Code blocks of a rendered text: a button that copies them, and colours. */
import { copy } from './toast.tsx';

const SVG = 'http://www.w3.org/2000/svg';

/** More than this is not coloured: it would hold up the page. */
const MOST_COLOURED = 20_000;

function icon(name: string): SVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('class', 'i');
  svg.setAttribute('aria-hidden', 'true');
  const use = document.createElementNS(SVG, 'use');
  use.setAttribute('href', `#i-${name}`);
  svg.append(use);
  return svg;
}

/** The language out of the words after the fence, such as `ts` or `ts src/retry.ts`. */
function languageOf(words: string): string {
  const [first = '', file = first] = words.trim().split(/\s+/);
  return (first.includes('.') ? (file.split('.').at(-1) ?? '') : first).toLowerCase();
}

/** Gives every code block of a fragment its button, and its colours once they are loaded. */
export function dressCode(fragment: DocumentFragment): void {
  for (const figure of fragment.querySelectorAll('figure.code')) {
    const caption = figure.querySelector('figcaption');
    const code = figure.querySelector('code');
    if (!caption || !code) continue;
    const words = caption.textContent;
    const language = languageOf(words);
    // A file's name says more than its language.
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
    if (language && text.length <= MOST_COLOURED)
      void import('./syntax.ts').then(({ colour }) => colour(code, language));
  }
}
