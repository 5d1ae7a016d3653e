/** Shows the progress of a transfer on standard error, if that is a terminal, and clears it at the end. */
import type { Output } from '../output.ts';
import { undoAtExit } from '../signals.ts';
import { sizeText } from './fields.ts';
import { eraseLine, harmless, show } from './terminal.ts';

const AFTER_MS = 500;
const EVERY_MS = 100;
const WIDTH = 24;
/** Of a terminal that does not say how wide it is. */
const USUAL_COLUMNS = 80;

interface Progress {
  at(done: number, total: number): void;
  end(): void;
}

/** How an amount is written. */
type Amount = (n: number) => string;

/** @param what is shown before the bar, such as the name of the file. @param amount of bytes, unless something else is counted. */
export function progressOf(out: Output, what: string, amount: Amount = sizeText): Progress {
  if (!process.stderr.isTTY || out.mode !== 'text' || out.quiet) return { at() {}, end() {} };
  const started = performance.now();
  let drawn = 0;
  let forget = () => {};
  const name = harmless(what);
  return {
    at(done, total) {
      const now = performance.now();
      if (now - started < AFTER_MS || now - drawn < EVERY_MS) return;
      if (drawn === 0) forget = undoAtExit(() => eraseLine(process.stderr));
      drawn = now;
      const columns = process.stderr.columns || USUAL_COLUMNS;
      eraseLine(process.stderr);
      show(process.stderr, lineOf(name, { done, total, seconds: (now - started) / 1000 }, columns - 1, amount));
    },
    end() {
      if (drawn > 0) eraseLine(process.stderr);
      forget();
    },
  };
}

interface State {
  done: number;
  total: number;
  /** Since it began. */
  seconds: number;
}

/** One line of at most so many characters: what wraps could not be erased. The name gives way first, then the bar. */
export function lineOf(what: string, { done, total, seconds }: State, room: number, amount: Amount = sizeText): string {
  const share = total === 0 ? 1 : done / total;
  const rate = seconds > 0 ? done / seconds : 0;
  const left = rate > 0 ? `  ${Math.ceil((total - done) / rate)}s left` : '';
  const numbers = `${Math.round(share * 100)}%  ${amount(done)} of ${amount(total)}  ${amount(rate)}/s${left}`;
  const bar = '#'.repeat(Math.round(share * WIDTH)).padEnd(WIDTH, '-');
  const withBar = `${bar}  ${numbers}`;
  if (withBar.length > room) return numbers.slice(0, Math.max(0, room));
  const name = what.slice(0, Math.max(0, room - withBar.length - 2));
  return name.length < 3 ? withBar : `${name}  ${withBar}`;
}
