/** Sessions that run for one prompt: their program ends only once its hooks have ended, so none of them may wait. */
import type { Profile } from '../harness/profile.ts';
import type { Env } from '../local/folders.ts';

/** What a harness says of itself to its hooks where nobody sits in front of it. */
const marks: Record<string, (env: Env) => boolean> = {
  // `claude -p` and programs on its SDK; a terminal is `cli`, an editor has a name of its own.
  'claude-code': ({ CLAUDE_CODE_ENTRYPOINT: entry }) => entry?.startsWith('sdk-') ?? false,
};

export const isHeadless = ({ harness }: Profile, env: Env): boolean => marks[harness]?.(env) ?? false;
