/** Says what was typed where an error of a server says which field of the request that became. */
import { span } from '../terminal/time.ts';

type Named = Record<string, unknown>;

/** Such as `suggested_handle: …` as `--handle: …`, with seconds as a duration; any other message stays. */
export function asTyped(message: string, { args, flags }: { args: Named; flags: Named }): string {
  const [, field = '', said = ''] = /^([a-z_]+): ([\s\S]*)$/.exec(message) ?? [];
  const name = field === 'q' ? 'query' : field.replace(/^suggested_|_id$|_seconds$/, '').replaceAll('_', '-');
  // A command that renames takes two values of one kind, and the field does not say which of them it was.
  const one = Object.hasOwn(args, name) && !Object.hasOwn(args, 'new');
  const typed = one ? name.toUpperCase() : Object.hasOwn(flags, name) ? `--${name}` : null;
  if (typed === null) return message;
  const told = field.endsWith('_seconds') ? said.replaceAll(/\d+/g, (seconds) => span(Number(seconds))) : said;
  return `${typed}: ${told}`;
}
