/** What of a command's JSON is printed: `--json=FIELD,…`, by the schema that is published for it, and `--jq`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, usage } from '../local/failure.ts';
import { isDone, runtime } from './runtime.ts';

interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
}

type Json = Record<string, unknown>;

/**
 * What is left of a record: of a list its items, of a record such as `task` or `message` its fields and those beside it.
 *
 * @param command `list`: it prints items.
 * @throws Failure for a field that there is not.
 */
export function fieldPicker(command: { id: string; list: boolean }, text: string): (record: object) => unknown {
  const fields = text.split(',').map((field) => field.trim());
  const { known, holders } = shapeOf(command);
  const unknown = fields.filter((field) => !known.has(field));
  if (unknown.length > 0)
    throw usage(
      known.size === 0 ? '--json takes no fields here.' : `--json knows no field "${unknown.join('", "')}" here.`,
      known.size === 0 ? '' : `The fields are ${[...known].join(', ')}`,
    );
  const pickedFrom = (inner: Json, outer: Json): Json =>
    Object.fromEntries(fields.map((field) => [field, inner[field] ?? outer[field] ?? null]));
  return (record) => {
    const whole = record as Json;
    const held = holders.map((name) => whole[name]).find((value) => typeof value === 'object' && value !== null);
    if (Array.isArray(held)) return held.map((item: Json) => pickedFrom(item, {}));
    return pickedFrom((held ?? {}) as Json, whole);
  };
}

/** The fields that can be asked for, and under which names a list or record of them stands. */
function shapeOf({ id, list }: { id: string; list: boolean }): { known: Set<string>; holders: string[] } {
  const { $defs: definitions = {} } = readSchema('definitions');
  const resolved = (part: Schema): Schema[] => {
    if (part.$ref !== undefined) return resolved(definitions[part.$ref.split('/').at(-1) ?? ''] ?? {});
    return [part, ...[...(part.anyOf ?? []), ...(part.oneOf ?? [])].flatMap(resolved)];
  };
  const formsOf = (part: Schema): Record<string, Schema>[] =>
    resolved(part).flatMap(({ properties, allOf = [] }) =>
      properties ? [Object.assign({}, ...allOf.flatMap(formsOf), properties)] : [],
    );
  const namesIn = (part: Schema): string[] => formsOf(part).flatMap(Object.keys);
  const itemsOf = (part: Schema): string[] => resolved(part).flatMap(({ items }) => (items ? namesIn(items) : []));

  const known = new Set<string>();
  const holders: string[] = [];
  const base = namesIn(definitions['Base'] ?? {});
  const forms = formsOf(readSchema(id.replaceAll(':', '-')));
  // The further forms of a list are its items, one by one.
  for (const form of list ? forms.slice(0, 1) : forms) {
    const own = Object.entries(form).filter(([name]) => !base.includes(name));
    const items = list ? own.find(([, part]) => itemsOf(part).length > 0) : undefined;
    // Of a change, what was before is no more the record than what is after.
    const record = own.slice(0, 1).find(([name, part]) => name !== 'before' && namesIn(part).length > 0);
    const [holder, part] = items ?? record ?? [];
    if (holder !== undefined) holders.push(holder);
    if (part) for (const name of items ? itemsOf(part) : namesIn(part)) known.add(name);
    if (!items) for (const name of Object.keys(form)) known.add(name);
  }
  return { known, holders };
}

/** @param name of a published schema; one that is not published describes nothing. */
function readSchema(name: string): Schema {
  try {
    return JSON.parse(readFileSync(join(runtime().root, 'schemas', 'cli', `${name}.json`), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}

/**
 * Each value on a line of its own, texts as they are.
 *
 * @param indented whether objects and lists are spread over lines, for people to read.
 * @throws Failure for an invalid expression, before anything is printed.
 */
export async function jqFilter(expression: string, indented: boolean): Promise<(record: unknown) => string> {
  const { loadJq } = await import('jq-wasm');
  const jq = await loadJq();
  const valuesOf = (input: string): string[] => {
    const { stdout, stderr, exitCode } = interruptible(() => jq.raw(input, expression, ['-c', '--']));
    if (exitCode !== 0) throw refused(stderr);
    return stdout.split('\n').filter(Boolean);
  };
  // Without input it is read, but not run.
  valuesOf('');
  return (record) =>
    valuesOf(JSON.stringify(record))
      .map((value) => `${shown(value, indented)}\n`)
      .join('');
}

/** A value that is not a text stays as jq wrote it: its numbers may be larger than ours. */
function shown(value: string, indented: boolean): string {
  if (value.startsWith('"')) return JSON.parse(value) as string;
  return indented && /^[[{]/.test(value) ? JSON.stringify(JSON.parse(value), null, 2) : value;
}

/** An expression may never end, and no handler of ours runs meanwhile: signals end the process as the system does it. */
function interruptible<T>(work: () => T): T {
  const kept = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((signal) => ({
    signal,
    listeners: process.listeners(signal),
  }));
  for (const { signal } of kept) process.removeAllListeners(signal);
  try {
    return work();
  } finally {
    for (const { signal, listeners } of kept) for (const listener of listeners) process.on(signal, listener);
  }
}

/** In jq's own words, of which those are left out that tell where it read. */
function refused(stderr: string): Failure {
  const words = `--jq: ${stderr.replaceAll(/^jq: (?:error(?: \(at [^)]*\))?: )?/gm, '').trim()}`;
  if (!isDone()) return usage(words, 'To see what there is, leave --jq out and say --json');
  return new Failure('output_lost', `${words}\nWhat the command did stands.`, {
    hint: 'Look at what is there before you run it again',
  });
}
