/**
 * Writes schemas/cli: what each command prints with `--json`, as JSON Schema. A file for each command refers to the records
 * in `definitions.json`, relative to itself, so a validator resolves them from a folder or by their `$id`.
 */
import { z } from 'zod';
import { base, records } from '../src/cli/shapes.ts';
import { simpler } from '../src/contract/openapi/openapi-schemas.ts';
import { failureShape } from './shapes.ts';

type Json = Record<string, unknown>;

const WIDTH = 120;
const DEFINITIONS = 'definitions.json';

/**
 * All schemas by file name: the shared definitions, one for each command, and one for every failure.
 *
 * @param shapes of the commands, by their ids
 */
export function jsonSchemas(shapes: Record<string, z.ZodType>): Record<string, string> {
  const definitions: Json = {};
  /** The schema as it stands in a file; the records it refers to become definitions. */
  const schemaOf = (schema: z.ZodType): Json => {
    const { $defs, properties } = z.toJSONSchema(z.object({ schema }), {
      io: 'output',
      unrepresentable: 'any',
      metadata: records,
      override: simplified,
    });
    Object.assign(definitions, $defs);
    return properties!['schema'] as Json;
  };
  const file = (name: string, title: string, schema: Json): [string, string] => {
    const $schema = 'https://json-schema.org/draft/2020-12/schema';
    return [name, `${print({ $schema, $id: name, title, ...schema })}\n`];
  };
  const commandFile = (name: string, title: string, schema: z.ZodType): [string, string] =>
    file(name, title, withPrefix(DEFINITIONS, schemaOf(schema)) as Json);

  const commands = Object.entries(shapes).map(([id, shape]) =>
    commandFile(`${id.replaceAll(':', '-')}.json`, `service ${id.replaceAll(':', ' ')} --json`, shape),
  );
  commands.push(commandFile('error.json', 'service … --json, failed', failureShape));
  schemaOf(base);
  const sorted = Object.fromEntries(Object.entries(definitions).sort(([a], [b]) => (a < b ? -1 : 1)));
  return Object.fromEntries([...commands, file(DEFINITIONS, 'Records in the JSON of commands', { $defs: sorted })]);
}

/** Refers to the fields that every object may have, in place of listing them; readers ignore fields they do not know. */
function simplified(context: { zodSchema: z.core.$ZodTypes; jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  const { zodSchema, jsonSchema } = context;
  simpler('output')({ jsonSchema });
  const { def } = zodSchema._zod;
  if (zodSchema === base || def.type !== 'object' || def.shape['warnings'] !== base.shape['warnings']) return;
  for (const [name, field] of Object.entries(base.shape))
    if (def.shape[name] === field) delete jsonSchema.properties![name];
  jsonSchema.allOf = [{ $ref: '#/$defs/Base' }];
}

/** The same schema with its references leading into another file. */
function withPrefix(file: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => withPrefix(file, item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [
      key,
      key === '$ref' && typeof part === 'string' ? `${file}${part}` : withPrefix(file, part),
    ]),
  );
}

/** Readable JSON: values that fit are on one line. */
function print(value: unknown, indent = '', before = 0): string {
  const flat = onOneLine(value);
  if (typeof value !== 'object' || value === null) return flat;
  if (indent !== '' && indent.length + before + flat.length < WIDTH) return flat;
  const inner = `${indent} `;
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return wrapped(value, indent);
  const items = Array.isArray(value)
    ? value.map((item) => print(item, inner))
    : Object.entries(value).map(([key, part]) => `"${key}": ${print(part, inner, key.length + 4)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${inner}${items.join(`,\n${inner}`)}\n${indent}${close}`;
}

/** A list of names, wrapped. */
function wrapped(names: string[], indent: string): string {
  const lines = [''];
  for (const name of names.map((name) => JSON.stringify(name))) {
    const line = `${lines.at(-1)}${lines.at(-1) && ', '}${name}`;
    if (indent.length + line.length < WIDTH - 1) lines[lines.length - 1] = line;
    else lines.push(name);
  }
  return `[\n${indent} ${lines.join(`,\n${indent} `)}\n${indent}]`;
}

function onOneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const parts = Object.entries(value).map(([key, part]) => `"${key}": ${onOneLine(part)}`);
  return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`;
}
