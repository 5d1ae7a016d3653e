/** Builders for positional arguments. None is ever filled from a pipe: only `src/cli/stdin.ts` reads standard input. */
import * as Args from '@oclif/core/args';

/** An argument that may be left out. */
export const optional = (description: string) => Args.string({ description, ignoreStdin: true });

/** An argument that must be given. */
export const required = (description: string) => Args.string({ description, required: true, ignoreStdin: true });

/** An argument that is one of a few words; it must be given, unless said otherwise. */
export const choice = (description: string, options: readonly string[], required = true) =>
  Args.string({ description, options: [...options], required, ignoreStdin: true });

/** Any number of words. */
export const words = (description: string) => Args.string({ description, multiple: true, ignoreStdin: true });
