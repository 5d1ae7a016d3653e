/** Sessions that run for one prompt: their program ends only once its hooks have ended, so none of them may wait. */
import type { Profile } from '../harness/profile.ts';
import type { Env } from '../local/folders.ts';

/** How a harness without a person at the terminal identifies itself to its hooks. */
const marks: Record<string, (env: Env) => boolean> = {
  // `claude -p` and programs on its SDK; a terminal is `cli`, an editor has a name of its own.
  'claude-code': ({ CLAUDE_CODE_ENTRYPOINT: entry }) => entry?.startsWith('sdk-') ?? false,
};

export const isHeadless = ({ harness }: Profile, env: Env): boolean => marks[harness]?.(env) ?? false;
