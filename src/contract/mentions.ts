/** What in a text reads as a mention, for the server, the page and the command line. Code and links do not count. */

const MAX_NAME = 40;
const MAX_ROLE = 32;

/** A mention by its form alone; whether it means anybody is not known yet. */
export interface FoundMention {
  form: 'name' | 'role';
  name: string;
  /** As written, with its `@`. */
  text: string;
}

interface Range {
  start: number;
  end: number;
}

const blank = ({ start, end }: Range): string => ' '.repeat(end - start);

function blankOut(text: string, ranges: readonly Range[]): string {
  if (ranges.length === 0) return text;
  const parts: string[] = [];
  let copied = 0;
  for (const range of ranges) {
    parts.push(text.slice(copied, range.start), blank(range));
    copied = range.end;
  }
  parts.push(text.slice(copied));
  return parts.join('');
}

const fenceStart = /^ {0,3}(?:(`{3,})[^`]*|(~{3,}).*)$/s;
const fenceEnd = /^ {0,3}(`{3,}|~{3,})[ \t]*$/;

/** Fenced code with its first and last line, as CommonMark 0.31 (section 4.5) has it; an open fence ends with the text. */
function findFences(text: string): Range[] {
  if (!text.includes('```') && !text.includes('~~~')) return [];
  const fences: Range[] = [];
  let open: { start: number; run: string } | null = null;
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf('\n', at);
    const next = newline === -1 ? text.length : newline + 1;
    const lineEnd = newline === -1 ? text.length : newline;
    const line = text.slice(at, text[lineEnd - 1] === '\r' && lineEnd > at && newline !== -1 ? lineEnd - 1 : lineEnd);
    if (!open) {
      const match = fenceStart.exec(line);
      if (match) open = { start: at, run: (match[1] ?? match[2]) as string };
    } else {
      const run = fenceEnd.exec(line)?.[1];
      if (run?.startsWith(open.run)) {
        fences.push({ start: open.start, end: next });
        open = null;
      }
    }
    at = next;
  }
  if (open) fences.push({ start: open.start, end: text.length });
  return fences;
}

/** Code spans between two ends: a run of backticks up to the next run of exactly as many. */
function findSpans(text: string, start: number, end: number, spans: Range[]): void {
  const runs: Range[] = [];
  // Nothing is looked for beyond the end, which would be done again for each fence.
  const part = text.slice(start, end);
  for (let at = part.indexOf('`'); at !== -1; ) {
    let after = at;
    while (part[after] === '`') after++;
    runs.push({ start: start + at, end: start + after });
    at = part.indexOf('`', after);
  }
  // Where a length occurs last, so that a run without a partner does not look through all the others.
  const last = new Map(runs.map((run, index) => [run.end - run.start, index]));
  for (let index = 0; index < runs.length; index++) {
    const run = runs[index]!;
    const length = run.end - run.start;
    if (last.get(length) === index) continue;
    let partner = index + 1;
    while (runs[partner]!.end - runs[partner]!.start !== length) partner++;
    spans.push({ start: run.start, end: runs[partner]!.end });
    index = partner;
  }
}

const whiteSpace = /\p{White_Space}/gu;
const schemeLetter = /[A-Za-z]/;
const schemeCharacter = /[A-Za-z0-9+.-]/;

/** By the `://`, because a scheme has no greatest length to look for from the front. Ends are sought in `original`. */
function findLinks(text: string, original: string): Range[] {
  const links: Range[] = [];
  let at = text.indexOf('://');
  while (at !== -1) {
    let start = -1;
    for (let index = at - 1; index >= 0 && schemeCharacter.test(text[index]!); index--) {
      if (schemeLetter.test(text[index]!)) start = index;
    }
    let end = at + 3;
    if (start !== -1) {
      whiteSpace.lastIndex = end;
      end = whiteSpace.exec(original)?.index ?? text.length;
      links.push({ start, end });
    }
    at = text.indexOf('://', end);
  }
  return links;
}

/**
 * The text with all code and links turned to spaces, of the same length, so that places in it are places in the text.
 * What is left is where names and task references count. Linear in the length of the text.
 */
export function maskCodeAndLinks(text: string): string {
  let masked = text;
  if (text.includes('`') || text.includes('~~~')) {
    const fences = findFences(text);
    const code: Range[] = [];
    let outside = 0;
    for (const fence of fences) {
      findSpans(text, outside, fence.start, code);
      code.push(fence);
      outside = fence.end;
    }
    findSpans(text, outside, text.length, code);
    masked = blankOut(text, code);
  }
  return blankOut(masked, findLinks(masked, text));
}

/**
 * `@role:` followed by a letter is a role even where no such role exists, never the name `role`. A run that goes on
 * with a letter or digit of any script is no mention, nor is one inside a word, an address or a path.
 */
const mention =
  /(?<![\p{L}\p{N}_.\-@/\\])@(?:role:([a-z][a-z0-9-]*)|(?!role:[a-z])([a-z0-9][a-z0-9-]*))(?![\p{L}\p{N}-])/gu;

/** What reads as a mention in a body, in order of appearance, repetitions included. Code and links do not count. */
export function findMentions(body: string): FoundMention[] {
  if (!body.includes('@')) return [];
  const found: FoundMention[] = [];
  for (const [text, role, name] of maskCodeAndLinks(body).matchAll(mention)) {
    if (role !== undefined && role.length <= MAX_ROLE) found.push({ form: 'role', name: role, text });
    if (name !== undefined && name.length <= MAX_NAME) found.push({ form: 'name', name, text });
  }
  return found;
}
