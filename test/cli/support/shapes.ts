/** Holds what commands print with `--json` against the shapes that are published for them. */
import { choose } from '../../../src/cli/dispatch.ts';
import { commandNames, readCatalog } from '../../../src/cli/help/catalog.ts';
import { failureShape, shapeOf } from '../../../tools/shapes.ts';
import { publishedSchemas } from './published-schemas.ts';
import { root } from './root.ts';

const names = commandNames(readCatalog(root));
const schemas = publishedSchemas();

/** Commands whose JSON was seen and fits. */
export const seen = new Set<string>();

/** @param args the words after `service`. @throws Error where something was printed that does not fit. */
export async function checkShape(
  args: string[],
  { code, stdout }: { code: number | null; stdout: string },
): Promise<void> {
  const streams = args.includes('--ndjson');
  if (!streams && !args.includes('--json')) return;
  // Some of the JSON has no shape of its own.
  if (args.some((arg) => arg === '--jq' || /^--(jq|json)=/.test(arg))) return;
  const chosen = choose(args, names);
  if (chosen.kind !== 'command') return;
  const { id } = chosen;
  const shape = await shapeOf(id);
  for (const record of recordsIn(stdout)) {
    const failed =
      code !== 0 && typeof record === 'object' && record !== null && 'error' in record && !('line' in record);
    // A list that is streamed prints its records alone.
    if (!failed && (streams || !shape)) continue;
    const parsed = (failed ? failureShape : shape!).safeParse(record);
    if (!parsed.success)
      throw new Error(`service ${args.join(' ')}: ${parsed.error.message}\n${stdout.slice(0, 2_000)}`);
    const file = failed ? 'error.json' : `${id.replaceAll(':', '-')}.json`;
    if (!seen.has(id) && !schemas.validate(file, record))
      throw new Error(`service ${args.join(' ')}: ${file}: ${schemas.errorsText()}\n${stdout.slice(0, 2_000)}`);
    if (!failed) seen.add(id);
  }
}

/** One object, or one on each line. */
function recordsIn(stdout: string): unknown[] {
  if (!stdout.trimStart().startsWith('{')) return [];
  try {
    return [JSON.parse(stdout)];
  } catch {
    return stdout
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));
  }
}
