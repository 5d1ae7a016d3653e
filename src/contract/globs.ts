/**
 * Globs as a line names its files by, in the dialect of picomatch with `dot`: whether one can match a path, and whether two
 * can match a same path. Each becomes a nondeterministic automaton, and two are followed together, as in the product of
 * automata by Rabin and Scott (1959). What an automaton cannot say matches more: never a no that is wrong.
 */

import { codePoints } from './text.ts';

const LONGEST_GLOB = 200;

/** Pairs of states that are looked at for one question; beyond them the answer is that it can be. */
export const STEPS = 100_000;

/** Making or following so many states costs about as much as looking at one pair of them. */
const STATES_A_STEP = 10;

/** What is left for several questions together. */
export interface Steps {
  left: number;
  /** What is known of the first globs, which are often asked about again. */
  firsts?: Map<string, KnownGlob>;
}

interface KnownGlob {
  prefix: string;
  /** Null: not made yet. */
  automaton: Automaton | null;
}

/**
 * Each item with an equal part of the steps, and what the ones before it left of theirs: globs that take long to compare
 * hide no other item.
 */
export function* inEqualParts<T>(items: readonly T[], steps: number): Generator<[T, Steps]> {
  const firsts: Steps['firsts'] = new Map();
  let all = steps;
  for (const [at, item] of items.entries()) {
    const left = all / (items.length - at);
    const part = { left, firsts };
    yield [item, part];
    all += Math.max(0, part.left) - left;
  }
}

/** What is wrong with a glob; null for a good one. */
export function globProblem(glob: string): string | null {
  if (glob === '' || codePoints(glob) > LONGEST_GLOB) return `must have 1 to ${LONGEST_GLOB} characters`;
  if (/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u.test(glob)) return 'must have no control characters';
  if (/^(?:\/|~(?:\/|$)|[A-Za-z]:[\\/])/.test(glob)) return 'must be relative to the repository';
  if (glob.includes('//')) return 'must have no empty names';
  if (glob.split(/[/{},()|]/).includes('..')) return 'must be inside the repository';
  if (/^(?:\.\/+)*!(?!\()/.test(glob)) return 'must say which files, not which not';
  if (/\(\?/.test(glob)) return 'must be a glob, not a regular expression';
  return Reader.read(glob) ? null : 'must close every bracket and brace, and end no text with \\';
}

/**
 * Whether one of the globs can match the path, which is relative like them.
 * @param steps is counted down, so that many questions share one bound; once it is used up the answer is no
 */
export function covers(globs: readonly string[], path: string, steps: Steps = { left: Infinity }): boolean {
  steps.firsts ??= new Map();
  const { firsts } = steps;
  return globs.some((glob) => {
    steps.left -= 1 / STATES_A_STEP;
    if (steps.left <= 0) return false;
    const one = known(glob, firsts);
    if (!path.startsWith(one.prefix)) return false;
    // Counted before it is made, as making one can cost more than is left: a character makes five states at most.
    if (!one.automaton) steps.left -= (glob.length * 5) / STATES_A_STEP;
    if (steps.left <= 0) return false;
    one.automaton ??= automaton(glob);
    return runs(one.automaton, path, steps);
  });
}

const known = (glob: string, firsts: Map<string, KnownGlob>): KnownGlob =>
  firsts.get(glob) ?? firsts.set(glob, { prefix: prefixOf(glob), automaton: null }).get(glob)!;

/**
 * Whether a path can be matched by a glob of each.
 * @param steps is counted down, so that many questions share one bound; once it is used up nothing is made any more
 */
export function overlap(a: readonly string[], b: readonly string[], steps: Steps = { left: STEPS }): boolean {
  steps.firsts ??= new Map();
  const { firsts } = steps;
  const make = (glob: string): Automaton => {
    const made = automaton(glob);
    steps.left -= Math.ceil(made.states.length / STATES_A_STEP);
    return made;
  };
  return b.some((other) => {
    const prefix = prefixOf(other);
    let second: Automaton | null = null;
    return a.some((glob) => {
      const one = known(glob, firsts);
      if (!one.prefix.startsWith(prefix) && !prefix.startsWith(one.prefix)) return false;
      if (steps.left <= 0) return true;
      second ??= make(other);
      one.automaton ??= make(glob);
      return meet(one.automaton, second, steps);
    });
  });
}

/** The text before what is special; the slash before `**` may be missing in a match. */
function prefixOf(glob: string): string {
  const plain = plainly(glob);
  return plain.slice(0, plain.search(/[*?+@!()[\]{}\\]|$/)).replace(/\/$/, '');
}

/** Without `./`, and with everything in a folder that is named as one. */
const plainly = (glob: string): string =>
  glob
    .replace(/^(?:\.\/+)+/, '')
    .replace(/\/$/, '/**')
    .replace(/(^|\/)\*{2,}(?:\/\*{2,})+(?=\/|$)/g, '$1**');

/** Whether it can match no other path than itself. @param glob without `./` and without a slash at its end */
export const isPlain = (glob: string): boolean => prefixOf(glob) === glob;

/** One character of a path: a certain one, any but a slash, any, or one of a class. */
type Atom = { char: string } | { class: string; not: boolean } | 'name' | 'any';

interface State {
  /** Where it goes without a character. */
  free: number[];
  /** Where it goes with one. */
  step: { atom: Atom; to: number } | null;
}

interface Automaton {
  states: State[];
  end: number;
}

/** What is not well formed can match all. */
const automaton = (glob: string): Automaton => Reader.read(glob) ?? Reader.read('**')!;

/** Reads a glob into states, from its start (0) to its end. */
class Reader {
  readonly states: State[] = [];
  readonly #text: string;
  /** Where a folder and what is below it may be the folder alone, if the rest may be empty. */
  readonly #skips: { from: number; to: number }[] = [];
  #at = 0;
  #bad = false;

  private constructor(text: string) {
    this.#text = text;
  }

  /** Null if it is not well formed. */
  static read(glob: string): Automaton | null {
    const reader = new Reader(plainly(glob));
    const start = reader.#state();
    const end = reader.#state();
    // Alternatives stand in groups.
    if (reader.#choices(start, end, '') > 1) reader.#bad = true;
    // A glob that is the path itself matches it: names of files may have brackets.
    reader.#link(reader.#letters(start, glob), end);
    for (const { from, to } of reader.#skips) if (reached(reader.states, [to]).has(end)) reader.#link(from, end);
    return reader.#bad || reader.#at < reader.#text.length ? null : { states: reader.states, end };
  }

  #state(): number {
    return this.states.push({ free: [], step: null }) - 1;
  }

  #link(from: number, to: number): void {
    this.states[from]!.free.push(to);
  }

  #one(from: number, atom: Atom): number {
    const [at, to] = [this.#state(), this.#state()];
    this.#link(from, at);
    this.states[at]!.step = { atom, to };
    return to;
  }

  #letters(from: number, text: string): number {
    return [...text].reduce((at, char) => this.#one(at, { char }), from);
  }

  /** Any number of them. */
  #many(from: number, atom: Atom): number {
    const at = this.#state();
    this.#link(from, at);
    this.#link(this.#one(at, atom), at);
    return at;
  }

  /** Texts between `|`, and in braces between commas, up to the closing character. @returns how many */
  #choices(start: number, end: number, close: string): number {
    for (let count = 1; ; count++) {
      const from = this.#state();
      this.#link(start, from);
      this.#link(this.#sequence(from, close), end);
      const stop = this.#text[this.#at];
      if (stop === undefined || stop === close) return count;
      this.#at++;
    }
  }

  #sequence(from: number, close: string): number {
    let at = from;
    for (;;) {
      const rest = this.#text.slice(this.#at, this.#at + 8);
      const char = rest[0];
      if (char === undefined || char === close || char === '|' || (char === ',' && close === '}')) return at;
      if (this.#bad) return at;
      at = this.#part(at, char, rest);
    }
  }

  #part(from: number, char: string, rest: string): number {
    if (rest[1] === '(' && '@?*+!'.includes(char)) return this.#group(from, char, 2);
    if (char === '(') return this.#group(from, '@', 1);
    if (char === '{') return this.#braces(from);
    if (char === '[') return this.#bracket(from);
    if (char === '*') return this.#stars(from);
    if (/^\/\*\*(?:$|[|,)}])/.test(rest)) return this.#below(from);
    if (/^\/\*{2,}\//.test(rest)) return this.#between(from);
    this.#at++;
    if (char === '?') return this.#one(from, 'name');
    if (char === '+') return this.#many(from, { char });
    if (char !== '\\') return this.#one(from, { char });
    const escaped = this.#text[this.#at++];
    if (escaped === undefined) this.#bad = true;
    return this.#one(from, { char: escaped ?? '' });
  }

  /** `/**` at an end: what is before it, too. */
  #below(from: number): number {
    this.#at += 3;
    const to = this.#state();
    this.#link(this.#many(this.#one(from, { char: '/' }), 'any'), to);
    this.#link(from, to);
    return to;
  }

  #between(from: number): number {
    this.#at++;
    const to = this.#stars(this.#one(from, { char: '/' }));
    this.#skips.push({ from, to });
    return to;
  }

  #stars(from: number): number {
    const start = this.#at;
    // The last before a parenthesis belongs to that.
    while (this.#text[this.#at] === '*' && (this.#at === start || this.#text[this.#at + 1] !== '(')) this.#at++;
    const [before, after] = [this.#text[start - 1] ?? '/', this.#text[this.#at] ?? '/'];
    const alone = '/({,|'.includes(before) && '/)},|'.includes(after);
    const beside = '()[]{}@?+!*'.includes(before) || '()[]{}@?+!*'.includes(after);
    if (this.#at - start < 2 || !(alone || beside)) return this.#many(from, 'name');
    const any = this.#many(from, 'any');
    if (!alone || this.#text[this.#at] !== '/') return any;
    this.#at++;
    const to = this.#one(any, { char: '/' });
    this.#link(from, to);
    return to;
  }

  /** `@(a|b)` and its kin; without a letter before it, it is one of them. */
  #group(from: number, kind: string, opening: number): number {
    this.#at += opening;
    const [start, end] = [this.#state(), this.#state()];
    this.#link(from, start);
    this.#choices(start, end, ')');
    this.#closed(')');
    if (kind === '?' || kind === '*') this.#link(start, end);
    if (kind === '+' || kind === '*') this.#link(end, start);
    // What is not one of them can be anything.
    if (kind === '!') this.#link(this.#many(start, 'any'), end);
    return this.#repeated(start, end);
  }

  #braces(from: number): number {
    const begin = this.#at++;
    const [start, end] = [this.#state(), this.#state()];
    this.#link(from, start);
    const count = this.#choices(start, end, '}');
    this.#closed('}');
    const text = this.#text.slice(begin, this.#at);
    if (count === 1) this.#link(this.#letters(start, text), end);
    if (text.includes('..')) this.#link(this.#many(start, 'name'), end);
    return this.#repeated(start, end);
  }

  /** A class, or a name that is written in brackets. */
  #bracket(from: number): number {
    const begin = this.#at;
    const [all, not, inside] = /^\[([!^]?)(\]?(?:\\.|[^\]\\])*)\]/s.exec(this.#text.slice(begin)) ?? [];
    if (all === undefined || inside === '') {
      this.#bad = true;
      return from;
    }
    this.#at += all.length;
    const [start, end] = [this.#state(), this.#state()];
    this.#link(from, start);
    this.#link(this.#letters(start, all), end);
    if (/[[\\\]]/.test(inside!)) this.#link(this.#many(start, 'name'), end);
    // Whether ! says "none of them" depends on an option.
    else if (not === '!') this.#link(this.#one(start, 'name'), end);
    else this.#link(this.#one(start, { class: inside!, not: not !== '' }), end);
    return this.#repeated(start, end);
  }

  /** A sign after a group that repeats it, or is itself. */
  #repeated(start: number, end: number): number {
    const sign = this.#text[this.#at];
    if ((sign !== '+' && sign !== '?') || this.#text[this.#at + 1] === '(') return end;
    this.#at++;
    this.#link(start, end);
    this.#link(end, start);
    const to = this.#one(end, 'name');
    this.#link(end, to);
    return to;
  }

  #closed(by: string): void {
    if (this.#text[this.#at] === by) this.#at++;
    else this.#bad = true;
  }
}

function takes(atom: Atom, char: string): boolean {
  if (atom === 'any') return true;
  if (atom === 'name') return char !== '/';
  if ('char' in atom) return atom.char === char;
  return atom.not ? char !== '/' && !within(atom.class, char) : within(atom.class, char);
}

/** Whether a class has the character: by itself or in a range. */
function within(inside: string, char: string): boolean {
  const chars = [...inside];
  return chars.some(
    (one, at) => one === char || (one === '-' && (chars[at - 1] ?? one) <= char && char <= (chars[at + 1] ?? one)),
  );
}

/** Whether one character is taken by both; of two classes it is not asked. */
function both(a: Atom, b: Atom): boolean {
  if (typeof a === 'object' && 'char' in a) return takes(b, a.char);
  if (typeof b === 'object' && 'char' in b) return takes(a, b.char);
  return true;
}

/** Whether an automaton takes the whole path; no where the steps end before it. */
function runs({ states, end }: Automaton, path: string, steps: Steps): boolean {
  let now = reached(states, [0]);
  for (const char of path) {
    steps.left -= now.size / STATES_A_STEP;
    if (steps.left <= 0) return false;
    const next: number[] = [];
    for (const at of now) {
      const { step } = states[at]!;
      if (step && takes(step.atom, char)) next.push(step.to);
    }
    now = reached(states, next);
    if (now.size === 0) return false;
  }
  return now.has(end);
}

/** The states there and those that follow without a character. */
function reached(states: readonly State[], from: readonly number[]): Set<number> {
  const all = new Set(from);
  for (const at of all) for (const next of states[at]!.free) all.add(next);
  return all;
}

/** Whether two automata can come to their ends by the same path. */
function meet(a: Automaton, b: Automaton, steps: Steps): boolean {
  const width = b.states.length;
  // No table of all pairs: most are never reached, and of two long globs there are half a million.
  const seen = new Set<number>();
  const open = [0];
  const go = (at: number, other: number): void => {
    const pair = at * width + other;
    if (!seen.has(pair)) open.push(pair);
    seen.add(pair);
  };
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    if (steps.left-- <= 0) return true;
    const [at, other] = [Math.floor(pair / width), pair % width];
    if (at === a.end && other === b.end) return true;
    const [one, two] = [a.states[at]!, b.states[other]!];
    for (const next of one.free) go(next, other);
    for (const next of two.free) go(at, next);
    if (one.step && two.step && both(one.step.atom, two.step.atom)) go(one.step.to, two.step.to);
  }
  return false;
}
