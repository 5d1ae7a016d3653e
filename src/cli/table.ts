/** Columns that line up by display width, so that wide characters and emoji do not push the rest aside. */
import { harmless } from './terminal.ts';

type Measure = (text: string) => number;

const narrow = /^[\x20-\x7e]*$/;

/** How many columns text has: those of the terminal, or 80. */
export const screenWidth = (): number => (process.stdout.isTTY ? process.stdout.columns || 80 : 80);

/** Rows as lines: columns padded, two spaces between, nothing after the last. */
export async function table(records: string[][]): Promise<string[]> {
  // Measured as it will be shown, and a cell never begins another row.
  const rows = records.map((row) => row.map((cell) => harmless(cell).replaceAll('\n', '\\x0a')));
  const measure = await measurerFor(rows);
  const widths = columnWidths(rows, measure);
  const lines = rows.map((row) =>
    row
      .map((cell, i) => (i === row.length - 1 ? cell : pad(cell, widths[i] as number, measure)))
      .join('  ')
      .trimEnd(),
  );
  return process.stdout.isTTY ? lines.map((line) => cut(line, screenWidth(), measure)) : lines;
}

/** Most tables are plain ASCII; the width tables of Unicode are loaded only for the others. */
async function measurerFor(rows: string[][]): Promise<Measure> {
  if (rows.every((row) => row.every((cell) => narrow.test(cell)))) return (text) => text.length;
  return (await import('string-width')).default;
}

function columnWidths(rows: string[][], measure: Measure): number[] {
  const widths: number[] = [];
  for (const row of rows) for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, measure(cell));
  return widths;
}

const pad = (cell: string, width: number, measure: Measure) => cell + ' '.repeat(Math.max(0, width - measure(cell)));

function cut(line: string, width: number, measure: Measure): string {
  if (measure(line) <= width) return line;
  let kept = '';
  for (const point of line) {
    if (measure(kept + point) > width - 1) break;
    kept += point;
  }
  return `${kept}…`;
}
