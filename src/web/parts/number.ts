/** Separates thousands with a narrow space: 1 204. */
export const formatNumber = (count: number): string => String(count).replaceAll(/\B(?=(\d{3})+$)/g, '\u202f');

/** "1 task", "2 tasks". */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${formatNumber(count)} ${count === 1 ? one : many}`;

/** Like {@link plural}, with a no-break space. */
export const formatCount = (count: number, one: string, many = `${one}s`): string =>
  `${formatNumber(count)}\u00a0${count === 1 ? one : many}`;

/** "0 bytes", "1.9 KB", "12 MB". */
export function formatBytes(bytes: number): string {
  const units = ['bytes', 'KB', 'MB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit > 0 && value < 10 ? value.toFixed(1) : Math.round(value)}\u00a0${units[unit]}`;
}

/** The least of numbers, infinite without one. `Math.min` takes no more than some 120,000. */
export function least(numbers: Iterable<number>): number {
  let found = Number.POSITIVE_INFINITY;
  for (const each of numbers) if (each < found) found = each;
  return found;
}
