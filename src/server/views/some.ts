/** A field that a record has only where there is something to tell. */
export const some = <Name extends string, Value>(
  name: Name,
  value: Value | null | undefined,
): { [K in Name]?: Value } => (value == null ? {} : { [name]: value }) as { [K in Name]?: Value };
