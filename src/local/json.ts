/** Parsing of JSON that may be invalid. */

/** The value of a JSON text; null if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The object of a JSON text; null if it is not a JSON object. */
export function parseJsonObject(text: string): Record<string, unknown> | null {
  const value = parseJson(text);
  return typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown> | null) : null;
}
