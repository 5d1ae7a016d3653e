/** Prints aligned columns by display width, so that wide characters and emoji do not shift the rest. */
import { colours, stateColour } from './color.ts';
import { harmless } from './terminal.ts';

type Measure = (text: string) => number;

const ascii = /^[\x20-\x7e]*$/;
/** A column gives way to this width before it is moved to the next line. */
const NARROW = 20;
/** How far in the columns stand for which there was no room beside the others. */
const INDENT = 4;
const GAP = 2;
/** Of a cell, so much is shown at a terminal. */
const MOST = 1_000;
/** Words as long as a name or an id are not broken, however narrow the screen is: they are copied into the next command. */
const NAME = 40;
/** The columns with commands to paste, which stay in one piece. */
const COMMANDS = /^LOOK AT IT$/;

/** How many columns text has: those of the terminal, or 80. */
export const screenWidth = (): number => (process.stdout.isTTY ? process.stdout.columns || 80 : 80);

/**
 * Rows under their heads, two spaces between columns; nothing where there are no rows. Columns in which nothing stands are
 * left out. At a terminal that is too narrow, columns get narrower and their texts run over several lines, with words broken
 * that take more than half of it; those for which there is no room even so stand below the others. Each row is one of the strings, whatever lines it has.
 * @param taken columns of the screen that something else takes
 */
export async function table(heads: readonly string[], rows: readonly string[][], taken = 0): Promise<string[]> {
  if (rows.length === 0) return [];
  const kept = heads.flatMap((_, i) => (rows.some((row) => row[i]) ? [i] : []));
  const texts = [heads, ...rows].map((row) => kept.map((i) => row[i] ?? ''));
  const width = process.stdout.isTTY ? screenWidth() - taken : Number.POSITIVE_INFINITY;
  return laidOut(texts, width, await measurerFor(texts));
}

/** Most tables are plain ASCII; the width tables of Unicode are loaded only for the others. */
async function measurerFor(rows: string[][]): Promise<Measure> {
  if (rows.every((row) => row.every((cell) => ascii.test(cell)))) return (text) => text.length;
  return (await import('string-width')).default;
}

interface Line {
  text: string;
  wide: number;
}

/** What is broken only where it is too long: a word, or a character of a script that is written without spaces. */
interface Unit extends Line {
  /** What stands before it in the same line. */
  gap: '' | ' ';
}

interface Column {
  i: number;
  wide: number;
  /** How narrow it gets. */
  least: number;
}

/**
 * The lines of each row of a table, the heads first.
 * @param texts the heads, then the rows, all of as many cells
 * @param room columns of the screen, or infinity
 */
export function laidOut(texts: readonly string[][], room: number, measure: Measure): string[] {
  const heads = texts[0] ?? [];
  const roomOf = (head: string) => (COMMANDS.test(head) ? Number.POSITIVE_INFINITY : room);
  const cells = texts.map((row) => row.map((text, i) => unitsOf(text, roomOf(heads[i]!), measure)));
  const columns = heads.map((head, i) => columnOf(i, cells, Math.max(NAME, Math.floor(roomOf(head) / 2))));
  const groups = sum(columns) <= room ? [columns] : grouped(columns, room);
  return texts.map((row, r) =>
    groups
      .flatMap((group, n) => {
        const indent = n === 0 ? '' : ' '.repeat(INDENT);
        const paints = group.map(({ i }) => (r === 0 ? colours().dim : colourOf(heads[i]!, row[i]!)));
        const blocks = group.map(({ i, wide }) => {
          const units = cells[r]![i]!;
          // With nothing beside it, a long word goes on as the terminal has it, and is copied whole.
          const alone = group.length === 1 || COMMANDS.test(heads[i]!);
          return linesOf(alone ? units : units.flatMap((unit) => broken(unit, wide, measure)), wide);
        });
        return Array.from({ length: most(blocks.map(({ length }) => length)) }, (_, l) => {
          const parts = group.map(({ wide }, k) => padded(blocks[k]![l], wide, paints[k]!));
          return (indent + parts.join(' '.repeat(GAP))).trimEnd();
        });
      })
      .filter((line) => line !== '')
      .join('\n'),
  );
}

/** @param longest the widest word that is not broken */
function columnOf(i: number, cells: readonly Unit[][][], longest: number): Column {
  const own = cells.map((row) => row[i]!);
  const wide = most(own.map((units) => units.reduce((all, unit) => all + unit.gap.length + unit.wide, 0)));
  const words = own.map((units) => most(units.map((unit) => unit.wide).filter((word) => word <= longest)));
  return { i, wide, least: Math.min(wide, Math.max(NARROW, most(words))) };
}

const most = (numbers: readonly number[]): number => numbers.reduce((a, b) => Math.max(a, b), 0);

const sum = (columns: readonly Pick<Column, 'wide'>[]): number => columns.reduce((all, c) => all + c.wide + GAP, -GAP);

/** Columns that fit beside each other, in their order, as wide as there is room for. */
function grouped(columns: readonly Column[], width: number): Column[][] {
  const groups: Column[][] = [];
  for (const column of columns) {
    const last = groups.at(-1);
    const beside = [...(last ?? []), column].map(({ least }) => ({ wide: least }));
    if (last && sum(beside) <= width - (groups.length > 1 ? INDENT : 0)) last.push(column);
    else groups.push([column]);
  }
  return groups.map((group, n) => fitted(group, width - (n === 0 ? 0 : INDENT)));
}

/** Takes from the widest until all fit. */
function fitted(group: readonly Column[], room: number): Column[] {
  const columns = group.map((column) => ({ ...column, least: Math.min(column.least, room) }));
  for (let over = sum(columns) - room; over > 0; over--) {
    const giving = columns.filter(({ wide, least }) => wide > least);
    const widest = most(giving.map(({ wide }) => wide));
    const column = giving.find(({ wide }) => wide === widest);
    if (!column) break;
    column.wide--;
  }
  return columns;
}

/**
 * Each with the marks that must not begin a line, or what stands between them. Made with the first text that is not ASCII: to
 * make it takes half a millisecond of every start.
 */
let ideographs: RegExp | null = null;
function partsOf(word: string): string[] {
  const one = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]`;
  const marks = String.raw`[\u3001\u3002\u300d\u300f\uff01\uff09\uff0c\uff1f]*`;
  ideographs ??= new RegExp(`${one}${marks}|(?:(?!${one}).)+`, 'gsu');
  return word.match(ideographs) ?? [];
}

/** What a cell is made of; all of it is one unit where there is room for anything. */
function unitsOf(cell: string, room: number, measure: Measure): Unit[] {
  if (room === Number.POSITIVE_INFINITY) {
    const text = shown(cell);
    return [{ text, wide: measure(text), gap: '' }];
  }
  return parted(shown(cut(cell)), measure);
}

function parted(line: string, measure: Measure): Unit[] {
  return line.split(' ').flatMap((word, w) => {
    const parts = ascii.test(word) ? [word] : partsOf(word);
    return parts.map((text, i) => ({ text, wide: measure(text), gap: w > 0 && i === 0 ? ' ' : '' }));
  });
}

/** As it is printed and so measured; and a cell never begins another row. */
const shown = (cell: string): string => harmless(cell).replaceAll('\n', '\\x0a');

/** Cut between two characters, if it is that long. */
function cut(cell: string): string {
  if (cell.length <= MOST) return cell;
  const at = new Intl.Segmenter().segment(cell.slice(0, 2 * MOST)).containing(MOST)?.index;
  return `${cell.slice(0, at)}…`;
}

/** A word as parts of at most this width, each of whole characters. */
function broken(unit: Unit, width: number, measure: Measure): Unit[] {
  if (unit.wide <= width) return [unit];
  const parts: Unit[] = [];
  for (const { segment: text } of new Intl.Segmenter().segment(unit.text)) {
    const wide = measure(text);
    const last = parts.at(-1);
    if (last && last.wide + wide <= width) {
      last.text += text;
      last.wide += wide;
    } else {
      parts.push({ text, wide, gap: last ? '' : unit.gap });
    }
  }
  return parts;
}

/** The cell as lines of at most this width; a longer word goes on as the terminal has it. */
function linesOf(units: readonly Unit[], width: number): Line[] {
  const lines: Line[] = [];
  for (const { text, wide, gap } of units) {
    const last = lines.at(-1);
    const joined = (last?.wide ?? 0) + gap.length + wide;
    if (last && joined <= width) {
      last.text += gap + text;
      last.wide = joined;
    } else {
      lines.push({ text, wide });
    }
  }
  return lines;
}

let reading: Measure | null = null;

/** Where a person reads at a terminal: what texts are then measured with is loaded once. */
export async function prepareReading(): Promise<void> {
  reading = (await import('string-width')).default;
}

/** A line as lines with whole words, for a terminal that has so many columns less; as it is where nobody reads at one. */
export const readable = (line: string, taken: number): string[] =>
  reading === null ? [line] : linesOf(parted(line, reading), screenWidth() - taken).map(({ text }) => text);

/** The same of a line whose later lines begin further in. */
export const hanging = (line: string): string[] =>
  readable(line, INDENT).map((part, i) => (i === 0 ? part : ' '.repeat(INDENT) + part));

/** Whether a line fits the terminal as it is. */
export const fits = (line: string): boolean => reading === null || reading(line) <= screenWidth();

/** Colour comes last, so that it takes no room. */
function padded(line: Line | undefined, width: number, paint: (text: string) => string): string {
  return line === undefined ? ' '.repeat(width) : paint(line.text) + ' '.repeat(Math.max(0, width - line.wide));
}

/** Names, what refers to something, and states are told apart. */
function colourOf(head: string, cell: string): (text: string) => string {
  const paint = colours();
  if (/^(NAME|HANDLE|OWNER|BY|FROM|AGENT|WHO|WITH)$/.test(head)) return paint.cyan;
  if (/^(EVENT|ID|REF|TASKS?|MESSAGE|VERSION)$/.test(head)) return paint.yellow;
  return head === 'STATE' ? stateColour(cell, paint) : (text) => text;
}
