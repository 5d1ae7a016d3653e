/** The schemas in `schemas/cli`, loaded into a standard validator. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { root } from './root.ts';

/** All schemas, compiled when they are first used; each is known by its `$id`, such as `board-post.json`. */
export function publishedSchemas(): Ajv2020 {
  const folder = join(root, 'schemas', 'cli');
  // Each definition is compiled once, not in every place that refers to it: most schemas are used for one record.
  const cheaply = { inlineRefs: false, code: { optimize: false } };
  const schemas = new Ajv2020({ strict: true, allowUnionTypes: true, ...cheaply });
  for (const name of readdirSync(folder)) schemas.addSchema(JSON.parse(readFileSync(join(folder, name), 'utf8')));
  return schemas;
}
