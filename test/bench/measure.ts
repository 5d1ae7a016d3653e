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
  /** The number `target` speaks about. */
  ratio?: number;
  target?: { op: '>=' | '<='; value: number };
  /** The bar that it is in a chart. */
  chart?: { title: string } & Bar;
}

export const reached = ({ ratio, target }: Figure): boolean | null =>
  ratio === undefined || target === undefined
    ? null
    : target.op === '>='
      ? ratio >= target.value
      : ratio <= target.value;

export const round = (value: number, digits = 2): string => value.toFixed(digits);
