/** Syntax highlighting. Large, so import it dynamically. */
import type { LanguageFn } from 'highlight.js';
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import json from 'highlight.js/lib/languages/json';
import markdown from 'highlight.js/lib/languages/markdown';
import python from 'highlight.js/lib/languages/python';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';

const languages: Record<string, LanguageFn> = {
  ...{ bash, css, diff, go, ini, java, json, markdown, python, rust, sql, typescript, xml, yaml },
};
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);
hljs.registerAliases(['js', 'jsx', 'javascript', 'mjs', 'cjs'], { languageName: 'typescript' });

/** CSS classes of the page's five colours, by the first part of a highlight.js scope. */
const colours: Record<string, string> = {
  ...{ keyword: 'k', literal: 'k', built_in: 'k', type: 'k', tag: 'k', name: 'k', 'selector-tag': 'k' },
  ...{ string: 's', regexp: 's', addition: 's', attr: 'f', attribute: 'f', property: 'f' },
  ...{ number: 'nn', symbol: 'nn', title: 'f', section: 'f', meta: 'c', comment: 'c', quote: 'c', deletion: 'e' },
};

type Part = string | { scope?: string; children: Part[] };

/** A piece of code and the CSS class of its colour. */
export interface Piece {
  text: string;
  colour: string | undefined;
}

function flatten(parts: Part[], outer: string | undefined): Piece[] {
  return parts.flatMap((part) =>
    typeof part === 'string'
      ? { text: part, colour: outer }
      : flatten(part.children, colours[part.scope?.split('.')[0] ?? ''] ?? outer),
  );
}

/** The highlighter may look from every place of a line to its end, which takes the square of its length. */
const LONG_LINE = /^.{1001}/m;

/** Most characters of INI or TOML: there it may look so from every place to the end of the text. */
const MAX_INI = 5_000;

/** Splits code into coloured pieces; null where they cannot be found fast. @param language a name or file extension */
export function highlight(text: string, language: string): Piece[] | null {
  const known = hljs.getLanguage(language);
  if (!known || LONG_LINE.test(text) || (known === hljs.getLanguage('ini') && text.length > MAX_INI)) return null;
  try {
    // Uses the token tree instead of the HTML output, so that no text is ever parsed as HTML.
    const { _emitter } = hljs.highlight(text, { language, ignoreIllegals: true });
    return flatten((_emitter as unknown as { rootNode: { children: Part[] } }).rootNode.children, undefined);
  } catch {
    // Thousands of levels are more calls than the browser allows.
    return null;
  }
}

/** Colours the code inside an element, if the language is known. */
export function colour(code: Element, language: string): void {
  const pieces = highlight(code.textContent, language);
  if (!pieces) return;
  code.replaceChildren(
    ...pieces.map(({ text, colour: name }) => {
      if (!name) return text;
      const span = document.createElement('span');
      span.className = name;
      span.textContent = text;
      return span;
    }),
  );
}
