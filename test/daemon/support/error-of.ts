/** The code of the refusal in an answer of the control socket; undefined where it is none. */
export const errorOf = (frame: Record<string, unknown>): string | undefined =>
  (frame['error'] as { code: string } | undefined)?.code;
