/** Pages of lists that are read with one row too many. */

/** Cuts that row off, and says where the next page begins. @param after what it begins after, of the last row */
export function cut<Row extends object, After>(rows: readonly Row[], limit: number, after: (last: Row) => After) {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { page, next_after: rows.length > limit && last ? after(last) : null };
}
