/** Rules for commands that only read (`readOnly`): a subagent may run no others, whatever `--as` says. */

export interface Given {
  flags: Record<string, unknown>;
  args: Record<string, unknown>;
}

/** Whether a call only reads: always, never, or depending on its flags and arguments. */
export type ReadOnly = boolean | ((given: Given) => boolean);

/** Only reads if none of these flags and arguments is given. */
export const without =
  (...names: string[]): ReadOnly =>
  ({ flags, args }) =>
    names.every((name) => !flags[name] && !args[name]);
