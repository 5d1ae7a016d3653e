/** The schemas of the contract as named components of the API description. */
import { z } from 'zod';
import type { Shapes } from '../operation.ts';
import { nouns, operations } from '../operations.ts';
import * as common from '../schemas.ts';

export type Json = Record<string, unknown>;
/** Requests and answers: their schemas differ where a field has a default or another form on the wire. */
type Direction = 'input' | 'output';

const pointer = (id: string): string => `#/components/schemas/${id}`;

/** The schemas that the nouns export, each under its name with an initial capital. */
export function namedSchemas() {
  const names = z.registry<{ id: string }>();
  for (const noun of [common, ...Object.values(nouns)])
    for (const [name, value] of Object.entries(noun))
      if (value instanceof z.ZodType && !names.has(value))
        names.add(value, { id: name[0]!.toUpperCase() + name.slice(1) });
  return names;
}

/**
 * JSON Schemas in which every schema that a noun exports is a reference to the component of its name; one that is not the
 * same in both directions has a second component, whose name ends in `Input` or, of a body, in `Body`.
 */
export class ApiSchemas {
  readonly #ids = namedSchemas();
  readonly #made: Record<Direction, Record<string, Json>>;
  readonly #used = new Map<string, Json>();

  constructor() {
    // Those without a name are made in the same pass, and copied into their operation.
    let count = 0;
    for (const { params, query, body, answer } of Object.values(operations) as Shapes[])
      for (const part of [body, answer, ...fieldsOf(params), ...fieldsOf(query)])
        if (part && !this.#ids.has(part)) this.#ids.add(part, { id: `unnamed.${count++}` });
    this.#made = { input: this.#all('input'), output: this.#all('output') };
  }

  /** A schema of an operation. @throws Error if it belongs to no operation */
  of(schema: z.ZodType, direction: Direction): Json {
    const id = this.#ids.get(schema)?.id;
    if (id === undefined) throw new Error('This schema belongs to no operation and no noun');
    return this.#resolve({ $ref: pointer(id) }, direction);
  }

  /** The components that were referred to so far, in the order of their names. */
  components(): Json {
    return Object.fromEntries([...this.#used].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #all(io: Direction): Record<string, Json> {
    const { schemas } = z.toJSONSchema(this.#ids, { io, unrepresentable: 'any', uri: pointer, override: simpler(io) });
    return schemas as Record<string, Json>;
  }

  /** Follows references: a named schema becomes a component, any other takes the reference's place. */
  #resolve(node: unknown, direction: Direction): Json;
  #resolve(node: unknown, direction: Direction): unknown {
    if (Array.isArray(node)) return node.map((item) => this.#resolve(item, direction));
    if (typeof node !== 'object' || node === null) return node;
    const { $ref, $id: _, $schema: __, ...rest } = node as Json;
    const own = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, this.#resolve(value, direction)]));
    if (typeof $ref !== 'string') return own;
    const id = $ref.slice(pointer('').length);
    if (id.startsWith('unnamed.')) return { ...this.#resolve(this.#made[direction][id], direction), ...own };
    return { $ref: pointer(this.#component(id, direction)), ...own };
  }

  #component(id: string, direction: Direction): string {
    const { input, output } = this.#made;
    const name = direction === 'output' || id.endsWith('Body') || this.#same(id) ? id : `${id}Input`;
    if (!this.#used.has(name)) {
      this.#used.set(name, {});
      this.#used.set(name, this.#resolve((direction === 'input' ? input : output)[id], direction));
    }
    return name;
  }

  /** Whether a schema, and all that it refers to, is the same in both directions. */
  #same(id: string, on: readonly string[] = []): boolean {
    const text = JSON.stringify(this.#made.input[id]);
    if (text !== JSON.stringify(this.#made.output[id])) return false;
    const within = [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, other]) => other!);
    return within.every((other) => other === id || on.includes(other) || this.#same(other, [...on, id]));
  }
}

const fieldsOf = (object: z.ZodObject | undefined): z.ZodType[] =>
  Object.values((object?.shape ?? {}) as Record<string, z.ZodType>);

/** Drops redundant keywords: the bounds of safe integers, and `additionalProperties: false` in answers, which may gain fields. */
export const simpler =
  (io: Direction) =>
  ({ jsonSchema }: { jsonSchema: Json }): void => {
    // Numbers and booleans in a query are text on the wire, but typed for the client that builds it.
    if (jsonSchema['type'] === 'integer') delete jsonSchema['pattern'];
    if (jsonSchema['type'] === 'boolean') delete jsonSchema['enum'];
    if (jsonSchema['minimum'] === Number.MIN_SAFE_INTEGER) delete jsonSchema['minimum'];
    if (jsonSchema['maximum'] === Number.MAX_SAFE_INTEGER) delete jsonSchema['maximum'];
    if (io === 'output' && jsonSchema['additionalProperties'] === false) delete jsonSchema['additionalProperties'];
  };
