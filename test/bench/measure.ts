/** Figures from samples. */
import type { Bar } from './chart.ts';

/** The value in the middle. @param values at least one. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The smallest value that at least this share of the values does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = Math.min(sorted.length - 1, Math.max(0, Math.ceil(sorted.length * share) - 1));
  return sorted[at] ?? Number.NaN;
}

/** Measures the share of one core that this process, the load, uses from now until the returned function is called. */
export function ownCpu(): () => number {
  const from = process.cpuUsage();
  const start = performance.now();
  return () => {
    const { user, system } = process.cpuUsage(from);
    return (user + system) / 1000 / (performance.now() - start);
  };
}

/** One line of the report: a measured figure and, where there is one, what it should be. */
export interface Figure {
  name: string;
  value: string;
  /** The number that `target` is about. */
  ratio?: number;
  target?: { op: '>=' | '<='; value: number };
  /** Without a target it stands in the README all the same. */
  headline?: true;
  /** The bar that it is in a chart. */
  chart?: { title: string } & Bar;
}

/** What a figure should be and whether it is; empty where it has no target. */
export function verdict({ ratio = Number.NaN, target }: Figure): string {
  if (!target) return '';
  const { op, value } = target;
  const reached = op === '>=' ? ratio >= value : ratio <= value;
  return `${op === '>=' ? '≥' : '≤'} ${value.toLocaleString('en')}: ${reached ? 'reached' : 'not reached'}`;
}

export const round = (value: number, digits = 2): string => value.toFixed(digits);
