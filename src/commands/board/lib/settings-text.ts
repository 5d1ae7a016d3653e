/** Formats the settings of a board. */

/** `title of demo: before -> after`, or that nothing changed. */
export function changeLine(thing: string, board: string, before: string, after: string): string {
  return before === after ? `${thing} of ${board}: unchanged` : `${thing} of ${board}: ${before} -> ${after}`;
}
