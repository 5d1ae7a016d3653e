/** Decides between text and JSON before flags are parsed, so that parse errors use the right format too. */
import type { Env } from '../local/folders.ts';
import { type Mode, Output } from './output.ts';

/** The output the words ask for. */
export function modeOf(argv: string[], env: Env, stream = false): Output {
  const end = argv.indexOf('--');
  const words = end < 0 ? argv : argv.slice(0, end);
  const quiet = words.includes('--quiet') || words.includes('-q');
  return new Output(chosen(words, env, stream), quiet, has(words, '--jq'));
}

function chosen(words: string[], env: Env, stream: boolean): Mode {
  if (words.includes('--ndjson')) return 'ndjson';
  const json = has(words, '--json') || has(words, '--jq') || env.SERVICE_CONTENT_TYPE?.toLowerCase() === 'json';
  if (!json) return 'text';
  return stream ? 'ndjson' : 'json';
}

const has = (words: string[], flag: string): boolean =>
  words.some((word) => word === flag || word.startsWith(`${flag}=`));
