/** A file of another user of this machine. */
import { lchownSync } from 'node:fs';

const STRANGER = 12_345;

/**
 * Makes a file, or a link to one, another user's. Only root can give one away; anybody else's program is told that it runs for somebody else.
 * @returns what to put into its environment
 */
export function givenAway(path: string): Record<string, string> {
  if (process.getuid?.() !== 0) return { NODE_OPTIONS: `--import=data:text/javascript,process.getuid=()=>${STRANGER}` };
  lchownSync(path, STRANGER, STRANGER);
  return {};
}
