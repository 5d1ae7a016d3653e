/** Rows by what identifies them. */

/** The ids of rows, in their order. */
export const idsIn = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id);

/** Rows by the value of a field that is another one in each of them. */
export const indexBy = <Row, Field extends keyof Row>(rows: readonly Row[], field: Field): Map<Row[Field], Row> =>
  new Map(rows.map((row) => [row[field], row]));
