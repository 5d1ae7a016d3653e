/** Whether a stream gets colour, and the few colours there are. Words are the same without. */
import type { Env } from '../local/folders.ts';
import { ownStyle } from './terminal.ts';

export interface ColorChoice {
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
}

const same = (text: string) => text;
export const plain: Paint = { bold: same, dim: same, red: same, yellow: same };

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
  };
}
