/** Decides whether a stream gets colour, and defines the colours. Text never depends on them. */
import type { Env } from '../../local/folders.ts';
import { ownStyle } from './terminal.ts';

interface ColorChoice {
  noColor: boolean;
  color: string | undefined;
  machine: boolean;
  /** An agent's program reads it. */
  inside?: boolean;
  env: Env;
}

/** The first rule that applies decides; each stream is judged apart. */
export function wantsColor(choice: ColorChoice, terminal: boolean): boolean {
  const { env } = choice;
  if (choice.noColor || choice.color === 'never') return false;
  if (choice.color === 'always') return true;
  if (choice.inside) return false;
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR && env.FORCE_COLOR !== '0') return true;
  if (env.TERM === 'dumb' || choice.machine) return false;
  return terminal;
}

export interface Paint {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  yellow(text: string): string;
  green(text: string): string;
  cyan(text: string): string;
}

const same = (text: string) => text;
export const plain: Paint = { bold: same, dim: same, red: same, yellow: same, green: same, cyan: same };

/** Paint for a stream; the colour library is loaded only where there is colour. */
export async function paintFor(on: boolean): Promise<Paint> {
  if (!on) return plain;
  const { Chalk } = await import('chalk');
  const chalk = new Chalk({ level: 1 });
  return {
    bold: ownStyle(chalk.bold),
    dim: ownStyle(chalk.dim),
    red: ownStyle(chalk.red),
    yellow: ownStyle(chalk.yellow),
    green: ownStyle(chalk.green),
    cyan: ownStyle(chalk.cyan),
  };
}

let ofOutput: Paint = plain;

/** The colours of standard output, for what lays text out without knowing where it goes. */
export const colours = (): Paint => ofOutput;

/** Set once, when the flags are known. */
export function setColours(paint: Paint): void {
  ofOutput = paint;
}

const good = /^(active|allowed|answered|connected|done|in progress|read|received|replied|running|taken up|working)\b/;
const waiting = /^(idle|late|open|paused|pending|started|unknown|waiting)\b/;
const bad = /^(blocked|failed|not)\b/;
const over = /^(cancelled|closed|declined|disconnected|ended|exited|expired|no|removed|revoked|used|withdrawn)\b/;

/** How a state is painted, by the word that it begins with. */
export function stateColour(state: string, paint: Paint): (text: string) => string {
  if (bad.test(state)) return paint.red;
  if (waiting.test(state)) return paint.yellow;
  if (over.test(state)) return paint.dim;
  return good.test(state) ? paint.green : same;
}
