/** Writes schemas/cli: what each command prints with `--json`, as JSON Schema. */
import { z } from 'zod';
import { records } from './shapes/base.ts';
import { failureShape, shapes } from './shapes/index.ts';

type Json = Record<string, unknown>;

/** All schemas by file name: one for each command, and one for every failure. */
export function jsonSchemas(): Record<string, string> {
  const named = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(records)) named.add(schema, { id });
  const file = (title: string, schema: z.ZodType): string => {
    const { $schema, ...rest } = z.toJSONSchema(schema, {
      io: 'output',
      unrepresentable: 'any',
      target: 'draft-2020-12',
      metadata: named,
    }) as Json;
    return `${JSON.stringify({ $schema, title, ...(growing(rest) as Json) }, null, 1)}\n`;
  };
  return Object.fromEntries([
    ['error.json', file('service … --json, failed', failureShape)],
    ...Object.entries(shapes).map(([id, schema]) => [
      `${id.replaceAll(':', '-')}.json`,
      file(`service ${id.replaceAll(':', ' ')} --json`, schema),
    ]),
  ]);
}

/** Fields are added over time, and readers ignore those they do not know. */
function growing(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(growing);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([name, part]) => name !== 'additionalProperties' || part !== false);
  return Object.fromEntries(entries.map(([name, part]) => [name, growing(part)]));
}
