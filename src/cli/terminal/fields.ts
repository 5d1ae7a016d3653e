/** Formatting helpers shared by many records. */
import { escapeUntrusted } from '../../contract/text.ts';
import { readable } from './table.ts';

/** `field  value` lines; what is not there is left out. No line of a value begins where the fields do. */
export function fields(pairs: [string, string | null | undefined][]): string[] {
  const there = pairs.filter(
    (pair): pair is [string, string] => pair[1] !== null && pair[1] !== undefined && pair[1] !== '',
  );
  const width = Math.max(0, ...there.map(([name]) => name.length));
  const linesOf = (value: string) =>
    escapeUntrusted(value)
      .split('\n')
      .flatMap((line) => readable(line, width + 2));
  return there.flatMap(([name, value]) =>
    linesOf(value).map((line, i) => `${(i === 0 ? name : '').padEnd(width)}  ${line}`),
  );
}

/** A text of somebody that has to keep to its line, where another line would be taken for ours. */
export const onOneLine = (text: string): string => escapeUntrusted(text).replaceAll(/\s+/g, ' ').trim();

const INDENT = '    ';
const inside = (lines: string[]): string => lines.map((line) => (INDENT + line).trimEnd()).join('\n');

/** A text of somebody, four columns in. Lines of code stay as they are, so that they can be copied. */
export function indented(text: string): string {
  let code = false;
  const lines = escapeUntrusted(text)
    .split('\n')
    .flatMap((line) => {
      const fence = /^ {0,3}(```|~~~)/.test(line);
      code = fence ? !code : code;
      return fence || code || /^(\t| {4})/.test(line) ? [line] : readable(line, INDENT.length);
    });
  return inside(lines);
}

/** A text to copy, four columns in, with its lines as they are. */
export const copyable = (text: string): string => inside(escapeUntrusted(text).split('\n'));

/** `1 person`, `2 people` */
export function plural(n: number, one: string, many: string): string {
  return `${n} ${n === 1 ? one : many}`;
}

/** `2.1 kB` */
export function sizeText(bytes: number): string {
  if (bytes < 1_000) return `${Math.round(bytes)} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = -1;
  while (value >= 1_000 && unit < units.length - 1) {
    value /= 1_000;
    unit++;
  }
  return `${value.toFixed(1)} ${units[unit]}`;
}
