/** Sessions for a single prompt: their program only ends after its hooks, so hooks must not wait. */
import type { Profile } from '../harness/profile.ts';
import type { Env } from '../local/folders.ts';

/** How hooks detect that a harness runs without a person at the terminal. */
const headlessChecks: Record<string, (env: Env) => boolean> = {
  // `sdk-…` for `claude -p` and programs that use its SDK; `cli` in a terminal; editors have other names.
  'claude-code': ({ CLAUDE_CODE_ENTRYPOINT: entry }) => entry?.startsWith('sdk-') ?? false,
};

export const isHeadless = ({ harness }: Profile, env: Env): boolean => headlessChecks[harness]?.(env) ?? false;
