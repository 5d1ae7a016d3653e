/** Colours of code: a text as lines of pieces with the class of each. Loaded only where a file is shown. */
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import css from 'highlight.js/lib/languages/css';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';

const languages = { bash, css, go, ini, java, javascript, json, python, rust, sql, typescript, xml, yaml };
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);

type Language = keyof typeof languages;
const byExtension: Record<string, Language> = {
  ...{ sh: 'bash', bash: 'bash', css: 'css', go: 'go', ini: 'ini', toml: 'ini', conf: 'ini', java: 'java', kt: 'java' },
  ...{ js: 'javascript', mjs: 'javascript', cjs: 'javascript', jsx: 'javascript', json: 'json', ndjson: 'json' },
  ...{ jsonl: 'json', py: 'python', rs: 'rust', sql: 'sql', ts: 'typescript', tsx: 'typescript', xml: 'xml' },
  ...{ html: 'xml', htm: 'xml', svg: 'xml', yaml: 'yaml', yml: 'yaml' },
};

export interface Piece {
  text: string;
  /** One of k, s, nn, f, c: keyword, string, number, function, comment. */
  colour: string | undefined;
}

/** Longer texts stay without colours. */
const MOST = 200_000;

const colours: [RegExp, string][] = [
  [/^hljs-(keyword|literal|type|tag|name|selector|section|meta)/, 'k'],
  [/^hljs-(string|regexp|symbol|link|char)/, 's'],
  [/^hljs-number/, 'nn'],
  [/^hljs-(title|attr|built_in|property)/, 'f'],
  [/^hljs-(comment|quote|doctag)/, 'c'],
];
const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'" };

/** Lines of a text; without colours when its language is not known. */
export function highlight(lines: string[], name: string): Piece[][] {
  const language = byExtension[name.split('.').at(-1)?.toLowerCase() ?? ''];
  const text = lines.join('\n');
  if (!language || text.length > MOST) return lines.map((line) => [{ text: line, colour: undefined }]);
  const html = hljs.highlight(text, { language, ignoreIllegals: true }).value;
  // Its HTML holds nothing but these spans and escaped text; it is taken apart and never becomes part of the page.
  const found: Piece[][] = [[]];
  const open: (string | undefined)[] = [];
  for (const [token, scope] of html.matchAll(/<span class="([^"]*)">|<\/span>|[^<]+/g)) {
    if (scope !== undefined) open.push(colours.find(([form]) => form.test(scope))?.[1] ?? open.at(-1));
    else if (token === '</span>') open.pop();
    else
      token
        .replaceAll(/&(amp|lt|gt|quot|#x27);/g, (_, entity: string) => entities[entity]!)
        .split('\n')
        .forEach((part, index) => {
          if (index > 0) found.push([]);
          if (part !== '') found.at(-1)!.push({ text: part, colour: open.at(-1) });
        });
  }
  return found;
}
